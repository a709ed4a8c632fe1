# events: allocate N, free N, allocate N refused; requested, allocated, live and peak follow
function ok(name, want) { if ($(column) != want) { print "line " FNR ": " name " " $(column) ", computed " want; wrong = 1 } column++ }
FNR == 1 { FS = " *& *" }
/^(allocate|free) [0-9]/ {
  $0 = $0; split($1, e, /[ ,]+/); n = e[2]; taken = e[1] == "allocate"; refused = $1 ~ /refused/
  if (taken) { asked += n; if (!refused) { given += n; held += n } } else held -= n
  if (held > peak) peak = held
  column = 2; ok("requested", asked); ok("allocated", given); ok("live", held); ok("peak", peak); rows++
}
END { if (rows < 6) wrong = 1; exit wrong }
