# events: take N, return N, take N refused; asked, given, held and peak follow
function ok(name, want) { if ($(column) != want) { print "line " FNR ": " name " " $(column) ", computed " want; wrong = 1 } column++ }
FNR == 1 { FS = " *& *" }
/asks for/ || /asks/ || /is refused/ { text = text " " $0 }
/^(take|return)/ {
  $0 = $0; split($1, e, /[ ,]+/); n = e[2]; taken = e[1] == "take"; refused = $1 ~ /refused/
  if (taken) { asked += n; if (!refused) { given += n; held += n } } else { held -= n; back = n }
  if (held > peak) peak = held
  if (refused) no = n
  column = 2; ok("asked", asked); ok("given", given); ok("held", held); ok("peak", peak); rows++
  all = all (taken ? (refused ? "" : "t" n " ") : "r" n " ")
}
END { if (rows < 6) wrong = 1; exit wrong }
