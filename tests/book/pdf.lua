-- pdf.lua [DIR] -- what a PDF says to programs that show it or read it aloud: language, title, bookmarks for all chapters, a text alternative for
-- every figure; and where its links lead: into itself, to a place of another volume, or, one for each \lab, to laboratory/at/NAME.html.
-- A PDF that is older than its webs is not looked at.
local book, dir = dofile("tools/book.lua"), arg[1] or "build"
local bad, seen = 0, 0
local function fault(...) bad = bad + 1; print(string.format(...)) end
local function slurp(f) local h = io.open(f, "rb"); if not h then return end local s = h:read("a"); h:close(); return s end
local escape = { n = "\n", r = "\r", t = "\t", b = "\b", f = "\f" }
local function raw(s) return s and (s:gsub("\\(%d%d?%d?)", function(o) return string.char(tonumber(o, 8)) end):gsub("\\(.)", function(c) return escape[c] or c end)) end
local function words(s)                   -- UTF-16BE, or as it is
  s = raw(s)
  if not s or s:sub(1, 2) ~= "\xFE\xFF" then return s end
  local t, i = {}, 3
  while i < #s do
    local c = string.unpack(">I2", s, i); i = i + 2
    if c >= 0xD800 and c < 0xDC00 and i < #s then c = 0x10000 + (c - 0xD800) * 1024 + string.unpack(">I2", s, i) - 0xDC00; i = i + 2 end
    t[#t + 1] = utf8.char(c)
  end
  return table.concat(t)
end
local function age(f) return require "lfs".attributes(f, "modification") or 0 end
local volumes, names = { { "incipit", "chapters" }, { "workshop", "workshop" }, { "laboratory", "laboratory" } }, {}
for _, v in ipairs(volumes) do
  local file = dir .. "/" .. v[1] .. ".pdf"
  local old = age(file) < age "macros/incipit.sty" and "macros/incipit.sty"
  for _, row in ipairs(book) do if row.folder == v[2] and age(file) < age(row.web) then old = row.web end end
  if old and age(file) > 0 then print(file .. " is older than " .. old .. ": not looked at") end
  local doc = not old and pdfe.open(file)
  if doc then
    v.doc, v.names = doc, {}
    local function leaf(node)
      for i = 1, #(node.Names or {}), 2 do v.names[raw(node.Names[i])] = true end
      for i = 1, #(node.Kids or {}) do leaf(node.Kids[i]) end
    end
    local catalog = pdfe.getcatalog(doc)
    if catalog.Names and catalog.Names.Dests then leaf(catalog.Names.Dests) end
    names[v[1] .. ".pdf"] = v.names
  end
end
for _, v in ipairs(volumes) do
  local doc = v.doc
  if doc then
    seen = seen + 1
    local name, catalog, info = v[1], pdfe.getcatalog(doc), pdfe.getinfo(doc)
    local labs, figures, chapters = 0, 0, 0
    local texts = { { folder = v[2], web = v[2] .. "/back.tex" } } -- what comes after the chapters may have figures as well
    for _, row in ipairs(book) do texts[#texts + 1] = row end
    for i, row in ipairs(texts) do
      if row.folder == v[2] and (i > 1 or io.open(row.web)) then
        local s = slurp(row.web)
        for _ in s:gmatch("\\lab{") do labs = labs + 1 end
        for at in s:gmatch("\\%l*fig()%f[%A]") do if s:match("^%s*%b[]%s*{", at) or s:match("^%s*{", at) then figures = figures + 1 end end
        if i > 1 then chapters = chapters + 1 end
      end
    end
    if catalog.Lang ~= "en-GB" then fault("%s.pdf: its language is %s", name, tostring(catalog.Lang)) end
    if not (catalog.ViewerPreferences and catalog.ViewerPreferences.DisplayDocTitle) then fault("%s.pdf: its title is not shown", name) end
    local title = info and words(info.Title)
    if not (title and title:find("^Incipit")) then fault("%s.pdf: its title is %s", name, tostring(title)) end
    local marks = 0
    local function walk(item)
      while item do
        marks = marks + 1
        if not words(item.Title):find("%S") then fault("%s.pdf: bookmark %d has no words", name, marks) end
        walk(item.First)
        item = item.Next
      end
    end
    walk(catalog.Outlines and catalog.Outlines.First)
    if marks < chapters then fault("%s.pdf: %d bookmarks", name, marks) end
    local alternatives, links, html, away = 0, 0, 0, 0
    for p = 1, pdfe.getnofpages(doc) do
      local page = pdfe.getpage(doc, p)
      local contents, list = page.Contents, {}
      if pdfe.type(contents) == "pdfe.stream" then list = { contents } else for i = 1, #(contents or {}) do list[i] = contents[i] end end
      for _, stream in ipairs(list) do
        for hex in (pdfe.readwholestream(stream, true) or ""):gmatch("/Span%s*<<%s*/Alt%s*<(%x+)>") do
          alternatives = alternatives + 1
          if #hex < 80 then fault("%s.pdf, page %d: an alternative of %d letters", name, p, #hex // 4) end
        end
      end
      for i = 1, #(page.Annots or {}) do
        local a = page.Annots[i].A
        if a then
          links = links + 1
          if a.S == "URI" then
            local short = raw(a.URI):match("^laboratory/at/(%w+)%.html$")
            if short then html = html + 1
            elseif not a.URI:find("^https?://") then fault("%s.pdf, page %d: a link to %s", name, p, a.URI) end
          elseif a.S == "GoTo" then
            if type(a.D) == "string" and not v.names[raw(a.D)] then fault("%s.pdf, page %d: there is no %s", name, p, a.D) end
          elseif a.S == "GoToR" then
            away = away + 1
            local file = type(a.F) == "string" and a.F or a.F and (a.F.UF or a.F.F)
            file = words(file)
            local there = file and names[file]
            if file ~= "incipit.pdf" and file ~= "workshop.pdf" and file ~= "laboratory.pdf" then fault("%s.pdf, page %d: a link to %s", name, p, tostring(file))
            elseif there and type(a.D) == "string" and not there[raw(a.D)] then fault("%s.pdf, page %d: %s has no %s", name, p, file, a.D) end
          end
        end
      end
    end
    if html < labs then fault("%s.pdf: %d links to the laboratory's pages for %d \\lab", name, html, labs) end
    if alternatives ~= figures then fault("%s.pdf: %d alternatives for %d figures", name, alternatives, figures) end
    print(string.format("%s.pdf: %s, %d bookmarks, %d figures with words, %d links, %d of them to other volumes, %d to pages", name, tostring(catalog.Lang), marks, alternatives, links, away, html))
  end
end
if seen == 0 then print("no PDF of these sources is here: make book"); os.exit(77) end
print(string.format("%d volumes, %d faults", seen, bad))
os.exit(bad == 0)
