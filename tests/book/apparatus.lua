-- apparatus.lua -- what a reader looks up agrees with what it leads to: the k-th exercise of chapter NN is make exercise-NN-k and has a
-- folder of its own; no term stands twice in the glossary, which is in order; every source of the bibliography is cited, and every
-- citation has a source; a section that the index of subjects names has the word; a figure of data that the laboratory prints, and a box with
-- its output, have a \lab beside them or in the section before or after, and every \lab names a label of the laboratory.
local book = dofile("tools/book.lua")
local bad, exercises, terms, sources, citations = 0, 0, 0, 0, 0
local function fault(...) bad = bad + 1; print(string.format(...)) end
local function slurp(f) local h = assert(io.open(f, "rb")); local s = h:read("a"); h:close(); return s end

local all = {}
for _, row in ipairs(book) do
  local s = slurp(row.web)
  all[#all + 1] = { row.web, s }
  local id = row.folder == "workshop" and "W" .. row.number or row.folder == "laboratory" and "L" .. row.number or string.format("%02d", row.number)
  local k, at = 0, 1
  while true do
    local a, b, grade, label = s:find("\n\\exercise{(%l+)}{([^}]*)}", at)
    if not a then break end
    k, exercises = k + 1, exercises + 1
    local text = s:sub(b + 1, (s:find("\n\\exercise{", b, true) or s:find("\\end{exercises}", b, true) or #s + 1) - 1):gsub("%s+", " ")
    local want = "make exercise-" .. id .. "-" .. k
    local found = text:match("make exercise%-([%w-]+)")
    if found ~= id .. "-" .. k then fault("%s: exercise %d (%s) says %s; wanted: %s", row.web, k, label, found and "make exercise-" .. found or "no command", want) end
    local h = io.open("tests/planted/exercises/" .. id .. "-" .. k .. ".ex")
    if h then h:close() else fault("%s: exercise %d (%s) has no tests/planted/exercises/%s-%d.ex", row.web, k, label, id, k) end
    at = b
  end
end

local back = slurp("chapters/back.tex")
all[#all + 1] = { "chapters/back.tex", back }
all[#all + 1] = { "chapters/front.tex", slurp("chapters/front.tex") }
local seen, last = {}, nil
for term in back:match("Glossary.-\\end{description}"):gmatch("\\item%[([^%]]*)%]") do
  terms = terms + 1
  if seen[term] then fault("chapters/back.tex: %s stands twice in the glossary", term) end
  seen[term] = true
  local key = term:lower():gsub("[^%w]", "")
  if last and key < last.key then fault("chapters/back.tex: %s comes after %s in the glossary", term, last.term) end
  last = { key = key, term = term }
end
local source, before = {}, nil
for name in back:gmatch("\\source{([^}]*)}") do
  if source[name] then fault("chapters/back.tex: [%s] stands twice in the bibliography", name) end
  source[name] = { used = false }
  sources = sources + 1
  local key = name:lower():gsub("[^%w]", "")
  if before and key < before.key then fault("chapters/back.tex: [%s] comes after [%s] in the bibliography", name, before.name) end
  before = { key = key, name = name }
end
for _, f in ipairs(all) do
  -- \cited{Aho 1975; Gage 1994}, \cited[Aho and Corasick]{Aho 1975}
  local text = f[2]:gsub("%s+", " "):gsub("\\cited%b[]", "\\cited")
  for inside in text:gmatch("\\cited{([^}]*)}") do
    for name in (inside .. ";"):gmatch("%s*(.-)%s*;") do
      citations = citations + 1
      if source[name] then source[name].used = true else fault("%s: [%s] is cited and not in the bibliography", f[1], name) end
    end
  end
  -- names and a year that lead nowhere, but for strings and comments of C, which cannot be linked
  local prose = f[2]:gsub("\n@[(<c][^\n]*=\n.-\n@[ \n*]", "\n"):gsub("\n@c.-\n@[ \n*]", "\n"):gsub("\\cited%b[]%b{}", ""):gsub("\\cited%b{}", "")
  for who in prose:gmatch("(%u[%a-]+ and %u[%a-]+,? %(?[12][09]%d%d)") do fault("%s: %s is no \\cited", f[1], who) end
  for who in prose:gmatch("(%u[%a-]+ and others,? %(?[12][09]%d%d)") do fault("%s: %s is no \\cited", f[1], who) end
end
for name, s in pairs(source) do if not s.used then fault("chapters/back.tex: [%s] is cited nowhere", name) end end
-- the subject index: a mark @^concept@> stands in a section whose page prints the words of the concept; what chapters/see.tsv leads to
-- is there; every term of the glossary, and every concept of tests/book/concepts.txt, can be looked up
local function plain(t) return " " .. t:lower():gsub("\\%a+%*?", " "):gsub("[^%w+']+", " ") .. " " end
local skip = { of = true, a = true, the = true, ["in"] = true, and_ = true, per = true, ["and"] = true, to = true, n = true }
local function stem(w)
  if #w < 5 then return #w > 3 and (w:gsub("s$", "")) or w end
  for _, tail in ipairs { "ies", "ing", "ation", "ions", "ion", "ed", "es", "s", "y", "e" } do
    local short = w:gsub(tail .. "$", "")
    if short ~= w and #short > 3 then return short end
  end
  return w
end
local marks, found = 0, {}
for i, row in ipairs(book) do
  local s = "\n" .. slurp(row.web)
  local starts = {}
  for p in s:gmatch("\n()@[ *\n\t]") do starts[#starts + 1] = p end
  for n, p in ipairs(starts) do
    local text = s:sub(p, (starts[n + 1] or #s + 1) - 1)
    local words = plain(text:gsub("@%^.-@>", " "))
    for term in text:gmatch("@%^(.-)@>") do
      marks = marks + 1
      local t = term:gsub("\\", "")
      if row.folder ~= "laboratory" then found[t:lower()] = true end
      local head = t:match("^(.-), ") or t                      -- Gage, Philip
      for w in plain(head):gmatch("%S+") do
        if not skip[w] and not words:find(" " .. stem(w), 1, true) then
          fault("%s, section %d: the index leads here for %s, and there is no %s", row.web, n, term, w)
        end
      end
    end
  end
end
local see = {}
for from, to, also in dofile("tools/see.lua") do
  see[from:lower():gsub("\\", "")] = true
  if not also and found[from:lower()] then fault("chapters/see.tsv: %s is in the index already", from) end
  if not found[to:lower()] then fault("chapters/see.tsv: %s leads to %s, which no section marks", from, to) end
end
local function canbe(term, where) term = term:gsub("\\", ""); if not found[term:lower()] and not see[term:lower()] then fault("%s: %s is not in the index", where, term) end end
for term in pairs(seen) do for one in (term .. ", "):gmatch("(.-), ") do canbe(one, "the glossary") end end
local concepts = 0
for l in io.lines("tests/book/concepts.txt") do if l ~= "" and not l:find("^#") then concepts = concepts + 1; canbe(l, "tests/book/concepts.txt") end end
-- \lab, from a figure or a box to the laboratory
local tables, places = {}, {}                     -- the words of the command lines of the laboratory's programs; its labels
for _, row in ipairs(book) do
  if row.folder == "laboratory" then
    local s = slurp(row.web)
    for word in s:gmatch('"(%l+)"') do tables[row.module:match("/(.*)$") .. "." .. word .. ".csv"] = true end
    for label in s:gmatch("\\label{(lab:%w+)}") do places[label] = true end
  end
end
local labs, measured = 0, 0
for _, row in ipairs(book) do
  local s = "\n" .. slurp(row.web)
  for label in s:gmatch("\\lab{(.-)}") do
    labs = labs + 1
    if not places[label] then fault("%s: the laboratory has no %s", row.web, label) end
  end
  if row.folder ~= "laboratory" then
    local sections = {}
    for p in s:gmatch("\n()@[ *\n\t]") do sections[#sections + 1] = s:sub(p, (s:find("\n@[ *\n\t]", p) or #s + 1) - 1) end
    local function beside(n) for k = n - 1, n + 1 do if sections[k] and sections[k]:find("\\lab{", 1, true) then return true end end end
    for n, text in ipairs(sections) do
      for file, label in text:gmatch("\\%l*fig%s*{([%w-]+)}%s*{([^}]*)}") do
        local from
        for csv in slurp("figures/" .. file .. ".tex"):gmatch("data/([%w.-]+%.csv)") do if tables[csv] then from = csv end end
        if from then
          measured = measured + 1
          local linked = beside(n)
          for k, t in ipairs(sections) do linked = linked or t:find("[cC]ref{[^}]*" .. label:gsub("%p", "%%%0")) and beside(k) end
          if not linked then fault("%s, section %d: no \\lab beside %s, which is drawn of %s", row.web, n, label, from) end
        end
      end
      for out in text:gmatch("checkpoint[^{}]*{build/out/laboratory/(.-)%.txt}") do
        measured = measured + 1
        if not beside(n) then fault("%s, section %d: no \\lab beside the output of laboratory/%s", row.web, n, out) end
      end
    end
  end
end
print(string.format("%d exercises, %d terms, %d sources, %d citations, %d marks, %d concepts, %d of %d links to the laboratory for data, %d faults", exercises, terms, sources, citations, marks, concepts, measured, labs, bad))
os.exit(bad == 0 and exercises > 100 and terms > 150 and sources > 80 and marks > 400 and concepts > 150 and labs > 80 and measured > 40)
