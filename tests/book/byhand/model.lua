-- Chapter 2's hand calculation: each number of the box recomputed, to its last printed digit, from the numbers printed before it;
-- and the same numbers once more in what the chapter's program printed.
local text = assert(io.open("chapters/02-model.w")):read("a")
local box = assert(text:match("\\begin{byhand}{four tokens, two heads, one layer}(.-)\\end{byhand}"))
  .. assert(text:match("\\begin{byhand}{from the last row to the next token}(.-)\\end{byhand}"))
local faults = 0
local function digits(v) local s = string.format("%.2f", v + (v >= 0 and 1e-9 or -1e-9)); return s == "-0.00" and "0.00" or s end
local function same(what, printed, computed)
  if not printed or not computed then error(what .. ": not found") end
  if math.abs(printed - tonumber(digits(computed))) > 1e-9 then
    faults = faults + 1; print(string.format("%s: %s is printed, %s comes out", what, printed, digits(computed))) end
end
local function numbers(s) local t = {}; for n in s:gsub("\\tok{[^}]*}", " "):gmatch("%-?%d+%.?%d*") do t[#t + 1] = tonumber(n) end; return t end
local function after(pattern) local s = assert(box:match(pattern), pattern); return numbers(s) end
-- the givens
local x = after("last row is $x=(%b())%$")
local factor = after("times ($%-0.8%$.-) that is")
local q = {}
for i = 1, 4 do q[i] = x[i] * factor[i] end
local qa, qb = after("(%([^)]*%))%$ for A"), after("(%([^)]*%))%$ for B")
for i = 1, 2 do same("query A", qa[i], q[i]); same("query B", qb[i], q[i + 2]) end
local scale = after("=(0%.71)%$")[1]
same("scale", scale, 1 / math.sqrt(2))
local token = { after("tok{the} is $(%b())"), after("cat} $(%b())"), after("sat} $(%b())") }
local places = box:match("positions%s+0, 1 and 2 are (.-)%. %u")
local position = {}
for p in places:gmatch("%b()") do position[#position + 1] = numbers(p) end
same("mean square", 1, (x[1] ^ 2 + x[2] ^ 2 + x[3] ^ 2 + x[4] ^ 2) / 4)
for i = 1, 2 do same("row", x[i], token[3][i]); same("row", x[i + 2], position[3][i]) end
-- the table of the two heads
local weight, total = { A = {}, B = {} }, after("exponentials sum to ([%d.]+)")[1]
for _, h in ipairs { "A", "B" } do
  local query, rows, best = h == "A" and qa or qb, {}, -9
  for line in box:gmatch("\n" .. h .. " & ([^\n]*)") do rows[#rows + 1] = numbers(line) end
  for t, r in ipairs(rows) do
    local k = h == "A" and token[t] or position[t]
    same("q.k", r[1], query[1] * k[1] + query[2] * k[2])
    same("score", r[2], r[1] * scale)
    best = math.max(best, r[2])
  end
  local sum = 0
  for _, r in ipairs(rows) do same("less max", r[3], r[2] - best); same("exp", r[4], math.exp(r[3])); sum = sum + r[4] end
  same("sum", total, sum)
  for t, r in ipairs(rows) do same("weight", r[5], r[4] / total); weight[h][t] = r[5] end
end
-- the vectors
local vector = {}
for name, line in box:gmatch("\\tabhead{([^}]*)} & ([^\n]*)") do vector[name] = vector[name] or {}; table.insert(vector[name], numbers(line)) end
local mixed, added = vector["values, mixed"][1], vector["multiplied"][1]
local h, g = vector["$h$, with $x$ added"][1], vector["$h$, after the MLP"][1]
local n, m = vector["$n$, normed"][1], vector["$n$, normed"][2]
for i = 1, 2 do
  local a, b = 0, 0
  for t = 1, 3 do a, b = a + weight.A[t] * token[t][i], b + weight.B[t] * token[t][i] end
  same("mixed A", mixed[i], a); same("mixed B", mixed[i + 2], b)
end
local join = after("weights, multiplied by (.-), and added")
for i = 1, 4 do same("multiplied", added[i], mixed[i] * join[i]); same("h", h[i], x[i] + added[i]) end
local function norm(name, row, normed)
  local square, root = box:match(name .. " norm: mean square ([%d.]+), root ([%d.]+)")
  same(name .. " mean square", tonumber(square), (row[1] ^ 2 + row[2] ^ 2 + row[3] ^ 2 + row[4] ^ 2) / 4)
  same(name .. " root", tonumber((root:gsub("%.$", ""))), math.sqrt(square))
  for i = 1, 4 do same(name .. " normed", normed[i], row[i] / (root:gsub("%.$", ""))) end
end
-- the MLP
norm("first", h, n)
local half, gate, other = after("gate is $([%d.]+)n_1")[1], after("n_3=([%d.]+)%$")[1], after("is $n_3=(%-[%d.]+)%$")[1]
same("gate", gate, half * n[1] - n[3]); same("other", other, n[3])
local e = after("e^{%-[%d.]+}=([%d.]+)")[1]
same("exp of the gate", e, math.exp(-gate))
local top, under, through = box:match("$([%d.]+)/([%d.]+)=([%d.]+)%$ through")
same("gate again", tonumber(top), gate); same("1 + exp", tonumber(under), 1 + e); same("through", tonumber(through), top / under)
local inner = after("is $(%-[%d.]+)%$%. It is added")[1]
same("inner", inner, through * other)
for i, sign in ipairs { 1, 0, -1, 0 } do same("h", g[i], h[i] + sign * inner) end
norm("second", g, m)
-- the head
local function line(name) return numbers(assert(box:match(".*tabhead{" .. name .. "} & ([^\n]*)"), name)) end
local logit, less, shrunk, p = line("logit"), line("less max"), line("exp"), line("probability")
local ask = { -m[3], -m[2] - m[4], m[4], m[3] - m[1] }
local sum, best = 0, math.max(table.unpack(logit))
for i = 1, 4 do same("logit", logit[i], ask[i]); same("less max", less[i], logit[i] - best); same("exp", shrunk[i], math.exp(less[i])); sum = sum + shrunk[i] end
local all = after("sum of the exponentials is ([%d.]+)")[1]
same("sum", all, sum)
for i = 1, 4 do same("probability", p[i], shrunk[i] / all) end
-- the box of the three digits
local three = assert(text:match("\\begin{byhand}{three digits, four terms}(.-)\\end{byhand}"))
local function rounded(v) local places = 2 - math.floor(math.log(v, 10)); return math.floor(v * 10 ^ places + .5) / 10 ^ places end
for a, b, c, r in three:gmatch("$([%d.]+)%+([%d.]+)=([%d.]+)%$[^$]-rounded $([%d.]+)%$") do
  if math.abs(a + b - c) > 1e-9 or rounded(a + b) ~= tonumber(r) then faults = faults + 1; print(a .. "+" .. b) end end
local x1, y1, z1 = three:match("$([%d.]+)%+([%d.]+)$ gives $([%d.]+)%$")
local x2, y2, z2 = three:match("$([%d.]+)%+([%d.]+)=([%d.]+)$; together")
local total3, final = three:match("together $([%d.]+)%$, rounded $([%d.]+)%$")
if rounded(x1 + y1) ~= tonumber(z1) or rounded(x2 + y2) ~= tonumber(z2) or math.abs(z1 + z2 - total3) > 1e-9 or rounded(total3 + 0) ~= tonumber(final) then
  faults = faults + 1; print("the pairs") end
local left, truth = three:match("adds $(.-)%$ from the left"), three:match("true sum is $([%d.]+)%$")
local exact = 0
for n in left:gmatch("[%d.]+") do exact = exact + n end
if math.abs(exact - truth) > 1e-9 then faults = faults + 1; print("the true sum") end
-- what the program printed
local out = io.open("build/out/model.txt")
if out then
  local lines, of = {}, {}
  for l in out:lines() do
    local name = l:sub(1, 24):gsub("^%s+", ""):gsub("%s+$", ""):gsub("^head %u%s+", "")
    of[name] = of[name] or {}; table.insert(of[name], numbers(l:sub(25)))
  end
  local function equal(what, t, printed) for i, v in ipairs(printed) do
    if not t or math.abs(t[i] - v) > 1e-9 then faults = faults + 1; print(what .. ": the program prints " .. tostring(t and t[i]) .. ", the box " .. v) end end end
  equal("row", of["row of sat"][1], x); equal("query", of["its query"][1], q)
  equal("weights A", of["weights"][1], weight.A); equal("weights B", of["weights"][2], weight.B)
  equal("mixed", of["mixed values"][1], mixed); equal("added", of["added by attention"][1], added)
  equal("h", of["the row"][1], h); equal("normed", of["normed"][1], n); equal("gate, up, inner", of["gate, up, inner"][1], { gate, other, inner })
  equal("row", of["the row"][2], g); equal("logits", of["logits"][1], logit); equal("probabilities", of["the cat sat"][1], p)
end
print(faults .. " faults"); os.exit(faults == 0)
