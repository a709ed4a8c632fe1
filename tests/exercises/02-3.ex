==== check
set -e
# a file with two formulas in Lua: the number of orders of n tokens, and the sum over all texts
cat > $BUILD/ex.lua <<"L"
local function count(n) if n == 0 then return 1 end; local c = 0; for i = 1, n do c = c + count(n - 1) end; return c end
local f = assert(loadfile(arg[1]))
local orders, sum = f()
assert(orders and sum == 1)
for n = 1, 7 do assert(orders(n) == count(n)) end
-- any order gives the same joint probability: a random table of two tokens from three words, both ways round
math.randomseed(1)
local p, all = {}, 0
for a = 1, 3 do p[a] = {}; for b = 1, 3 do p[a][b] = math.random(); all = all + p[a][b] end end
local total = 0
for a = 1, 3 do for b = 1, 3 do
  local column = 0; for c = 1, 3 do column = column + p[c][b] / all end
  total = total + column * (p[a][b] / all / column) end end
assert(math.abs(total - sum) < 1e-12)
L
texlua $BUILD/ex.lua "$1"
==== answer
return function(n) local f = 1; for i = 2, n do f = f * i end; return f end, 1
==== wrong
return function(n) return 2 ^ n end, 1
==== skeleton
return nil, nil -- a function of n: how many orders; and the sum
