-- handout.lua NAME WOVEN OUT CHAPTER -- the parts of a lab's handout: OUT/sections.tex, the sections of the woven skeleton whose code says YOUR CODE, and
-- those whose titles or first words stand in the line also-read of course/NAME/lab, after a title with all that follow it up to the next title and
-- have no code; OUT/tests.tex, the table of the tests; OUT/facts.tex, the lab's number, title, hours.
local name, woven, out = arg[1], arg[2], arg[3]
local function stop(...) io.stderr:write("handout.lua: ", string.format(...), "\n"); os.exit(1) end
local function slurp(f) local h = io.open(f, "rb") or stop("cannot read %s", f); local s = h:read("a"); h:close(); return s end
local function put(f, s) local h = assert(io.open(out .. "/" .. f, "wb")); h:write(s); h:close() end
local facts = {}
for k, v in slurp("course/" .. name .. "/lab"):gmatch("(%S+) ([^\n]+)") do facts[k] = v end
for _, k in ipairs { "title", "hours" } do if not facts[k] then stop("course/%s/lab has no line %s", name, k) end end
-- a section begins with \M{n} or \N{depth}{n}Title. and ends before the next
local text = slurp(woven):gsub("^\\input [^\n]*\n", "")
local sections, at = {}, nil
for l in text:gmatch("([^\n]*)\n") do
  local n = l:match("^\\M{(%d+)}") or l:match("^\\N{%d+}{(%d+)}")
  if l:match("^\\inx") then break end
  if n then at = { n = tonumber(n), lines = {} }; sections[#sections + 1] = at end
  if at then at.lines[#at.lines + 1] = l end
end
-- a section has the book's number: that of the section there which begins in the same way
local function beginning(lines) return (table.concat(lines, " ", 1, math.min(3, #lines)):gsub("^\\M{%d+}", ""):gsub("^\\N{%d+}{%d+}", ""):sub(1, 70)) end
local number, original, here = {}, {}, nil
for l in slurp("build/woven/" .. facts.module .. ".tex"):gmatch("([^\n]*)\n") do
  local n = l:match("^\\M{(%d+)}") or l:match("^\\N{%d+}{(%d+)}")
  if n then here = { n = n, lines = {} }; original[#original + 1] = here end
  if here and #here.lines < 3 then here.lines[#here.lines + 1] = l end
end
local by = {}
for _, o in ipairs(original) do by[beginning(o.lines)] = o.n end
for i, x in ipairs(sections) do number[tostring(x.n)] = by[beginning(x.lines)] or (i > 1 and number[tostring(sections[i - 1].n)]) or "1" end
local function renumbered(all)
  return (all:gsub("^(\\M{)(%d+)", function(a, n) return a .. number[n] end):gsub("^(\\N{%d+}{)(%d+)", function(a, n) return a .. number[n] end)
    :gsub("\\X(%d+)([:,])", function(n, c) return "\\X" .. (number[n] or n) .. c end)
    :gsub("(\\[UAQ]s? ?)([%d, \\ETs]+%.)", function(a, list) return a .. list:gsub("%d+", function(n) return number[n] or n end) end))
end
local function plain(s) return (s:gsub("%%\n", ""):gsub("\\label{.-}", ""):gsub("\\PB{\\[\\|]?{?(.-)}+", "%1"):gsub("\\[%a]+ ?", ""):gsub("[{}\\$]", ""):gsub("%s+", " ")) end
local wanted = {}
for t in ((facts["also-read"] or "") .. ";"):gmatch("%s*(.-)%s*;") do if t ~= "" then wanted[#wanted + 1] = { title = t } end end
local kept, group = {}, false
for _, s in ipairs(sections) do
  local all = table.concat(s.lines, "\n")
  local heading = all:match("^\\N{%d+}{%d+}(.-)%.%s") or ""
  local title = plain(heading)
  if title == "" then title = plain(all:match("^\\M{%d+}(.-%.)") or "") end
  s.keep = all:find("YOUR CODE", 1, true) ~= nil
  if heading ~= "" then group = false
  elseif group and not all:find("\\Y\\B", 1, true) then s.keep = true end
  for _, w in ipairs(wanted) do
    local t = plain(w.title)
    if t == title or (heading == "" and title:sub(1, #t) == t) then s.keep, w.found, group = true, true, group or heading ~= "" end
  end
  if s.keep and not all:find("\\begin{exercises}", 1, true) and not all:match("^\\N{0}") then
    -- numbers are the book's, from build/labels.tex
    all = all:gsub("\\label{(eq:[^}]*)}", "\\tag{\\ref{%1}}"):gsub("\\label{.-}", ""):gsub("\\lab{.-}", "")
    kept[#kept + 1] = renumbered(all)
  end
end
for _, w in ipairs(wanted) do if not w.found then io.stderr:write("handout.lua: ", name, ": no section is called ", w.title, "\n"); facts.missing = true end end
put("sections.tex", table.concat(kept, "\n") .. "\n")
local function tex(s) return (s:gsub("[#$%%&_{}]", "\\%0"):gsub("%^", "\\textasciicircum{}"):gsub("~", "\\textasciitilde{}")) end
local rows = {}
for l in slurp("course/" .. name .. "/tests.tsv"):gmatch("[^\n]+") do
  local test, points, kind, promise = l:match("^([^#\t]+)\t(%d+)\t(%w+)\t%d+\t(.+)$")
  if test then rows[#rows + 1] = string.format("%s&%s&%s\\\\\n", kind == "public" and "\\texttt{" .. tex(test) .. "}" or "hidden", points, tex(promise)) end
end
put("tests.tex", "{\\small\\setlength\\tabcolsep{4pt}\\noindent\\rlap{\\begin{tabularx}{\\widewidth}{@{}lrX@{}}\\toprule test&points&what is promised\\\\\\midrule\n"
  .. table.concat(rows) .. "\\bottomrule\\end{tabularx}}\\par}\n")
local files = {}
for f in facts.files:gmatch("%S+") do files[#files + 1] = "\\texttt{" .. tex(f) .. "}" end
local last = table.remove(files)
put("facts.tex", string.format("\\def\\labname{%s}\\def\\labnumber{%d}\\def\\labtitle{%s}\\def\\labhours{%s}\\def\\labfiles{%s}\\def\\labchapter{%d}\n", name,
  tonumber(name:match("^%d+")), facts.title, facts.hours, (#files > 0 and table.concat(files, ", ") .. " and " or "") .. last, tonumber(arg[4])))
os.exit(not facts.missing)
