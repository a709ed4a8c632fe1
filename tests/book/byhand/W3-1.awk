# wheels and how they are slowed: turns, then the speeds and shares of three ways, each number from those before it
function near(name, printed, computed) { computed = int(computed * 100 + .5 + 1e-7) / 100
  if (printed == "" || printed - computed > 1e-6 || computed - printed > 1e-6) { print name " " printed ", computed " computed; wrong = 1 } }
function same(name, printed, computed) { if (printed + 0 != computed + 0) { print name " " printed ", computed " computed; wrong = 1 } }
function behind(what,    s) { if (!index(all, what)) { print "no " what; wrong = 1; return 0 } s = substr(all, index(all, what) + length(what)); return s + 0 }
{ all = all $0 " " }
/^[0-9] & / { n++; split($0, f, / *& */); for (i = 1; i <= 7; i++) m[n, i] = f[i] }
END {
  heads = behind("A head of "); wheels = behind("numbers has "); same("wheels", wheels, heads / 2); same("rows", n, wheels)
  first = behind("the first made "); k = behind("to 1/"); near("linear", behind("1/5="), 1 / k); same("k", k, 5)
  same("left", behind("(1-s)\\cdot"), 1 / k)
  low = behind("from 0 at "); high = behind("to 1 at "); s = behind(": for wheel "); same("the wheel", s, 1)
  for (i = 1; i <= n; i++) {
    turns = first / 10 ^ (i - 1); same("wheel", m[i, 1], i - 1); same("turns", m[i, 2], turns); near("linear", m[i, 3], 1 / k)
    t = (turns - low) / (high - low); t = t < 0 ? 0 : t > 1 ? 1 : t; near("share", m[i, 4], t); near("speed", m[i, 5], m[i, 4] + (1 - m[i, 4]) / k)
  }
  near("0.33", behind("(2-1)/(4-1)="), (m[2, 2] - low) / (high - low))
  same("4 turns", behind("exactly "), high)
  five = behind("20/4="); same("five", five, first / high); p = behind("to the power "); near("power", p, log(five) / log(10)); same("at", behind("so its number is "), p)
  down = behind("rounded down "); same("down", down, int(p)); one = behind("turn has the number "); near("one", one, log(first / low) / log(10)); up = behind("rounded up "); same("up", up, int(one) + 1)
  same("from", behind("half-way from "), down); same("to", behind("half-way from 0 to "), up)
  for (i = 1; i <= n; i++) { t = (i - 1 - down) / (up - down); t = t > 1 ? 1 : t; near("share", m[i, 6], 1 - t); near("speed", m[i, 7], m[i, 6] + (1 - m[i, 6]) / k) }
  same("half", behind("its share is 1-"), 1 - m[2, 6]); near("half", behind("1-0.50="), m[2, 6])
  same("ln", behind("\\ln"), k); a = behind(")^2="); near("a", a, 1 + behind("score by (1+") * log(k)); same("tenth", behind("score by (1+"), 0.1)
  s = all; sub(/.*\)\^2=[0-9.]*\^2=/, "", s); near("squared", s + 0, a * a)
  exit wrong }
