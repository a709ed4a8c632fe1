# a token of 1.1e9 weights on two memories: milliseconds for the bytes and for the products, and the quotients below the table
function bad(s) { print "line " FNR ": " s; wrong = 1 }
function near(a, b) { if (a - b > 0.01 * b || b - a > 0.01 * b) bad("there: " a "   wanted: " b) }
/^A model of/ { match($0, /of [0-9.]+/); w = substr($0, RSTART + 3, RLENGTH - 3) * 1e9; match($0, /is [0-9.]+ GB/); near(substr($0, RSTART + 3), w * 2 / 1e9) }
/&/ && /GB\/s/ {
  split($0, cell, "&"); lines++
  split(cell[4], p, /[{}]/)
  speed[lines] = cell[2] * 1e9; products = 10 ^ p[2]; took[lines] = w * 2 / speed[lines] * 1000
  near(cell[3] + 0, took[lines]); near(cell[5] + 0, w / products * 1000)
}
/^On both/ {
  match($0, /[0-9]+\/[0-9]+=[0-9]+\./); split(substr($0, RSTART, RLENGTH), q, /[\/=]/)
  near(q[1] / q[2], speed[2] / speed[1]); near(q[3] + 0, q[1] / q[2])
  match($0, /each of [0-9]+/); n = substr($0, RSTART + 8); match($0, /for [0-9]+/); us = substr($0, RSTART + 4) + 0
  match($0, /another [0-9.]+/); ms = substr($0, RSTART + 8) + 0; near(ms, n * us / 1000)
  match($0, /is [0-9.]+\/[0-9.]+=[0-9]+/); split(substr($0, RSTART + 3, RLENGTH - 3), q, /[\/=]/)
  near(q[1] + 0, took[1]); near(q[2] + 0, took[2] + ms); near(q[3] + 0, q[1] / q[2]); seen++
}
END { exit wrong || lines != 2 || seen != 1 }
