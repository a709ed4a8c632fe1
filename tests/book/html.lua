-- html.lua [OUT] -- the pages of the laboratory: tags are closed, ids are unique, every link leads to a place that exists, every section, every
-- label, every key and every table of the webs has its place, what a \lab of a PDF leads to is there, every figure is there in words, no macro of
-- TeX is left in the text, and no word of a web is missing.
package.path = "tools/?.lua;" .. package.path
local book, out = require "book", arg[1] or "build/laboratory"
local lfs = require "lfs"
local function slurp(f) local h = io.open(f, "rb"); if not h then return end local s = h:read("a"); h:close(); return s end
local bad, n = 0, { pages = 0, links = 0, places = 0, words = 0 }
local function fault(...) bad = bad + 1; if bad < 40 then print(string.format(...)) end end
if not slurp(out .. "/index.html") then print("there is no " .. out .. "/index.html"); os.exit(1) end

local void = {}
for t in ("meta link img br input"):gmatch("%a+") do void[t] = true end
local entity = { lt = "<", gt = ">", quot = '"', amp = "&", nbsp = " ", emsp = " ", ensp = " ", shy = "" }
local function decode(s) return (s:gsub("&(#?%w+);", function(e) return entity[e] or utf8.char(tonumber(e:match("#(%d+)"))) end)) end
local pages, text = {}, {}
for f in lfs.dir(out) do
  if f:match("%.html$") then
    local s, page = slurp(out .. "/" .. f), { ids = {}, links = {} }
    pages[f], n.pages = page, n.pages + 1
    local stack, words, at, aside = {}, {}, 1, 0
    while true do
      local a, b = s:find("<[^>]*>", at)
      local t = decode(s:sub(at, (a or #s + 1) - 1))
      local where = table.concat(stack, " ")
      -- text outside of code; what a key has printed and what surrounds the sections is the converter's own
      if not where:find("code") and not where:find(" pre") and not where:find("%.s$") then
        for m in t:gmatch("\\%a+") do fault("%s: %s is left in: %s", f, m, t:sub(1, 80)) end
      end
      words[#words + 1] = t
      if not a then break end
      local tag = s:sub(a, b)
      local close, name = tag:match("^<(/?)(%w+)")
      if name and not ("a b i em span code sub sup strong"):find("%f[%w]" .. name .. "%f[%W]") then words[#words + 1] = " " end
      for alt in tag:gmatch('%salt="(.-)"') do words[#words + 1] = " " .. decode(alt) .. " " end
      if tag:match("^<!") then -- the kind of document
      elseif not name then fault("%s: %s is no tag", f, tag)
      elseif close == "/" then
        local top = table.remove(stack) or "nothing"
        if top:match("^%w+") ~= name then fault("%s: </%s> closes <%s>", f, name, top); break end
      else
        for id in tag:gmatch('%sid="(.-)"') do
          if page.ids[id] then fault("%s: two places are %s", f, id) end
          page.ids[id] = true; n.places = n.places + 1
        end
        for link in tag:gmatch('%s[hs]re?[fc]="(.-)"') do table.insert(page.links, decode(link)) end
        if not void[name] then stack[#stack + 1] = name .. (tag:match('class="s"') and ".s" or "") end
      end
      at = b + 1
    end
    if #stack > 0 then fault("%s: <%s> is not closed", f, stack[#stack]) end
    text[f] = table.concat(words)
    local _, tops = s:gsub("<h1[ >]", "")
    if tops ~= 1 then fault("%s: %d headings of the first level", f, tops) end
    if not s:find('<html lang="en">', 1, true) or not s:find("<title>[^<]") then fault("%s: no language, or no title", f) end
    for img in s:gmatch("<img[^>]*>") do if not img:find('alt="[^"]') then fault("%s: a picture without words", f) end end
  end
end

-- links
local pdf, labels = { ["chapter.0"] = true }, {}
for name, kind, number, module, at in slurp("build/labels.tex"):gmatch("\\outsidelabel{(.-)}{(.-)}{(.-)}{(.-)}{(.-)}") do
  pdf[at] = true
  if book[module].folder == "laboratory" then labels[#labels + 1] = { name, kind, number } end
end
local count = {}                         -- sections of each web, as the webs have them
for _, row in ipairs(book) do
  local _, k = ("\n" .. slurp(row.web)):gsub("\n@[ *\n\t]", "")
  count[row.shown] = k
end
for f, page in pairs(pages) do
  for _, link in ipairs(page.links) do
    n.links = n.links + 1
    local file, id = link:match("^([^#]*)#?(.*)$")
    if link:match("^https?:") then -- somewhere else
    elseif file:match("^%.%./%l+%.pdf$") then
      local dest = id:match("^nameddest=(.+)$")
      local chapter, k = (dest or ""):match("^cwsec%.(%w+)%.(%d+)$")
      if dest and not dest:match("^source%.") and not pdf[dest] and not (chapter and count[chapter] and tonumber(k) <= count[chapter]) then fault("%s: %s is not in the PDF", f, link) end
    else
      local there = file == "" and page or pages[file]
      if file ~= "" and not there and not lfs.attributes(out .. "/" .. file) then fault("%s: there is no %s", f, file)
      elseif there and id ~= "" and not there.ids[id] then fault("%s: there is no %s", f, link) end
    end
  end
end

-- what must have a place: sections, labels, keys, tables
local function somewhere(id) for f, p in pairs(pages) do if f ~= "keys.html" and f ~= "figures.html" and p.ids[id] then return f end end end
local places = {}
for f, p in pairs(pages) do for id in pairs(p.ids) do if f ~= "keys.html" and f ~= "figures.html" then places[id] = (places[id] or 0) + 1 end end end
for _, row in ipairs(book) do
  if row.folder == "laboratory" then
    for k = 1, count[row.shown] do
      if places[row.shown .. "." .. k] ~= 1 then fault("section %s.%d has %d places", row.shown, k, places[row.shown .. "." .. k] or 0) end
    end
    local short = row.module:match("/(.*)$")
    for key in ("\n" .. (slurp("build/values/" .. short .. ".val") or "")):gmatch("\n([%w._-]+)%s+%S") do
      if places["key-" .. key] ~= 1 then fault("%s: the key %s has %d places", row.web, key, places["key-" .. key] or 0) end
      if not pages["keys.html"].ids["key-" .. key] then fault("keys.html has no %s", key) end
    end
    for name in slurp(row.web):gmatch('print_key%(%s*"([%w._ -]+)"') do
      for key in name:gmatch("%S+") do if places["key-" .. key] ~= 1 then fault("%s: the key %s has no place", row.web, key) end end
    end
    for _, folder in ipairs { "build/data", "figures/data" } do
      for f in lfs.dir(folder) do
        if f:match("^" .. short:gsub("%-", "%%-") .. "%.%l+%.csv$") and slurp(row.web):find('"' .. f:match("%.(%l+)%.") .. '"', 1, true) and places["csv-" .. f] ~= 1 then fault("%s: the table %s has %d places", row.web, f, places["csv-" .. f] or 0) end
      end
    end
  end
end
for _, l in ipairs(labels) do
  local name, kind, number = table.unpack(l)
  if kind ~= "chapter" and not places[name] then fault("the label %s has no place", name)
  elseif kind == "cwsec" and somewhere(name) ~= somewhere(number) then fault("%s is not on the page of %s", name, number) end
end

-- the margins of the PDFs: \lab{lab:clock} leads to at/clock.html, and that to the place of the label; figures.html has all figures
local labs, figures = 0, 0
for _, row in ipairs(book) do
  local web = slurp(row.web)
  for name in web:gmatch("\\lab{(.-)}") do
    labs = labs + 1
    local short = name:match("^lab:(%w+)$")
    local there = slurp(out .. "/at/" .. (short or "") .. ".html")
    local file, id = (there or ""):match('url=%.%./([^"#]+)#([^"]+)"')
    if not short then fault("%s: \\lab{%s} is not lab: and a word", row.web, name)
    elseif not file then fault("%s: \\lab{%s} leads to no page", row.web, name)
    elseif id ~= name or not pages[file] or not pages[file].ids[id] then fault("%s: at/%s.html leads to %s#%s, which is not there", row.web, short, file, id) end
  end
end
for name, kind in slurp("build/labels.tex"):gmatch("\\outsidelabel{(.-)}{(.-)}") do
  if kind == "figure" then
    figures = figures + 1
    if not pages["figures.html"] or not pages["figures.html"].ids[name] then fault("figures.html has no %s", name) end
  end
end

-- every word of a web's prose and code is on its pages, as often as in the web
local function counted(s)
  local c = {}
  for w in s:gmatch("%a%a%a%a+") do c[w] = (c[w] or 0) + 1 end
  return c
end
for _, row in ipairs(book) do
  if row.folder == "laboratory" then
    local s = slurp(row.web)
    s = s:gsub("\n@[sif] [^\n]*", "\n"):gsub("^@[sif] [^\n]*", ""):gsub("@[%^.:].-@>", "")
    s = s:gsub("(\\%l*fig)%s*%b[]", "%1"):gsub("\\%l*fig%s*{[%w-]+}%s*%b{}", ""):gsub("\\(%l+)%s*%b[](%b{})", "\\%1%2")
    s = s:gsub("\\begin{tutorial}%b{}", " ")
    for _, m in ipairs { "val", "bytes", "label", "cref", "Cref", "ref", "labelcref", "eqref", "begin", "end", "tabcaption", "lab", "cited" } do s = s:gsub("\\" .. m .. "%s*%b{}", " ") end
    s = s:gsub("{\\textwidth}%b{}", ""):gsub("\\incipit{(%a)}{", "%1"):gsub("\\%.{", " "):gsub("@<[^@]-%.%.%.@>", " ")
    s = s:gsub('(".-")', function(q) return (q:gsub("\\(%l)", "\1%1")) end)        -- \n of a string is no macro
    s = s:gsub("\\[a-zA-Z]+", " "):gsub("\1", "\\")
    local t = {}
    for f, x in pairs(text) do if f:match("^" .. row.shown .. "[.-]") then t[#t + 1] = x end end
    local have = counted((table.concat(t, "\n"):gsub("[\u{AD}]", "")))
    for w, k in pairs(counted(s)) do
      n.words = n.words + k
      if (have[w] or 0) < k then fault("%s: the word %s is there %d times, on the pages %d times", row.web, w, k, have[w] or 0) end
    end
  end
end
-- the search box finds what the pages have
local index = slurp(out .. "/index.js") or ""
local _, entries = index:gsub("\n%[", "")
local all = 0
for shown, k in pairs(count) do if shown:match("^L") then all = all + k end end
if entries ~= all then fault("index.js has %d entries, the webs %d sections", entries, all) end
print(string.format("%d pages, %d places, %d links, %d links from margins, %d figures in words, %d words, %d faults", n.pages, n.places, n.links, labs, figures, n.words, bad))
os.exit(bad == 0 and n.links > 1000 and labs > 50 and figures > 50)
