-- printed.lua [PDF...] -- what is printed is what is compiled: the C of every section is taken from the pages' own text, by pdftotext, and its tokens
-- are those of the web, in their order, none more and none less; a macro has a blank between its name and what it stands for; a string that
-- two lines of the page share is closed in the one and opened in the other. Excerpts of headers are chosen by name. No page ends between the head of
-- a function and its body.
-- Without arguments: build/incipit.pdf and build/workshop.pdf, if they are not older than their webs. Of another PDF, as that of a chapter alone,
-- the sections that it has are compared: printed.lua build/sheet-8.pdf chapters/08-stopping.w
-- (-raw is the order in which TeX wrote the page, so that columns stay together; the crop leaves the margin, the head and the foot out.)
local ctokens, book = dofile("tools/ctokens.lua"), dofile("tools/book.lua")
local slurp = ctokens.slurp
local bad, sections, compared, quiet = 0, 0, 0, false
local function fault(...) bad = bad + 1; if bad < 40 and not quiet then print(string.format(...)) end end

-- ---- tokens: words and numbers, strings (neighbours as one, without blanks), signs one by one, and {name} for a section's name
local function row(text)
  text = text:gsub("/%*.-%*/", " "):gsub("//[^\n]*", " ")
  local t, n, i = {}, 0, 1
  while true do
    i = text:find("%S", i)
    if not i then break end
    local c, e = text:sub(i, i), nil
    if text:find("^⟨", i) then
      e = select(2, text:find("⟩", i, true)) or #text
      n = n + 1; t[n] = "⟨⟩"
    elseif c == '"' then
      local k = i + 1
      while k <= #text and text:sub(k, k) ~= '"' and text:sub(k, k) ~= "\n" do k = k + (text:sub(k, k) == "\\" and 2 or 1) end
      e = k
      local s = text:sub(i + 1, k - 1):gsub("%s+", "")
      if n > 0 and t[n]:sub(1, 1) == '"' then t[n] = t[n]:sub(1, -2) .. s .. '"' else n = n + 1; t[n] = '"' .. s .. '"' end
    elseif text:find("^'\\?[^\n]'", i) or text:find("^'\\[^\n']+'", i) then
      _, e = text:find("^'\\?[^\n]'", i)
      if not e then _, e = text:find("^'\\[^\n']+'", i) end
      n = n + 1; t[n] = text:sub(i, e)
    elseif text:find("^%.?%d", i) then
      e = i
      while true do
        local _, b = text:find("^[eEpP][+-]", e)
        if not b then _, b = text:find("^[%w_.]", e) end
        if not b then break end
        e = b + 1
      end
      e = e - 1
      n = n + 1; t[n] = text:sub(i, e):lower()
    elseif c:find("[%a_]") then
      e = select(2, text:find("^[%w_]+", i))
      n = n + 1; t[n] = text:sub(i, e)
    elseif c == "\\" and text:find("^\\%s*\n", i) then e = i       -- a line that goes on
    else
      e = i + #text:match("^[%z\1-\127\xC2-\xF4][\x80-\xBF]*", i) - 1
      n = n + 1; t[n] = text:sub(i, e)
    end
    i = e + 1
  end
  return t, n
end

-- ---- the web: the C of each section that has some, { line, name or false, tokens, macros }
local function coded(web)
  local s, list = "\n" .. slurp(web), {}
  local starts = {}
  for p in s:gmatch("\n()@[ *\n\t]") do starts[#starts + 1] = p end
  for k, p in ipairs(starts) do
    local part = s:sub(p, (starts[k + 1] or #s + 1) - 1):gsub("^@ +@([<(])", "@\n@%1")
    local named, a, b = true, part:find("\n@[<(][^\n]-@>%+?=[ \t]*")
    if not a then a, b = part:find("\n@[<(].-@>%+?="); if a and part:sub(a + 1, b):find("\n@[ *\n]") then a = nil end end
    local c, d = part:find("\n@c%f[^%w]")
    if c and not (a and a < c) then named, a, b = false, c, d end
    if a then
      local code = part:sub(b + 1)
      local _, line = s:sub(1, p + a):gsub("\n", "")
      code = code:gsub("@<.-@>", "⟨⟩"):gsub("@[%^.:].-@>", ""):gsub("/%*.-%*/", " "):gsub("\\\n", " \\\n")
      code = code:gsub("@@", "\1"):gsub("@[%[%];,|/+#]", " "):gsub("@&", ""):gsub("\1", "@")
      local macros = {}
      for name, sign in code:gmatch("\n#[ \t]*define[ \t]+([%u_][%u%d_]*)(.)") do if sign ~= "\n" then macros[#macros + 1] = { name, sign == "(" } end end
      list[#list + 1] = { line = line, named = named, code = code, macros = macros }
    end
  end
  return list
end

-- ---- the pages
local plain = { ["∗"] = "*", ["−"] = "-", ["–"] = "-", ["‐"] = "-", ["∶"] = ":", ["’"] = "'", ["‘"] = "'", ["∼"] = "~", ["˜"] = "~", ["ˆ"] = "^", ["∕"] = "/", ["…"] = "...",
  ["ﬁ"] = "fi", ["ﬂ"] = "fl", ["ﬀ"] = "ff", ["ﬃ"] = "ffi", ["ﬄ"] = "ffl", ["∣"] = "|", ["¬"] = "!", ["”"] = '"', ["<"] = "<", ["\u{00A0}"] = " ", ["\u{2423}"] = " " }
local function pages_of(pdf)
  local p = io.popen("pdftotext -raw -x 67 -y 62 -W 338 -H 620 '" .. pdf .. "' - 2>/dev/null")
  local s = p:read("a"); p:close()
  return s
end
local function compare(pdf, s, webs)
  -- the head of a function does not stand at the foot of a page without its body
  local before
  for page in (s .. "\f"):gmatch("(.-)\f") do
    local first, last = page:match("^%s*([^\n]*)"), page:match("([^\n]*)%s*$")
    if first:match("^{%s*$") then fault("%s: a page begins with the body of a function: %s", pdf, before or "") end
    if last:match("^{%s*$") then fault("%s: a page ends with the head of a function: %s", pdf, page:match("([^\n]*)\n{%s*$") or last) end
    before = last
  end
  local text = s:gsub("[\xC2-\xF4][\x80-\xBF]+", plain):gsub("\f", "\n")
  local at = 1
  for _, web in ipairs(webs) do
    local found
    for _, part in ipairs(coded(web)) do
      sections = sections + 1
      local want, n = row(part.code)
      local begin
      if n == 0 then goto next end
      if part.named then
        local _, b = text:find("⟩%s*%+?%s*≡", at)
        begin = b and b + 1
      else
        -- a program without a name begins with its first line
        local first = part.code:match("%S[^\n]*"):gsub("%s+", " "):gsub("[%^$()%%.%[%]*+%-?]", "%%%0"):gsub(" ", "%%s*")
        local from, most = at, -1
        while true do
          local a = text:find("\n%s*" .. first, from)
          if not a then break end
          local got, k = row(text:sub(a, a + 2 * #part.code)), 1
          while k <= n and got[k] == want[k] do k = k + 1 end
          if k > most then begin, most = a, k end
          if k > n then break end
          from = a + 1
        end
      end
      if not begin then fault("%s:%d: the section is not on the pages of %s", web, part.line, pdf); return end
      found = true
      local stop = math.min(#text, begin + 3 * #part.code + 6000)
      local piece = text:sub(begin, stop)
      local got = row(piece)
      local k = 1
      while k <= n and got[k] == want[k] do k = k + 1 end
      -- the last string may go on in what follows
      if k <= n then
        fault("%s:%d: printed `%s', compiled `%s'", web, part.line, table.concat(got, " ", math.max(1, k - 4), math.min(#got, k + 4)), table.concat(want, " ", math.max(1, k - 4), math.min(n, k + 4)))
      else compared = compared + n end
      for _, m in ipairs(part.macros) do
        local blank = piece:match("#define " .. m[1] .. "([^%w_])")
        if m[2] and blank ~= "(" or not m[2] and blank ~= " " then fault("%s:%d: #define %s is printed with `%s' behind its name", web, part.line, m[1], blank or "nothing") end
      end
      at = begin
      ::next::
    end
  end
end

local lfs = require "lfs"
local function age(f) return lfs.attributes(f, "modification") or 0 end
-- faults planted in the pages of the volume's first webs, each of which must be found
local function planted(pdf, s, webs)
  local all, done, n = s, compared, sections
  local list = {
    { "a blank behind a macro's name", "#define (%u[%u_]+) ", "#define %1" }, { "a semicolon", ";(\n}\n)", "%1" }, { "the end of a string", '(%a)"(%)?;)', "%1%2" },
    { "a word", "struct error", "struct terror" }, { "a line", "\n#include [^\n]*", "" }, { "a sign", "\nreturn (%l[%w_]*);", "\nreturn −%1;" }, { "the foot of a page", "\n{\n", "\n\f{\n" },
  }
  quiet = true
  for _, f in ipairs(list) do
    local before = bad
    local times, found, at = 0, false, 1        -- not every place is in a section: an excerpt of a file is compared with nothing
    while not found and times < 60 do
      local from, to = all:find(f[2], at)
      if not from then break end
      times, at = times + 1, to + 1
      compare(pdf, all:sub(1, from - 1) .. (all:sub(from, to):gsub(f[2], f[3], 1)) .. all:sub(to + 1), webs)
      found, bad = bad > before, before
    end
    if times == 0 or not found then quiet = false; fault("%s is planted in %s, and nobody notices", f[1], pdf); quiet = true end
  end
  quiet, compared, sections = false, done, n
end
if arg[1] then compare(arg[1], pages_of(arg[1]), { table.unpack(arg, 2) })
else
  local pdfs = 0
  for _, v in ipairs { { "incipit", "chapters" }, { "workshop", "workshop" } } do
    local file, webs, old = "build/" .. v[1] .. ".pdf", {}, nil
    for _, r in ipairs(book) do
      if r.folder == v[2] then
        webs[#webs + 1] = r.web
        if age(file) < age(r.web) then old = r.web end
        for names in slurp(r.web):gmatch("\\printedheader(%b[])") do
          if names:find("^%[%d") then fault("%s: an excerpt of a header is chosen by the names of what it declares, not by lines: %s", r.web, names) end
        end
      end
    end
    table.sort(webs, function(a, b) return a < b end)
    if age(file) == 0 then print(file .. " is not here")
    elseif old then print(file .. " is older than " .. old .. ": not looked at")
    else
      local s = pages_of(file)
      pdfs = pdfs + 1
      compare(file, s, webs)
      if v[1] == "workshop" then planted(file, s, { webs[1], webs[2] }) end   -- its first chapters have a place for each
    end
  end
  if pdfs == 0 and bad == 0 then print("no volume is up to date here: make book"); os.exit(77) end
end
print(string.format("%d sections, %d tokens, %d faults", sections, compared, bad))
os.exit(bad == 0)
