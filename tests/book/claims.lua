-- claims.lua -- the ledger beside the webs: every section that a row names is a label of some web; a box in a chapter has the verdict of
-- its rows; and every key claim.ID that a program prints belongs to a row. And orders.tsv: what a sentence says about measured numbers,
-- that one is larger than another, is still so when they have been measured again.
local function slurp(f) local h = io.open(f, "rb"); if not h then return "" end; local s = h:read("a"); h:close(); return s end
local bad = 0
local function complain(...) bad = bad + 1; print(...) end
package.path = "tools/?.lua;" .. package.path
local text, there = {}, {}
for _, row in ipairs(require "book") do text[#text + 1], there[row.shown] = slurp(row.web), true end
text = table.concat(text)
-- a place has the number in incipit verify that the book prints
local printed, number = slurp("build/labels.tex"), {}
for l in io.popen("awk -f tools/sections.awk book.list"):lines() do
  local label, n, title = l:match("^([^\t]+)\t([^\t]+)\t([^\t\\{}|$]+)$")
  if not label then complain("sections.awk: no label, number and title: " .. l) else number[label] = n end
end
for label, n in printed:gmatch("\\outsidelabel{([^}]*)}{cwsec}{([^}]*)}") do
  if not label:find("^eq:") and number[label] ~= n then complain(label .. ": section " .. n .. "; sections.awk says " .. tostring(number[label])) end
end
local badge = { holds = "holds", ["holds-with-rounding"] = "rounded", ["off-by-one"] = "offbyone", misleading = "misleading",
  ambiguous = "ambiguous", wrong = "wrong", ["not-testable-here"] = "untested", ["to-come"] = "tocome" }
local rows, n, to_come = {}, 0, 0
for l in io.lines("ledger/claims.tsv") do
  local f = {}
  for x in (l .. "\t"):gmatch("(.-)\t") do f[#f + 1] = x end
  if f[1] ~= "id" then
    n, rows[f[1]] = n + 1, f
    if f[3] ~= "" and not text:find("\\label{" .. f[3] .. "}", 1, true) then complain(f[1] .. ": no web has the label " .. f[3]) end
    if f[3] ~= "" and not number[f[3]] then complain(f[1] .. ": " .. f[3] .. " has no number") end
    if f[6] ~= "to-come" and not there[f[2]] then complain(f[1] .. ": book.list has no chapter " .. f[2]) end
    if f[6] == "to-come" then
      to_come = to_come + 1
      if there[f[2]] then complain(f[1] .. ": chapter " .. f[2] .. " is there and has to run it") end
    end
  end
end
if n < 341 then complain(n .. " rows; wanted: the 341 that the plan of the book names, at least") end
for ids in text:gmatch("\\begin{claimed}{([^}]*)}") do
  for id in ids:gmatch("S%d%-%d+") do if not rows[id] then complain(id .. ": in a box, but no row") end end
end
for verdict, ids in text:gmatch("\\begin{tutorial}{(%w+)}{([^}]*)}") do
  for id in ids:gmatch("S%d%-%d+") do
    if not rows[id] then complain(id .. ": in a box, but no row")
    elseif badge[rows[id][6]] ~= verdict then complain(id .. ": the box says " .. verdict .. ", the ledger " .. rows[id][6]) end
  end
end
-- what the text quotes beside the number of a row are words of its sentence; the first letter may be a capital there
local quoted = 0
for words, ids in text:gmatch("``([^`]-)''%s*%((S[^)]*)%)") do
  local plain = words:gsub("\\given{([^}]*)}", "%1"):gsub("\\,", ""):gsub("%s+", " ")
  local found = false
  for id in ids:gmatch("S%d%-%d+") do
    local quote = rows[id] and rows[id][10] or ""
    found = found or quote:find(plain, 1, true) or (quote:sub(1, 1):lower() .. quote:sub(2)):find(plain, 1, true)
  end
  quoted = quoted + 1
  if not found then complain(ids .. ": quoted as " .. plain .. ", which its row does not have") end
end
if quoted < 10 then complain(quoted .. " quotations in the text; wanted: 10 at least") end
local value = {}
for l in io.popen("cat build/values/*.val 2>/dev/null"):lines() do
  local name, x = l:match("^(%S+) (%S+)"); if name then value[name] = tonumber(x) end
  local k = l:match("^claim%.(S%d%-%d+) "); if k and not rows[k] then complain(k .. ": printed, but no row") end
end
local orders = 0
for l in io.lines("tests/book/orders.tsv") do
  local web, test, words = l:match("^(%S+)\t([^\t]+)\t(.+)$")
  if web ~= "web" then
    local left, sign, factor, right = (test or ""):match("^(%S+) ([<>]) ([%d.]+) %* (%S+)$")
    if not left then left, sign, right = (test or ""):match("^(%S+) ([<>]) (%S+)$") end
    local a, b = value[left], tonumber(right) or value[right]
    orders = orders + 1
    if not (a and b) then complain("orders.tsv: no test of printed numbers: " .. l)
    elseif sign == "<" and a >= (factor or 1) * b or sign == ">" and a <= (factor or 1) * b then
      complain(web .. ": \"" .. words .. "\", but not " .. test .. " (" .. a .. ", " .. b .. ")")
    end
    if not slurp(web):gsub("%s+", " "):find(words, 1, true) then complain("orders.tsv: " .. web .. " does not say: " .. words) end
  end
end
if orders == 0 then complain("orders.tsv has no line") end
print(string.format("%d claims, %d to come, %d orders, %d faults", n, to_come, orders, bad))
os.exit(bad == 0)
