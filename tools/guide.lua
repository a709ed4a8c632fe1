-- guide.lua OUT LAB... -- the tables of the teacher's guide: OUT/guide-labs.tex, a row a lab; OUT/guide-kills.tex, each wrong answer of course/kills.tsv
-- and the tests that find it, then the cheats and what the grader says of them; OUT/guide-facts.tex, the sums
local out = arg[1]
local function slurp(f) local h = assert(io.open(f, "rb")); local s = h:read("a"); h:close(); return s end
local function put(f, s) local h = assert(io.open(out .. "/" .. f, "wb")); h:write(s); h:close() end
local function tex(s) return (s:gsub("\\", "\\textbackslash "):gsub("[#$%%&_{}]", "\\%0"):gsub("%^", "\\textasciicircum{}"):gsub("~", "\\textasciitilde{}"):gsub("<", "\\textless{}"):gsub(">", "\\textgreater{}")) end
local rows, order, of, all = {}, {}, {}, { wrong = 0, cheat = 0, other = 0, tests = 0, hours = 0 }
for l in slurp("course/kills.tsv"):gmatch("[^\n]+") do
  local lab, kind, what, points, how = l:match("^([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$")
  of[lab] = of[lab] or { wrong = {}, cheat = {}, other = {} }
  table.insert(of[lab][kind], { what = what, points = points, how = how })
  all[kind] = all[kind] + 1
end
local kills = {}
for i = 2, #arg do
  local name, facts, tests, hidden, public = arg[i], {}, 0, 0, 0
  for k, v in slurp("course/" .. name .. "/lab"):gmatch("(%S+) ([^\n]+)") do facts[k] = v end
  for l in slurp("course/" .. name .. "/tests.tsv"):gmatch("[^\n]+") do
    local points, kind = l:match("^[^#\t]+\t(%d+)\t(%w+)\t")
    if points then tests = tests + 1; if kind == "hidden" then hidden = hidden + tonumber(points) end end
  end
  local number, chapter = tonumber(name:match("^%d+")), slurp("course/" .. name .. ".ch"):match("chapters/(%d+)")
  local k = of[name] or { wrong = {}, cheat = {}, other = {} }
  rows[#rows + 1] = string.format("%d&%s&%d&%s&%d&%d&%d&%d&%d\\\\\n", number, tex(facts.title), tonumber(chapter), facts.hours, tests, hidden, #k.wrong, #k.cheat, #k.other)
  all.tests, all.hours = all.tests + tests, all.hours + tonumber(facts.hours)
  kills[#kills + 1] = string.format("\\labkills{%d}{%s}\n", number, tex(facts.title))
  for _, e in ipairs(k.wrong) do kills[#kills + 1] = string.format("\\labkill{%s}{%s}{%s}\n", tex(e.what), e.points, tex(e.how)) end
  local seen
  for _, e in ipairs(k.cheat) do
    if not seen then kills[#kills + 1] = "\\labcheats\n"; seen = true end
    kills[#kills + 1] = string.format("\\labkill{%s}{%s}{\\textrm{%s}}\n", tex(e.what), e.points, tex(#e.how > 110 and e.how:sub(1, 107) .. "..." or e.how))
  end
end
put("guide-labs.tex", "\\begin{tabularx}{\\widewidth}{@{}rXrrrrrrr@{}}\\toprule lab&title&chapter&hours&tests&hidden points&wrong&cheats&other right\\\\\\midrule\n"
  .. table.concat(rows) .. "\\bottomrule\\end{tabularx}\n")
-- the table brings its own macros, since the guide and the laboratory print it
put("guide-kills.tex", [[
\providecommand\labkills[2]{\par\addvspace{9pt}\cwebneed{5\baselineskip}{\noindent\bfseries Lab #1: #2\par}\nobreak\vskip2pt}
\providecommand\labcheats{\par\addvspace{3pt}{\noindent\itshape Cheats, and what the grader says\par}\nobreak}
\providecommand\labkill[3]{\par\begingroup\interlinepenalty10000 \hangindent2em\hangafter1\noindent\makebox[2em][r]{\color{rubric}#2\enspace}#1\enspace{\ttfamily\color{faint}#3}\par\endgroup}
\begingroup\hsize\widewidth\linewidth\widewidth\columnwidth\widewidth\footnotesize\raggedright\parindent0pt
]] .. table.concat(kills) .. "\\par\\endgroup\n")
local slow, fast = math.huge, 0
for rate in slurp("course/speed.txt"):gmatch("\n?%d[^\n ]* +(%d+) hand") do slow, fast = math.min(slow, tonumber(rate)), math.max(fast, tonumber(rate)) end
put("guide-facts.tex", string.format("\\def\\slowest{%d}\\def\\fastest{%d}\n", slow, fast) .. string.format("\\def\\allwrong{%d}\\def\\allcheats{%d}\\def\\allother{%d}\\def\\alltests{%d}\\def\\allhours{%d}\\def\\alllabs{%d}\n", all.wrong, all.cheat, all.other, all.tests, all.hours, #arg - 1))
