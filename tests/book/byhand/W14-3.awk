# rows: who forgets reads the prompt, who keeps reads what is new and one mark; both write an answer
function ok(name, found, want) { if (found != want) { print "line " FNR ": " name " " found ", computed " want; wrong = 1 } }
/^Let each question/ { match($0, /have [0-9]+ ids/); q = substr($0, RSTART + 5) + 0; match($0, /answer [0-9]+,/); a = substr($0, RSTART + 7) + 0 }
/&/ && /^[0-9]/ {
  split($0, f, / *& */); rows++; ok("turn", f[1] + 0, rows)
  want = rows == 1 ? q : prompt "+" a "+" q "=" (prompt + a + q)
  prompt = rows == 1 ? q : prompt + a + q
  new = rows == 1 ? q : q + 1
  ok("prompt", f[2], want); ok("forgotten", f[3], prompt "+" (a - 1) "=" (prompt + a - 1)); ok("kept", f[4], new "+" (a - 1) "=" (new + a - 1))
  forgotten += prompt + a - 1; kept += new + a - 1
}
/^together/ { split($0, f, / *& */); ok("sum", f[3] + 0, forgotten); ok("sum", f[4] + 0, kept); seen++ }
/^The tenth/ {
  t = $0; gsub(/\\cdot/, "*", t); gsub(/[^0-9+=*]+/, " ", t); split(t, v, " ")
  # 16, 58+6*16+5=159
  ok("kept", v[1], q + a); ok("forgotten", v[2], prompt "+6*" (q + a) "+" (a - 1) "=" (prompt + 6 * (q + a) + a - 1)); seen++
}
END { if (rows != 4 || seen != 2) { print "rows " rows ", seen " seen; wrong = 1 } exit wrong }
