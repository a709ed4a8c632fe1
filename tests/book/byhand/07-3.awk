# a race of four: waiting times, the same as Gumbel sums, and who wins when some are struck out
{ text = text " " $0; gsub(/\\ln */, "ln ") }
/^w *&/ { split($0, w, / *& */) }
/^u *&/ { split($0, u, / *& */) }
/&/ && !/tabular/ && !/^(w|u) *&/ && !/^ *&/ {
  split($0, at, / *& */); line++
  for (i = 2; i <= 5; i++) {
    wait[i] = -log(u[i]) / w[i]; sum[i] = log(w[i]) - log(-log(u[i]))
    x = line == 1 ? -log(u[i]) : line == 2 ? wait[i] : line == 3 ? log(w[i]) : line == 4 ? -log(-log(u[i])) : sum[i]
    if (at[i] != three(x)) bad("line " line ", " name(i) ": " at[i] ", computed " three(x))
  }
}
END {
  if (!index(text, "be 4, 3, 2 and 1") || !index(text, "0.5, 0.8, 0.1 and 0.9")) bad("given")
  for (i = 2; i <= 5; i++) if (w[i] != 6 - i) bad("weight " w[i])
  split("0 0.5 0.8 0.1 0.9", g, " "); for (i = 2; i <= 5; i++) if (u[i] != g[i]) bad("number " u[i])
  best = winner(0, 0); if (best != 3 || !index(text, "The token " name(best) " has the shortest time and the greatest sum")) bad("the winner is " name(best))
  if (winner(2, 0) != 3 || winner(4, 0) != 3) bad("another wins when on or by is struck out")
  if (!index(text, "itself: " name(winner(3, 0)) " wins")) bad("then " name(winner(3, 0)) " wins")
  exit wrong || line != 5
}
function winner(out, m,  i) { for (i = 2; i <= 5; i++) if (i != out && (m == 0 || wait[i] < wait[m])) m = i; return m }
function name(i) { return i == 2 ? "on" : i == 3 ? "in" : i == 4 ? "by" : "to" }
function three(x,  s) { s = sprintf("%.3f", x); return s == "0.000" || s == "-0.000" ? "0" : s }
function bad(s) { print s; wrong = 1 }
