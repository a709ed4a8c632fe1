==== check
set -e
# the hand calculation with "the" and " cat" exchanged: the head that notices, and the probability of the full stop
cat > $BUILD/ex.lua <<"L"
local corner, place = { { 1, -1 }, { 1, 1 }, { -1, 1 } }, { { 1, 1 }, { 1, -1 }, { -1, -1 } }
local x, o = { -1, 1, -1, -1 }, {}
for h, q in ipairs { { .8, .4 }, { .4, -.8 } } do
  local w, sum, a, b = {}, 0, 0, 0
  for t = 1, 3 do local k = h == 1 and corner[t] or place[t]; w[t] = math.exp((q[1] * k[1] + q[2] * k[2]) / math.sqrt(2)); sum = sum + w[t] end
  for t = 1, 3 do a, b = a + w[t] / sum * corner[t][1], b + w[t] / sum * corner[t][2] end
  o[2 * h - 1], o[2 * h] = a, b
end
local function norm(v) local s = 0; for i = 1, 4 do s = s + v[i] ^ 2 / 4 end; local n = {}; for i = 1, 4 do n[i] = v[i] / math.sqrt(s) end; return n end
for i, f in ipairs { 1, .5, -1, .5 } do x[i] = x[i] + f * o[i] end
local n = norm(x); local g = .5 * n[1] - n[3]; local inner = g / (1 + math.exp(-g)) * n[3]
x[1], x[3] = x[1] + inner, x[3] - inner; n = norm(x)
local sum, z = 0, { -n[3], -n[2] - n[4], n[4], n[3] - n[1] }
for v = 1, 4 do sum = sum + math.exp(z[v]) end
for l in io.lines(arg[1]) do local h, p = l:match("^%s*(%u)%s+([%d.]+)"); if h == "B" and math.abs(p - math.exp(z[4]) / sum) < .008 then os.exit(0) end end
os.exit(1)
L
texlua $BUILD/ex.lua "$1"
==== answer
B 0.67
==== wrong
A 0.55
==== skeleton
# the head that notices, A or B, and the probability
