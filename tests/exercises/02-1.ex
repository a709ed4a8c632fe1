==== check
set -e
# three digits: each addition rounded; from the left, from the right, in two lanes
sh tests/numbers.sh 3 "$1" || exit 1
cat > $BUILD/ex.lua <<"L"
local function r(v) local p = 2 - math.floor(math.log(v, 10) + 1e-12); return math.floor(v * 10 ^ p + .5) / 10 ^ p end
local t = { 1, .004, .004, .004, .004 }
local left, right, lane = t[1], t[5], { t[1], t[2] }
for i = 2, 5 do left = r(left + t[i]) end
for i = 4, 1, -1 do right = r(right + t[i]) end
for i = 3, 5 do local k = 2 - i % 2; lane[k] = r(lane[k] + t[i]) end
local want, given = { left, right, r(lane[1] + lane[2]) }, {}
for l in io.lines(arg[1]) do if not l:match("^#") then for n in l:gmatch("[%d.]+") do given[#given + 1] = tonumber(n) end end end
for i = 1, 3 do if not given[i] or math.abs(given[i] - want[i]) > 1e-9 then os.exit(1) end end
L
texlua $BUILD/ex.lua "$1"
==== answer
1.00 1.02 1.01
==== wrong
1.00 1.02 1.02
==== skeleton
# from the left, from the right, in two lanes
