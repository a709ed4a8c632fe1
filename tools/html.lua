-- html.lua OUT -- the laboratory as pages for a browser: OUT/index.html, a page for each web of laboratory/ (for a long web one for each
-- of its starred groups as well), OUT/keys.html with every number that these programs print, OUT/figures.html with every figure of the three
-- volumes in words, OUT/at/NAME.html, which leads from a PDF to the label lab:NAME, and OUT/index.js for the search box.
-- Numbers, claims and listings are those of the PDFs: macros/incipit.lua has the values and how they are written, build/labels.tex the
-- numbers of all places, build/book.cwm where the names of the C are defined, build/figures.pages which page is which picture.
-- A macro that has no meaning here stops the run with web and line: nothing is left out silently.
package.path = arg[0]:match("^(.-)[^/]*$") .. "?.lua;" .. package.path
local book, lfs = require "book", require "lfs"
local OUT = arg[1] or "build/laboratory"
local LONG, FOLD, MANY = 450, 25, 200000  -- lines of a web that gets a page a group; lines of code that are folded; bytes of a picture that is of dots
os.execute("mkdir -p '" .. OUT .. "/figures' '" .. OUT .. "/at'")
local here = ""                           -- the web that is being read
local function fail(line, ...) io.stderr:write(here, ":", line or "?", ": ", string.format(...), "\n"); os.exit(1) end
local function slurp(f) local h = io.open(f, "rb"); if not h then return end local s = h:read("a"); h:close(); return s end
local function need(f) return slurp(f) or error("there is no " .. f .. ": make laboratory") end
local function write(f, s) local h = assert(io.open(OUT .. "/" .. f, "wb")); h:write(s); h:close() end
local function esc(s) return (s:gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" })) end
local function squeeze(s) return (s:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")) end
local function newlines(s, to) local n = 0; for _ in s:sub(1, to):gmatch("\n") do n = n + 1 end return n end
local function bare(html) return squeeze((html:gsub("<[^>]*>", ""):gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&quot;", '"'):gsub("&nbsp;", " "):gsub("&amp;", "&"))) end

-- ---- what TeX knows: values, claims, listings come from macros/incipit.lua, which speaks to a TeX of three functions
local said, raw, macro, at_line = {}, {}, {}, nil
tex = { sprint = function(a, b) said[#said + 1] = b or a end, error = function(m) fail(at_line, "%s", m) end,
  cprint = function(_, s) raw[#raw + 1] = s; said[#said + 1] = "\\rawtext{" .. #raw .. "}" end }
token = { set_macro = function(n, v) macro[n] = v end }
dofile("macros/incipit.lua")
local function spoken(line, f, ...) said, at_line = {}, line; f(...); return table.concat(said) end
local values = {}
for f in need("build/values.tex"):gmatch("{(.-)}") do
  incipit.load(f)
  for l in need(f):gmatch("[^\n]+") do
    local key, v, unit = l:match("^([%w%._%-]+)%s+(%S+)%s*(.-)%s*$")
    if key and not values[key] then values[key] = { v = v, u = unit, file = f:match("([^/]+)%.val$") }; values[#values + 1] = key end
  end
end

-- ---- places: labels of all volumes
local labels = {}
for name, kind, number, module, at in need("build/labels.tex"):gmatch("\\outsidelabel{(.-)}{(.-)}{(.-)}{(.-)}{(.-)}") do
  labels[name] = { kind = kind, number = number, row = book[module], at = at, name = name }
end
local volume = { chapters = "incipit", workshop = "workshop" }
local volume_name = { chapters = "the book", workshop = "the workshop" }
local pages, page_of = {}, {}             -- page_of["L4.25"]: where the section is
local function section_href(number)       -- 4.25, W3.2 or L4.25
  local mark = number:match("^%a?")
  if mark == "L" then return (page_of[number] or fail(nil, "no section %s", number)) .. "#" .. number end
  return "../" .. (mark == "W" and "workshop" or "incipit") .. ".pdf#nameddest=cwsec." .. number
end
local function place_href(l, line)
  if l.row.folder ~= "laboratory" then return "../" .. volume[l.row.folder] .. ".pdf#nameddest=" .. l.at end
  if l.kind == "chapter" then return l.number .. ".html" end
  if l.kind == "cwsec" then return section_href(l.number) end
  return (page_of[l.name] or fail(line, "no page has %s", l.name)) .. "#" .. l.name
end
local function link(l, text, line)
  local v = volume_name[l.row.folder]
  return string.format('<a href="%s"%s>%s</a>', esc(place_href(l, line)), v and ' class="out" title="in ' .. v .. '"' or "", text)
end
local kinds = { cwsec = { "section", "sections" }, figure = { "Figure", "Figures" }, table = { "Table", "Tables" }, equation = { "Equation", "Equations" },
  exercise = { "exercise", "exercises" }, chapter = { "chapter", "chapters" } }
local function number_key(n) local m, a, b = n:match("^(%a?)(%d+)[.–]?(%d*)"); return m .. string.format("%05d%05d", tonumber(a), tonumber(b) or 0) end
local function cref(names, capital, line)
  local of, order = {}, {}
  for name in names:gmatch("[^,%s]+") do
    local l = labels[name] or fail(line, "no label %s", name)
    if not of[l.kind] then of[l.kind] = {}; order[#order + 1] = l.kind end
    table.insert(of[l.kind], l)
  end
  local parts = {}
  for _, kind in ipairs(order) do
    local list = of[kind]
    table.sort(list, function(a, b) return number_key(a.number) < number_key(b.number) end)
    local word = kinds[kind][#list == 1 and 1 or 2]
    if capital and #parts == 0 then word = word:gsub("^%l", string.upper) end
    local shown = {}
    for i, l in ipairs(list) do
      local n = kind == "equation" and "(" .. l.number .. ")" or l.number
      shown[i] = link(l, i == 1 and word .. "&nbsp;" .. n or n, line)
    end
    local n = #shown
    parts[#parts + 1] = n <= 2 and table.concat(shown, " and ") or table.concat(shown, ", ", 1, n - 1) .. ", and " .. shown[n]
  end
  return table.concat(parts, " and ")
end

-- ---- a scanner over TeX: position, argument, line
local Scan = {}; Scan.__index = Scan
local function scan(s, line) return setmetatable({ s = s, i = 1, base = line }, Scan) end
function Scan:line(i) return self.base and self.base + newlines(self.s, (i or self.i) - 1) end
function Scan:fail(...) fail(self:line(), ...) end
function Scan:braced()                    -- {...}, with \{ and \} no braces
  local depth, j, s = 0, self.i, self.s
  repeat
    local c = s:sub(j, j)
    if c == "" then self:fail("a brace is not closed") end
    if c == "\\" then j = j + 1 elseif c == "{" then depth = depth + 1 elseif c == "}" then depth = depth - 1 end
    j = j + 1
  until depth == 0
  local text, line = s:sub(self.i + 1, j - 2), self:line()
  self.i = j
  return text, line
end
function Scan:arg()
  self.i = self.s:match("^%s*()", self.i)
  if self.s:sub(self.i, self.i) == "{" then return self:braced() end
  local a = self.s:match("^\\%a+", self.i) or self.s:match("^\\.", self.i) or self.s:match("^[%z\1-\127\xC2-\xF4][\x80-\xBF]*", self.i) or self:fail("an argument is missing")
  local line = self:line()
  self.i = self.i + #a
  return a, line
end
function Scan:opt() local o, e = self.s:match("^%[([^%]]*)%]()", self.i); if o then self.i = e end return o end

-- ---- formulas
local greek, upright, sign = {}, {}, {}
for n, c in ("alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ phi φ varphi φ chi χ psi ψ omega ω ell ℓ"):gmatch("(%a+) (%S+)") do greek[n] = "<i>" .. c .. "</i>" end
for n, c in ("Delta Δ Sigma Σ Omega Ω Phi Φ infty ∞ ldots … dots … cdots ⋯ prime ′ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ langle ⟨ rangle ⟩ partial ∂ nabla ∇ forall ∀ exists ∃ colon : vert | Vert ‖ lVert ‖ rVert ‖ lvert | rvert |"):gmatch("(%a+) (%S+)") do greek[n] = c end
for w in ("ln log exp max min sin cos tan tanh erf arg softmax gcd Pr"):gmatch("%a+") do upright[w] = true end
for n, c in ("cdot · times × le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ pm ± in ∈ approx ≈ equiv ≡ to → gets ← rightarrow → leftarrow ← mapsto ↦ ll ≪ gg ≫ propto ∝ mid | sim ∼ oplus ⊕ odot ⊙ circ ∘ cup ∪ cap ∩ subset ⊂ subseteq ⊆ div ÷ Leftrightarrow ⇔ Rightarrow ⇒"):gmatch("(%a+) (%S+)") do sign[n] = c end
local grids = { pmatrix = "()", bmatrix = "[]", vmatrix = "||", matrix = "  ", cases = "{ ", aligned = "  ", array = "  ", split = "  " }
local big = { sum = "∑", prod = "∏", int = "∫", bigcup = "⋃" }
local thin = "&#8239;"
local inline, math, math_fraction         -- below
function math(s, line, display)
  -- {a \over b}: what stands left and right of it
  if s:find("\\over%f[%A]") then
    local p = scan(s, line)
    while p.i <= #s do
      if s:find("^\\over%f[%A]", p.i) then return math_fraction(s:sub(1, p.i - 1), s:sub(p.i + 5), line) end
      if s:find("^{", p.i) then p:braced() elseif s:find("^\\", p.i) then p.i = p.i + 2 else p.i = p.i + 1 end
    end
  end
  local p, o, binary = scan(s, line), {}, false     -- binary: something stands to the left of an operator
  local function put(x) o[#o + 1] = x; binary = true end
  local function operator(c) if binary then o[#o + 1] = thin .. c .. thin else o[#o + 1] = c end; binary = false end
  local function inner() local a, l = p:arg(); return math(a, l, false) end
  while p.i <= #s do
    local c = s:sub(p.i, p.i)
    local name = s:match("^\\(%a+)", p.i)
    if name then
      p.i = p.i + 1 + #name
      p.i = s:match("^%s*()", p.i)
      if greek[name] then put(greek[name])
      elseif upright[name] then
        if binary then o[#o + 1] = thin end
        put(name); if s:find("^[%a\\%d]", p.i) then o[#o + 1] = thin end
        binary = false
      elseif sign[name] then operator(sign[name])
      elseif big[name] then put('<span class="big">' .. big[name] .. "</span>"); binary = false
      elseif name == "frac" or name == "tfrac" or name == "dfrac" then
        local a, l = p:arg(); put(math_fraction(a, p:arg(), l))
      elseif name == "sqrt" then put('√<span class="root">' .. inner() .. "</span>")
      elseif name == "binom" then local a = inner(); put('(<span class="frac binom"><span>' .. a .. '</span><span class="bar"> over </span><span>' .. inner() .. "</span></span>)")
      elseif name == "text" or name == "mbox" or name == "hbox" or name == "textrm" then local a, l = p:arg(); put(inline(a, l))
      elseif name == "mathrm" or name == "operatorname" then put((inner():gsub("</?i>", "")))
      elseif name == "mathbf" then put("<b>" .. inner() .. "</b>")
      elseif name == "mathit" or name == "ensuremath" or name == "given" then put(inner())
      elseif name == "bar" or name == "overline" then put('<span class="root">' .. inner() .. "</span>")
      elseif name == "hat" then put(inner() .. "&#770;")
      elseif name == "tilde" then put(inner() .. "&#771;")
      elseif name == "bigl" or name == "bigr" or name == "Bigl" or name == "Bigr" or name == "left" or name == "right" or name == "big" or name == "Big" then
        local a = p:arg(); if a ~= "." then if a == "\\{" or a == "\\}" then a = a:sub(2) end put(a:find("^\\") and math(a, p:line()) or a) end
        if name:find("l$") or name == "left" then binary = false end
      elseif name == "bmod" or name == "mod" then operator(" mod ")
      elseif name == "quad" or name == "qquad" then o[#o + 1] = "&emsp;"; binary = false
      elseif name == "rm" then local rest = s:sub(p.i); p.i = #s + 1; put((math(rest, line):gsub("</?i>", "")))
      elseif name == "val" or name == "bytes" or name == "tok" or name == "gen" or name == "texttt" then
        local a = p.s:match("^%b[]", p.i) or ""; p.i = p.i + #a
        local b = p:arg(); put(inline("\\" .. name .. a .. "{" .. b .. "}", p:line()))
      elseif grids[name == "begin" and s:match("^{(%a+)", p.i) or ""] then
        local env = p:arg(); if env == "array" then p:arg() end
        local from, e = p.i, s:find("\\end{" .. env .. "}", p.i, true) or p:fail("\\begin{%s} is not closed", env)
        local lines = {}
        for r in (s:sub(from, e - 1) .. "\\\\"):gmatch("(.-)\\\\") do
          local cells = {}
          for c in (r .. "&"):gmatch("(.-)&") do cells[#cells + 1] = "<span>" .. math(c, p:line()) .. "</span>" end
          if r:find("%S") then lines[#lines + 1] = '<span class="row">' .. table.concat(cells) .. "</span>" end
        end
        p.i = e + #env + 6
        put(grids[env]:sub(1, 1) .. '<span class="grid">' .. table.concat(lines) .. "</span>" .. grids[env]:sub(2))
      elseif name == "phantom" then put('<span class="phantom">' .. inner() .. "</span>")
      elseif name == "underbrace" then put('<span class="under">' .. inner() .. "</span>")
      elseif name == "mathsf" or name == "mathtt" then put('<span class="sans">' .. inner():gsub("</?i>", "") .. "</span>")
      elseif name == "label" then p:arg()
      elseif name == "limits" or name == "displaystyle" or name == "nolimits" or name == "textstyle" then -- places, no signs
      else p:fail("\\%s has no meaning in a formula (tools/html.lua)", name) end
    elseif c == "\\" then
      local d = s:sub(p.i + 1, p.i + 1)
      p.i = p.i + 2
      if d == "," or d == ";" or d == ":" or d == " " or d == ">" then o[#o + 1] = thin
      elseif d == "!" then -- closer
      elseif d == "{" then put("{"); binary = false
      elseif d == "}" or d == "%" or d == "_" or d == "#" or d == "&" or d == "|" then put(d == "|" and "‖" or esc(d))
      elseif d == "\\" then o[#o + 1] = "<br>"; p:opt(); binary = false
      else p.i = p.i - 2; p:fail("\\%s has no meaning in a formula (tools/html.lua)", d) end
    elseif c == "^" or c == "_" then
      p.i = p.i + 1
      local x = inner()
      put((c == "^" and "<sup>" or "<sub>") .. x .. (c == "^" and "</sup>" or "</sub>"))
    elseif c == "{" then
      local a, l = p:braced()
      if a ~= "" then put(math(a, l)) else binary = true end
    elseif c == "|" and s:find("^|[%a_][%w_>.%-%[%]]*|", p.i) then    -- the web's |name|
      local a, e = s:match("^|(.-)|()", p.i); put("<code>" .. esc(a) .. "</code>"); p.i = e
    else
      local u = s:match("^[%z\1-\127\xC2-\xF4][\x80-\xBF]*", p.i)
      p.i = p.i + #u
      if u:find("^%a$") then put("<i>" .. u .. "</i>")
      elseif u == "+" or u == "=" or u == "<" or u == ">" then operator(esc(u))
      elseif u == "-" then operator("−")
      elseif u == "*" then operator("∗")
      elseif u == "," or u == ";" then o[#o + 1] = u .. (s:find("^%s*%d", p.i) and s:find("%d$") and "" or thin); binary = false
      elseif u == "'" then put("′")
      elseif u == "~" then o[#o + 1] = "&nbsp;"
      elseif u == "&" then o[#o + 1] = " "
      elseif u == "(" or u == "[" then put(u); binary = false
      elseif not u:find("%s") then put(u) end
    end
  end
  return table.concat(o)
end

function math_fraction(a, b, line) return '<span class="frac"><span>' .. math(a, line) .. '</span><span class="bar">/</span><span>' .. math(b, line) .. "</span></span>" end

-- ---- C: keywords, comments, strings, names of sections
local keyword, type_name = {}, {}
for w in ("auto break case const continue default do else enum extern for goto if inline register restrict return sizeof static struct switch typedef union volatile while"):gmatch("%a+") do keyword[w] = true end
for w in ("void char short int long float double signed unsigned bool size_t ssize_t FILE uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uintptr_t va_list _Atomic _Bool"):gmatch("[%w_]+") do type_name[w] = true end
local web, sec                            -- the web and the section that are being set
local function word(w)
  if keyword[w] then return "<b>" .. w .. "</b>" end
  if type_name[w] then return '<b class="t">' .. w .. "</b>" end
  local to = sec and sec.names[w]
  if to and to ~= sec.number then return string.format('<a class="id" href="%s" title="%s">%s</a>', section_href(to), to, w) end
  return w
end
local function full(n, line)
  n = squeeze(n)
  if not n:find("%.%.%.$") then return n end
  local found
  for _, k in ipairs(web.order) do if k:sub(1, #n - 3) == n:sub(1, -4) then found = k end end
  return found or fail(line, "<%s> is short for nothing", n)
end
local function section_name(n, line, no_link)
  n = full(n, line)
  local d = web.defined[n] or fail(line, "<%s> is used and not defined", n)
  local text = "⟨" .. inline(n, line) .. ' <span class="n">' .. d[1].number .. "</span>⟩"
  return no_link and '<span class="name">' .. text .. "</span>" or string.format('<a class="name" href="%s">%s</a>', section_href(d[1].number), text)
end
local anchors = {}                        -- of keys, by position in the file: "web:offset" -> list of ids
local function code(s, line, offset)      -- offset: where s begins in the web, for anchors; nil for |code| in prose
  local o, i, ends = {}, 1, #s
  local function put(x) o[#o + 1] = x end
  local function now(j) return line + newlines(s, (j or i) - 1) end
  while i <= ends do
    local c, two = s:sub(i, i), s:sub(i, i + 1)
    if two == "/*" then
      local e = s:find("*/", i + 2, true) or fail(now(), "a comment is not closed")
      put('<span class="c">/*' .. inline(s:sub(i + 2, e - 1), now(), true) .. "*/</span>"); i = e + 2
    elseif c == '"' or c == "'" then
      local j = i + 1
      while s:sub(j, j) ~= c do j = j + (s:sub(j, j) == "\\" and 2 or 1); if j > ends then fail(now(), "a string is not closed") end end
      for _, id in ipairs(offset and anchors[offset + i - 1] or {}) do put('<a class="key" id="' .. id .. '"></a>') end
      put('<span class="s">' .. esc((s:sub(i, j):gsub("@@", "@"))) .. "</span>"); i = j + 1
    elseif two == "@@" then put("@"); i = i + 2
    elseif two == "@<" then
      local e = s:find("@>", i, true) or fail(now(), "a name is not closed")
      put(section_name(s:sub(i + 2, e - 1), now())); i = e + 2
    elseif two:find("^@[%^.:]") then i = (s:find("@>", i, true) or fail(now(), "an entry of the index is not closed")) + 2; put("\5")
    elseif two == "@#" then put("\6"); i = i + 2
    elseif two:find("^@[%[%];,|/+&%s]") then put("\5"); i = i + 2
    elseif c == "@" then fail(now(), "the control code %s is not known here", two)
    elseif c == "#" and s:sub(1, i - 1):find("^[ \t\5\6]*$") or s:sub(1, i - 1):find("\n[ \t\5\6]*$") and c == "#" then
      local d = s:match("^#%s*%a+", i)
      put('<span class="p">' .. d .. "</span>"); i = i + #d
      local file = d == "#include" and s:match("^%s*<[^>\n]*>", i)
      if file then put('<span class="s">' .. esc(file) .. "</span>"); i = i + #file end
    else
      local w = s:match("^[%a_][%w_]*", i)
      if w then
        for _, id in ipairs(offset and anchors[offset + i - 1] or {}) do put('<a class="key" id="' .. id .. '"></a>') end
        put(word(w)); i = i + #w
      else
        local number = s:match("^%d[%w.]*", i)
        if number then put(number); i = i + #number else put(esc(c)); i = i + 1 end
      end
    end
  end
  local text = table.concat(o)
  if not offset then return (text:gsub("[\5\6]", "")) end
  -- a line that had only control codes goes; @# leaves an empty one
  local lines = {}
  for l in (text:gsub("^[ \t]*\n", "") .. "\n"):gmatch("(.-)\n") do
    if l:find("[\5\6]") then
      local nothing, empty = not l:gsub("[\5\6]", ""):find("%S"), l:find("\6") ~= nil
      l = l:gsub("([ \t])[\5\6]+[ \t]+", "%1"):gsub("[\5\6]", "")
      if nothing then l = empty and "" or nil elseif empty then lines[#lines + 1] = l; l = "" end
    end
    if l then lines[#lines + 1] = (l:gsub("[ \t]+$", "")) end
  end
  while lines[1] == "" do table.remove(lines, 1) end
  while lines[#lines] == "" do table.remove(lines) end
  return table.concat(lines, "\n"), #lines
end

-- ---- prose
local verdicts = { holds = { "✓", "holds" }, rounded = { "≈", "holds, rounded" }, offbyone = { "±1", "off by one" }, misleading = { "∼", "misleading" },
  wrong = { "×", "wrong" }, ambiguous = { "?", "ambiguous" }, untested = { "–", "not tested here" }, tocome = { "…", "to come" } }
local blocks
local pictures, figure_page = {}, {}       -- files of the pictures that a page shows; pages of build/figures.pdf
local function badge(v, line)
  local w = verdicts[v] or fail(line, "no verdict %s", v)
  return '<span class="verdict ' .. v .. '"><span class="mark">' .. w[1] .. "</span> " .. w[2] .. "</span>"
end
-- a page of build/figures.pdf: drawn with lines, or, where there are too many of them, with dots
local function picture(file, alt)
  if not pictures[file] then
    if not next(pictures) then for name, n in need("build/figures.pages"):gmatch("\\incipitpage{(.-)}{(%d+)}") do figure_page[name] = n end end
    local base = OUT .. "/figures/" .. file
    local function age(f) return lfs.attributes(f, "modification") or 0 end
    local function draw(options) 
      local n = figure_page[file] or fail(nil, "build/figures.pages has no %s", file)
      if not os.execute(string.format("pdftocairo %s -f %s -l %s build/figures.pdf '%s'", options, n, n, base .. (options == "-svg" and ".svg" or ""))) then
        fail(nil, "pdftocairo (poppler-utils) does not draw %s", file) end
    end
    local pdf = age "build/figures.pdf"
    if age(base .. ".svg") < pdf and age(base .. ".png") < pdf then
      draw "-svg"
      if lfs.attributes(base .. ".svg", "size") > MANY then os.remove(base .. ".svg"); draw "-png -r 220 -singlefile" else os.remove(base .. ".png") end
    end
    pictures[file] = file .. (lfs.attributes(base .. ".svg") and ".svg" or ".png")
  end
  local png = pictures[file]:find("png$")
  return '<img src="figures/' .. pictures[file] .. '" alt="' .. esc(alt) .. '"' .. (png and ' class="dots"' or "") .. ' loading="lazy">'
end
local function caption(label, text, line)
  local l = labels[label] or fail(line, "no label %s", label)
  return '<span class="capno">' .. kinds[l.kind][1] .. " " .. l.number .. "</span> " .. inline(text, line)
end
-- macros within a line: each takes the scanner and gives HTML
local M = {}
for name, text in pairs { textvisiblespace = "␣", dots = "…", ldots = "…", textemdash = "—", textendash = "–", TeX = "TeX", LaTeX = "LaTeX", textbar = "|", textless = "&lt;",
  textgreater = "&gt;", textquotedbl = "&quot;", textbackslash = "\\", textasciitilde = "~", textasciicircum = "^", textasciigrave = "`", textquotesingle = "'", quad = "&emsp;",
  nobreakspace = "&nbsp;", enspace = "&ensp;", textperiodcentered = "·", S = "§", ourrun = '<span class="label">Our run</span> ', slash = "/", textunderscore = "_", textonehalf = "½", ss = "ß" } do
  M[name] = function(p) p.i = p.s:match("^%s*()", p.i); if p.s:sub(p.i, p.i + 1) == "{}" then p.i = p.i + 2 end return text end
end
for name, tag in pairs { emph = "em", textit = "em", textbf = "strong", textsuperscript = "sup", textsubscript = "sub", caps = "span", textsc = "span", textsf = "span" } do
  M[name] = function(p) local a, l = p:arg(); return (tag == "span" and '<span class="sc">' or "<" .. tag .. ">") .. inline(a, l) .. "</" .. tag .. ">" end
end
for _, name in ipairs { "mbox", "hbox", "textrm", "text", "textnormal" } do M[name] = function(p) local a, l = p:arg(); return '<span class="mbox">' .. inline(a, l) .. "</span>" end end
for _, name in ipairs { "texttt", "typed" } do M[name] = function(p) local a, l = p:arg(); return "<code>" .. inline(a, l) .. "</code>" end end
for _, name in ipairs { "noindent", "ignorespaces", "unskip", "leavevmode", "nobreak", "allowbreak", "linebreak", "sloppy", "raggedright", "small", "footnotesize", "centering", "relax", "hfill", "frenchspacing", "itshape", "bfseries", "strut" } do
  M[name] = function(p) p.i = p.s:match("^[ \t]*()", p.i); return "" end
end
function M.tok(p) local a, l = p:arg(); return '<span class="tok">' .. inline((a:gsub("\\ ", "\\textvisiblespace{}")), l) .. "</span>" end
function M.gen(p) local a, l = p:arg(); return '<span class="tok gen">' .. inline((a:gsub("\\ ", "\\textvisiblespace{}")), l) .. "</span>" end
function M.piece(p)
  local a, o = p:arg(), {}
  for t in a:gsub("\\textvisiblespace%s*\\ ", "\\textvisiblespace{} "):gmatch("%S+") do o[#o + 1] = '<span class="tok">' .. inline(t, p:line()) .. "</span>" end
  return table.concat(o)
end
local function number_of(key, shown)
  key = key:gsub("%s", "")
  local home = values[key] and values[key].anchor
  return home and string.format('<a class="val" href="%s#key-%s" title="%s">%s</a>', home, key, key, shown) or '<span class="val" title="' .. esc(key) .. '">' .. shown .. "</span>"
end
function M.val(p) local o, l = p:opt(), p:line(); local key = p:arg(); return number_of(key, inline(spoken(l, incipit.val, key, o), l)) end
function M.bytes(p) local l = p:line(); local key = p:arg(); return number_of(key, inline(spoken(l, incipit.bytes, key), l)) end
function M.given(p) local a, l = p:arg(); return '<span class="given">' .. inline(a, l) .. "</span>" end
function M.rawval(p) local l = p:line(); return inline(spoken(l, incipit.raw, (p:arg())), l) end
function M.rawtext(p) return esc(raw[tonumber((p:arg()))]) end
function M.cref(p) local l = p:line(); return cref(p:arg(), false, l) end
function M.Cref(p) local l = p:line(); return cref(p:arg(), true, l) end
function M.ref(p) local l = p:line(); local a = p:arg(); return link(labels[a] or fail(l, "no label %s", a), labels[a].number, l) end
function M.sign(p) local a, l = p:arg(); return '<span class="tok">&lt;|' .. inline(a, l) .. '|&gt;</span>' end
-- \cited{Aho 1975; Gage 1994} in brackets, \cited[words]{Aho 1975} as words: links to the bibliography of the book
function M.cited(p)
  local words, l = p:opt(), p:line()
  local list = p:arg()
  local function to(key, text) return '<a class="out" title="in the book" href="../incipit.pdf#nameddest=source.' .. key:gsub(" ", "%%20") .. '">' .. inline(text, l) .. "</a>" end
  if words then return to(squeeze(list), words) end
  local o = {}
  for key in list:gmatch("[^;]+") do key = squeeze(key); o[#o + 1] = to(key, key) end
  return "[" .. table.concat(o, "; ") .. "]"
end
function M.kern(p) p.i = p.s:match("^%s*%-?[%d.]+%a%a()", p.i) or p:fail("\\kern without a length"); return "" end
M.labelcref = M.ref
function M.eqref(p) local l = p:line(); local a = p:arg(); return link(labels[a] or fail(l, "no label %s", a), "(" .. labels[a].number .. ")", l) end
function M.nameref(p) local l = p:line(); local a = p:arg(); return link(labels[a] or fail(l, "no label %s", a), labels[a].row.title, l) end
function M.label(p) local l = p:line(); local a = p:arg(); if not labels[a] then fail(l, "no label %s in build/labels.tex", a) end return '<a id="' .. esc(a) .. '"></a>' end
function M.url(p) local a = p:arg(); return '<a href="' .. esc(a) .. '">' .. esc(a) .. "</a>" end
function M.href(p) local a = p:arg(); local b, l = p:arg(); return '<a href="' .. esc(a) .. '">' .. inline(b, l) .. "</a>" end
function M.ensuremath(p) local a, l = p:arg(); return '<span class="math">' .. math(a, l) .. "</span>" end
function M.side(p) local a, l = p:arg(); return '<span class="side">' .. inline(a, l) .. "</span>" end
M.footnote = M.side
function M.lab(p) local l = p:line(); return '<span class="side">measured in ' .. cref(p:arg(), false, l) .. "</span>" end
function M.incipit(p) local a = p:arg(); local b, l = p:arg(); return '<span class="initial">' .. a .. '</span><span class="sc">' .. inline(b, l) .. "</span>" end
function M.tabhead(p) local a, l = p:arg(); return '<span class="tabhead">' .. inline(a, l) .. "</span>" end
function M.char(p) local n, e = p.s:match("^(%d+)%s?()", p.i); if not n then p:fail("\\char without a number") end p.i = e; return esc(utf8.char(tonumber(n))) end
function M.color(p) p:arg(); return "" end
M.hspace = function(p) p.i = p.s:match("^%*?()", p.i); p:arg(); return " " end
function M.verdict(p) local l = p:line(); return badge(p:arg(), l) end
function M.sidefig(p) local f = p:arg(); local label, l = p:arg(); local c, cl = p:arg(); local alt = p:arg()
  return '<span class="side" id="' .. label .. '">' .. picture(f, bare(inline(alt, cl))) .. caption(label, c, cl) .. "</span>" end

-- macros that are, or end, a paragraph: each takes the scanner and gives a block of HTML ("" only ends the paragraph)
local B = {}
for _, name in ipairs { "par", "medskip", "smallskip", "bigskip", "clearpage", "newpage" } do B[name] = function(p) p.i = p.s:match("^%s*()", p.i); return "" end end
B.cwebneed = function(p) p:arg(); return "" end
B.vskip = function(p) p.i = p.s:match("^%s*%-?[%d.]+%a+()", p.i) or p:fail("\\vskip without a length"); return "" end
B.addvspace, B.vspace = B.cwebneed, B.cwebneed
local function figure(p)
  p:opt()
  local f = p:arg(); local label = p:arg(); local c, cl = p:arg(); local alt, al = p:arg()
  return '<figure id="' .. label .. '">' .. picture(f, bare(inline(alt, al))) .. "<figcaption>" .. caption(label, c, cl) .. "</figcaption></figure>"
end
B.fig, B.widefig, B.herefig = figure, figure, figure
function B.tabcaption(p) local label = p:arg(); local c, l = p:arg(); return '<p class="tabcaption" id="' .. label .. '">' .. caption(label, c, l) .. "</p>" end
function B.quoted(p) local a, l = p:arg(); return '<blockquote>“' .. inline(a, l) .. "”</blockquote>" end
local function tutorial(verdict, ids, body, line)
  local marks = {}
  for id in ids:gmatch("S%d%-%d+") do marks[#marks + 1] = '<a id="' .. id .. '"></a>' end
  return '<aside class="tutorial ' .. verdict .. '">' .. table.concat(marks) .. '<p class="boxhead"><span class="label">What the tutorials say</span> <span class="ids">' .. esc(ids) .. "</span> "
    .. badge(verdict, line) .. "</p>" .. body .. "</aside>"
end
local function listing(title, text, line)
  local o = {}
  for kind, l in text:gmatch("\\(cp%a+)(%b{})") do
    l = l:sub(2, -2); l = l == "~" and "" or inline(l, line)
    o[#o + 1] = kind == "cpcommand" and "<b>" .. l .. "</b>" or l
  end
  return '<div class="checkpoint"><p class="boxhead">' .. title .. "</p><pre>" .. table.concat(o, "\n") .. "</pre></div>"
end
local function checkpoint(p)
  local o, l = p:opt(), p:line()
  local first, last = (o or "1,1000"):match("(%d+)%s*,%s*(%d+)")
  local f = p:arg(); local t, tl = p:arg()
  return listing('<span class="label">Checkpoint</span> ' .. inline(t, tl), spoken(l, incipit.listing, f, tonumber(first), tonumber(last), 88), l)
end
B.checkpoint, B.widecheckpoint = checkpoint, checkpoint
function B.excerpt(p) local l = p:line(); local f = p:arg(); local n = p:arg(); local t, tl = p:arg()
  return listing('<span class="label">Excerpt</span> ' .. inline(t, tl), spoken(l, incipit.excerpt, f, n, 88), l) end
function B.claim(p)
  local l = p:line(); local ids = p:arg()
  spoken(l, incipit.claim, ids)
  local v, q, ours = macro.claimverdict, macro.claimquote, macro.claimours
  return tutorial(v, ids, "<blockquote>“" .. inline(q, l) .. '”</blockquote><p><span class="label">' .. macro.claimlabel .. "</span> " .. inline(ours, l) .. "</p>", l)
end
B["chapter*"] = function(p) local a, l = p:arg(); return "<h2>" .. inline(a, l) .. "</h2>" end
function B.markboth(p) p:arg(); p:arg(); return "" end
function B.addcontentsline(p) p:arg(); p:arg(); p:arg(); return "" end

-- the rows of a table: cells between &, rows between \\, neither in braces, code or a formula
local function rows(s, line, spec)
  spec = spec:gsub("@@", "@"):gsub("[@!><]%b{}", ""):gsub("p%b{}", "l"):gsub("[^lcrX]", "")
  local p, list, row, from = scan(s, line), {}, {}, 1
  local function cell() row[#row + 1] = { s:sub(from, p.i - 1), p:line(from) } end
  while p.i <= #s do
    local c = s:sub(p.i, p.i)
    if s:find("^\\\\", p.i) then cell(); p.i = p.i + 2; p:opt(); from = p.i; list[#list + 1] = row; row = {}
    elseif c == "\\" then p.i = p.i + 2
    elseif c == "{" then p:braced()
    elseif c == "$" or c == "|" then p.i = (s:find(c, p.i + 1, true) or p:fail("%s is not closed", c)) + 1
    elseif c == "&" then cell(); p.i = p.i + 1; from = p.i
    else p.i = p.i + 1 end
  end
  if s:sub(from):find("%S") or #row > 0 then cell(); list[#list + 1] = row end
  local o = {}
  for _, r in ipairs(list) do
    local cells, column, rule, nothing = {}, 0, "", true
    for _, c in ipairs(r) do
      local t, l, wide, how = c[1], c[2], 1, nil
      t = t:gsub("\\%a*rule%s*%b()%s*%b{}", ""):gsub("\\cmidrule%s*%b{}", ""):gsub("\\addlinespace%s*%b[]", ""):gsub("\\addlinespace", "")
      t = t:gsub("\\(%a+rule)%f[%A]", function() rule = ' class="rule"'; return "" end)
      local before, a, e = t:match("^(%s*)\\multicolumn()%f[%A]()")
      if a then
        local q = scan(t, l); q.i = a
        wide = tonumber((q:arg())); how = q:arg():match("[lcr]"); t = q:arg()
      end
      how = how or spec:sub(column + 1, column + 1)
      column = column + wide
      local html = inline(squeeze(t), l)
      if html ~= "" then nothing = false end
      local head = html:match('^<span class="tabhead">.*</span>$')
      cells[#cells + 1] = string.format("<%s%s%s>%s</%s>", head and "th" or "td", wide > 1 and ' colspan="' .. wide .. '"' or "", (how == "r" or how == "c") and ' class="' .. how .. '"' or "", html, head and "th" or "td")
    end
    if not nothing then o[#o + 1] = "<tr" .. rule .. ">" .. table.concat(cells) .. "</tr>" end
  end
  return '<div class="tablebox"><table>' .. table.concat(o, "\n") .. "</table></div>"
end
-- environments: body, its line, and the scanner for arguments
local E = {}
E.tabular = function(p) p:opt(); local spec = p:arg(); return function(b, l) return rows(b, l, spec) end end
E["tabular*"] = function(p) p:arg(); local spec = p:arg(); return function(b, l) return rows(b, l, spec) end end
E.tabularx = E["tabular*"]
E.table = function(p) p:opt(); return function(b, l) return '<div class="table">' .. blocks(b, l) .. "</div>" end end
E.center = function() return function(b, l) return '<div class="center">' .. blocks(b, l) .. "</div>" end end
E.quote = function() return function(b, l) return "<blockquote>" .. blocks(b, l) .. "</blockquote>" end end
local function items(tag)
  return function(p) p:opt(); return function(b, l)
    local o, at, depth = {}, nil, 0
    for a, name, e in b:gmatch("()\\(%a+)()") do
      if name == "begin" then depth = depth + 1 elseif name == "end" then depth = depth - 1
      elseif name == "item" and depth == 0 then
        if at then o[#o + 1] = { b:sub(at, a - 1), l + newlines(b, at) } end
        at = e
      end
    end
    if not at then fail(l, "a list has no \\item") end
    o[#o + 1] = { b:sub(at), l + newlines(b, at) }
    for i, x in ipairs(o) do
      local term, rest = x[1]:match("^%s*%[(.-)%](.*)$")
      local html = blocks(rest or x[1], x[2])
      html = html:gsub("^<p>(.-)</p>$", "%1")
      o[i] = "<li>" .. (term and "<strong>" .. inline(term, x[2]) .. "</strong> " or "") .. html .. "</li>"
    end
    return "<" .. tag .. ">" .. table.concat(o, "\n") .. "</" .. tag .. ">"
  end end
end
E.itemize, E.enumerate, E.description = items "ul", items "ol", items "ul"
local function display(b, l)
  local label = b:match("\\label{([^}]*)}")
  local number = label and '<span class="eqno">(' .. (labels[label] or fail(l, "no label %s", label)).number .. ")</span>" or ""
  return '<div class="display"' .. (label and ' id="' .. label .. '"' or "") .. '><span class="math">' .. math(b, l, true) .. "</span>" .. number .. "</div>"
end
E.equation = function() return display end
E["equation*"], E.align, E["align*"], E.displaymath = E.equation, E.equation, E.equation, E.equation
E["gather*"], E.gather = E.equation, E.equation
E.tutorial = function(p) local v = p:arg(); local ids = p:arg(); return function(b, l) return tutorial(v, ids, blocks(b, l), l) end end
E.claimed = function(p)
  local line = p:line(); local ids = p:arg()
  spoken(line, incipit.claim, ids)
  local v, q, label = macro.claimverdict, macro.claimquote, macro.claimlabel
  return function(b, l)
    local text = blocks("\\ourrun " .. b:gsub("^%s+", ""), l):gsub("Our run", label, 1)
    return tutorial(v, ids, "<blockquote>“" .. inline(q, line) .. "”</blockquote>" .. text, l)
  end
end
E.aside = function(p) local t, tl = p:arg(); return function(b, l) return '<aside class="aside"><p class="boxhead"><span class="label">Aside</span> <em>' .. inline(t, tl) .. ".</em></p>" .. blocks(b, l) .. "</aside>" end end
E.byhand = function(p) local t, tl = p:arg(); return function(b, l) return '<aside class="byhand"><p class="boxhead"><span class="label">Worked by hand</span> <em>' .. inline(t, tl) .. "</em></p>" .. blocks(b, l) .. "</aside>" end end
E.verbatim = function() return function(b) return "<pre>" .. esc((b:gsub("^\n", ""):gsub("@@", "@"))) .. "</pre>" end end

-- the prose of a section, or a piece of it.  Within blocks() an empty line ends a paragraph.
local function set(s, line, block, comment)
  local p, list, cur = scan(s, line), {}, {}
  local function put(x) cur[#cur + 1] = x end
  local function flush()
    local t = table.concat(cur); cur = {}
    local text = t:gsub("^%s+", ""):gsub("%s+$", "")
    if not text:gsub("<a id=[^>]*></a>", ""):find("%S") then
      if text ~= "" then list[#list + 1] = text end
      return
    end
    list[#list + 1] = "<p>" .. text .. "</p>"
  end
  local function add(html) if not block then p:fail("a block within a line") end flush(); if html ~= "" then list[#list + 1] = html end end
  while p.i <= #s do
    local plain = s:match("^[^\\{}$|@`'~%-%%&<>\"\n]+", p.i)
    local c, name = s:sub(p.i, p.i), s:match("^\\(%a+%*?)", p.i)
    if plain then put(plain); p.i = p.i + #plain
    elseif name then
      local star = name:sub(-1) == "*"
      if star and not (B[name] or M[name]) then name = name:sub(1, -2) end
      local start = p.i
      p.i = p.i + 1 + #name
      if name == "begin" then
        local env = p:arg()
        local f = E[env] or fail(p:line(start), "the environment %s has no meaning in tools/html.lua", env)
        local set_body = f(p)
        local depth, from, at, b_end = 1, p.i, p.i, nil
        while depth > 0 do
          local a, what, e = s:match("()\\(%a+){" .. env:gsub("%*", "%%*") .. "}()", at)
          if not a then fail(p:line(start), "\\begin{%s} is not closed", env) end
          depth = depth + (what == "begin" and 1 or what == "end" and -1 or 0)
          at, b_end = e, a
        end
        local body, l = s:sub(from, b_end - 1), p:line(from)
        p.i = at
        add(set_body(body, l))
      elseif B[name] then add(B[name](p))
      elseif M[name] then
        put(M[name](p))
        if p.s:sub(start + 1 + #name, start + 1 + #name):find("[ \t]") and p.i == start + 1 + #name then p.i = s:match("^[ \t]*()", p.i) end
      else p.i = start; p:fail("\\%s has no meaning in tools/html.lua", name) end
    elseif c == "\\" then
      local d = s:sub(p.i + 1, p.i + 1)
      if d == "." then
        p.i = p.i + 2
        local a = p:arg()
        put("<code>" .. esc((a:gsub("\\(.)", "%1"):gsub("~", " "):gsub("@@", "@"))) .. "</code>")
      elseif d == "[" then
        local e = s:find("\\]", p.i, true) or p:fail("\\[ is not closed")
        add(display(s:sub(p.i + 2, e - 1), p:line())); p.i = e + 2
      else
        local accent = ({ ["'"] = "\u{301}", ["`"] = "\u{300}", ['"'] = "\u{308}", ["^"] = "\u{302}", ["~"] = "\u{303}" })[d]
        local letter, after = s:match("^{?(%a)}?()", p.i + 2)
        if accent and letter and not comment then put(letter .. accent); p.i = after - 2; d = "@" end
        local t = ({ [" "] = " ", ["\n"] = " ", [","] = thin, [";"] = thin, ["-"] = "&shy;", ["/"] = "", ["@"] = "" })[d] or d:find("^[%%&_#${}]$") and esc(d)
        if d == "\\" and not comment then t = "<br>" elseif d == "\\" then t = "\\" end
        put(t or p:fail("\\%s has no meaning in tools/html.lua", d)); p.i = p.i + 2
      end
    elseif c == "{" then
      local a, l = p:braced()
      local style, rest = a:match("^\\(%a+)%s*(.*)$")
      if style == "itshape" or style == "em" or style == "it" then put("<em>" .. inline(rest, l) .. "</em>")
      elseif style == "bfseries" or style == "bf" then put("<strong>" .. inline(rest, l) .. "</strong>")
      elseif style == "ttfamily" or style == "tt" then put("<code>" .. inline(rest, l) .. "</code>")
      else put(inline(a, l)) end
    elseif c == "}" then p:fail("a brace too many")
    elseif s:find("^%$%$", p.i) then
      local e = s:find("$$", p.i + 2, true) or p:fail("$$ is not closed")
      add(display(s:sub(p.i + 2, e - 1), p:line())); p.i = e + 2
    elseif c == "$" then
      local e = s:find("$", p.i + 1, true) or p:fail("$ is not closed")
      put('<span class="math">' .. math(s:sub(p.i + 1, e - 1), p:line()) .. "</span>"); p.i = e + 1
    elseif c == "|" then
      local j = p.i + 1
      while s:sub(j, j) ~= "|" do
        local q = s:sub(j, j)
        if q == "" then p:fail("| is not closed") end
        if q == '"' or q == "'" then
          j = j + 1
          while s:sub(j, j) ~= q do j = j + (s:sub(j, j) == "\\" and 2 or 1); if j > #s then p:fail("| is not closed") end end
        end
        j = j + 1
      end
      put("<code>" .. code(s:sub(p.i + 1, j - 1), p:line() or 0) .. "</code>"); p.i = j + 1
    elseif c == "@" then
      local d = s:sub(p.i + 1, p.i + 1)
      if d == "@" then put("@"); p.i = p.i + 2
      elseif d == "<" then
        local e = s:find("@>", p.i, true) or p:fail("a name is not closed")
        put(section_name(s:sub(p.i + 2, e - 1), p:line())); p.i = e + 2
      elseif d:find("[%^.:]") then p.i = (s:find("@>", p.i, true) or p:fail("an entry of the index is not closed")) + 2
      else p:fail("@%s has no meaning in prose", d) end
    elseif c == "%" then p.i = s:match("^%%[^\n]*\n?[ \t]*()", p.i)
    elseif c == "\n" then
      local blank = s:match("^\n[ \t]*\n%s*()", p.i)
      if blank and block then flush(); p.i = blank else put("\n"); p.i = p.i + 1 end
    elseif s:find("^``", p.i) then put("“"); p.i = p.i + 2
    elseif s:find("^''", p.i) then put("”"); p.i = p.i + 2
    elseif s:find("^%-%-%-", p.i) then put("—"); p.i = p.i + 3
    elseif s:find("^%-%-", p.i) then put("–"); p.i = p.i + 2
    else
      put(({ ["`"] = "‘", ["'"] = "’", ["~"] = "&nbsp;" })[c] or esc(c)); p.i = p.i + 1
    end
  end
  if not block then return table.concat(cur) end
  flush()
  return table.concat(list, "\n")
end
function inline(s, line, comment) return set(s, line, false, comment) end
function blocks(s, line) return set(s, line, true) end

-- ---- the webs: sections with prose and code
local function read(row)
  here = row.web
  local s = "\n" .. need(row.web)
  local w = { row = row, sections = {}, defined = {}, order = {}, used = {}, groups = {}, text = s }
  local starts = {}
  for a in s:gmatch("\n()@[ *\n\t]") do starts[#starts + 1] = a end
  -- before the first section: formats, the chapter's question
  local limbo = s:sub(1, starts[1] - 1):gsub("\n@[sif] [^\n]*", "\n"):gsub("\n@i [^\n]*", "\n")
  w.question = limbo:match("\\chapterquestion(%b{})") or fail(1, "asks no question")
  limbo = limbo:gsub("\\chapterquestion%b{}", ""):gsub("\n%%[^\n]*", "")
  if limbo:find("%S") then fail(1, "before the first section stands: %s", squeeze(limbo):sub(1, 60)) end
  local _, lines = s:gsub("\n", "\n"); w.lines = lines
  for k, a in ipairs(starts) do
    local body, z = s:sub(a, (starts[k + 1] or #s + 1) - 1), {}
    local line = newlines(s, a - 1)               -- the text begins with a newline of ours
    z.number, z.n, z.line, z.names, z.web = row.shown .. "." .. k, k, line, {}, w
    local i = 2
    local star, depth = body:match("^@(%*)(%**%d*)")
    if star then
      z.depth = depth == "*" and 0 or 1 + (tonumber(depth) or 0)
      i = 3 + #depth
      local dot = scan(body, line); dot.i = i
      while body:sub(dot.i, dot.i) ~= "." do
        local c = body:sub(dot.i, dot.i)
        if c == "" then fail(line, "a title has no end") elseif c == "{" then dot:braced() else dot.i = dot.i + 1 end
      end
      z.title, i = squeeze(body:sub(i, dot.i - 1)), dot.i + 1
    end
    -- prose up to @<name@>=, @(file@>=, @c or a definition
    local at, prose_end, code_from = i, #body + 1, nil
    while true do
      local b, e, sign = body:find("@([@<(cpdfs^.:])", at)
      if not b then break end
      if (sign == "c" or sign == "p") and body:find("^%s", e + 1) then
        z.kind, prose_end, code_from = "program", b, e + 1; break
      elseif (sign == "d" or sign == "f" or sign == "s") and body:find("^%s", e + 1) then fail(line + newlines(body, b), "@%s within a section has no meaning in tools/html.lua", sign)
      elseif sign == "<" or sign == "(" or sign == "^" or sign == "." or sign == ":" then
        local c, f = body:find("@>", e, true)
        if not c then fail(line + newlines(body, b), "a control text is not closed") end
        local g = body:match("^%s*%+?=()", f + 1)
        if (sign == "<" or sign == "(") and g then
          z.kind, z.name, prose_end, code_from = sign == "<" and "section" or "file", squeeze(body:sub(e + 1, c - 1)), b, g; break
        end
        at = f + 1
      else at = e + 1 end
    end
    z.prose, z.prose_line = body:sub(i, prose_end - 1), line + newlines(body, i - 1)
    if code_from then z.code, z.code_line, z.code_at = body:sub(code_from), line + newlines(body, code_from - 1), a + code_from - 1 end
    w.sections[k] = z
    if z.depth and z.depth <= 1 then w.groups[#w.groups + 1] = z; z.members = {} end
    table.insert(w.groups[#w.groups].members, z)
    z.group = w.groups[#w.groups]
  end
  for n in s:gmatch("@<(.-)@>") do n = squeeze(n); if not n:find("%.%.%.$") and not w.order[n] then w.order[n] = true; table.insert(w.order, n) end end
  web = w
  for _, z in ipairs(w.sections) do
    if z.kind == "section" then
      z.name = full(z.name, z.line)
      w.defined[z.name] = w.defined[z.name] or {}
      table.insert(w.defined[z.name], z)
    end
  end
  for _, z in ipairs(w.sections) do
    for n in (z.code or ""):gmatch("@<(.-)@>") do
      n = full(n, z.line)
      w.used[n] = w.used[n] or {}
      if w.used[n][#w.used[n]] ~= z then table.insert(w.used[n], z) end
    end
  end
  return w
end
local webs = {}
for _, row in ipairs(book) do if row.folder == "laboratory" then webs[#webs + 1] = read(row) end end
table.sort(webs, function(a, b) return a.row.number < b.row.number end)

-- pages: a web, or its opening and a page a group
for _, w in ipairs(webs) do
  here = w.row.web
  w.file = w.row.shown .. ".html"
  w.split = w.lines > LONG and #w.groups > 2
  for k, g in ipairs(w.groups) do
    local label = g.prose:match("^%s*\\label{%a+:(%w+)}")
    g.file = (k == 1 or not w.split) and w.file or w.row.shown .. "-" .. (label or g.n) .. ".html"
    for _, z in ipairs(g.members) do
      page_of[z.number] = g.file
      for _, what in ipairs { "\\label{([^}]*)}", "\\%l*fig%s*%b{}%s*{([^}]*)}", "\\%l*fig%s*%b[]%s*%b{}%s*{([^}]*)}", "\\tabcaption{([^}]*)}" } do
        for name in z.prose:gmatch(what) do page_of[name] = g.file end
      end
    end
  end
end
-- numbers of sections must be those of the PDFs
for name, l in pairs(labels) do
  if l.row.folder == "laboratory" and l.kind == "cwsec" then
    local n = tonumber(l.number:match("%.(%d+)$"))
    for _, w in ipairs(webs) do
      if w.row == l.row and not (w.sections[n] and w.sections[n].prose:find("\\label{" .. name .. "}", 1, true)) then here = w.row.web; fail(nil, "%s is not in section %s; build/labels.tex is old", name, l.number) end
    end
  end
end
-- names that are defined elsewhere
local by_number = {}
for _, w in ipairs(webs) do for _, z in ipairs(w.sections) do by_number[z.number] = z end end
for line in need("build/book.cwm"):gmatch("[^\n]+") do
  local chap, n = line:match("^\\cwnote{(L%d+)}{(%d+)}")
  local z = chap and by_number[chap .. "." .. n]
  if z then for name, there, k in line:gmatch("\\cwmini{\\[\\&.|]{(.-)}}{(%w+)}{(%d+)}") do z.names[name:gsub("\\_", "_")] = there .. "." .. k end end
end

-- ---- keys: the string in which a program has one, or what it is made of
local quoted, drawn = {}, {}              -- where a number is quoted; which figures a table is drawn in
for _, row in ipairs(book) do
  local s, n = "\n" .. need(row.web), 0
  for a, what in s:gmatch("\n()@([ *\n\t])") do
    n = n + 1
    local body = s:sub(a, (s:find("\n@[ *\n\t]", a + 1) or #s + 1) - 1)
    for name, key in body:gmatch("\\(%a+)%s*%b[]{([%w%._%-%s]+)}") do if name == "val" then body = body .. "\\val{" .. key .. "}" end end
    for name, key in body:gmatch("\\(%a+){([%w%._%-%s]+)}") do
      if name == "val" or name == "bytes" or name == "rawval" then
        key = key:gsub("%s", "")
        quoted[key] = quoted[key] or {}
        local q = quoted[key]
        if q[#q] ~= row.shown .. "." .. n then q[#q + 1] = row.shown .. "." .. n end
      end
    end
  end
end
local words_of, figures_of = {}, {}        -- the alternatives of the figures as plain text, and the figures of each web in order
for _, row in ipairs(book) do
  local s = need(row.web)
  here, figures_of[row] = row.web, {}
  for at in s:gmatch("()\\%l*fig%f[%A]") do
    local p = scan(s, 1)
    p.i = s:match("^\\%l+()", at)
    p:opt()
    if s:find("^%s*{", p.i) then
      local _, label, _, words = p:arg(), p:arg(), p:arg(), p:arg()
      words_of[label] = squeeze(incipit.words(words))
      table.insert(figures_of[row], label)
    end
  end
end
for name, l in pairs(labels) do
  if l.kind == "figure" then
    local s = need(l.row.web)
    local file = s:match("\\%l*fig%s*{([%w-]+)}%s*{" .. name:gsub("%p", "%%%0") .. "}") or s:match("\\%l*fig%s*%b[]%s*{([%w-]+)}%s*{" .. name:gsub("%p", "%%%0") .. "}")
    local t = file and slurp("figures/" .. file .. ".tex")
    for csv in (t or ""):gmatch("data/([%w.-]+%.csv)") do
      drawn[csv] = drawn[csv] or {}
      if not drawn[csv][name] then drawn[csv][name] = true; table.insert(drawn[csv], { label = l, file = file }) end
    end
  end
end
for _, d in pairs(drawn) do table.sort(d, function(a, b) return number_key(a.label.number) < number_key(b.label.number) end) end
for _, q in pairs(quoted) do
  table.sort(q, function(a, b) local x, y = number_key(a), number_key(b); return (x:match("^%a") or "0") .. x < (y:match("^%a") or "0") .. y end)
end
local homes = {}                          -- per web: patterns of its strings
for _, w in ipairs(webs) do
  local list = {}
  w.short = w.row.module:match("/(.*)$")
  for _, z in ipairs(w.sections) do
    local s, i = z.code or "", 1
    while true do
      -- a comment's or a character's quotation marks begin no string
      local a = s:find("[\"'/@]", i)
      if not a then break end
      if s:sub(a, a) == "@" then i = s:find("^@[<^.:]", a) and s:find("@>", a, true) + 2 or a + 2
      elseif s:sub(a, a) == "/" then
        if s:sub(a, a + 1) == "/*" then i = s:find("*/", a, true) + 2 else i = a + 1 end
      else
        local q, b = s:sub(a, a), a + 1
        while s:sub(b, b) ~= q do b = b + (s:sub(b, b) == "\\" and 2 or 1) end
        i = b + 1
        if q == '"' then
          for piece in s:sub(a + 1, b - 1):gsub("\\n", " "):gmatch("%S+") do
            if piece:find("^[%w%%][%w_.%%*-]*$") then
              local literal = #piece:gsub("%%[%d.*]*%a*", "")
              local pattern = "^" .. piece:gsub("%%[%d.*zlh]*%a?", "\1"):gsub("[^%w\1]", "%%%0"):gsub("\1", "[%%w_.-]*") .. "$"
              list[#list + 1] = { at = z.code_at + a - 1, literal = literal, pattern = pattern, exact = not piece:find("%%") and piece, section = z, dots = piece:find("%.") and 1 or 0 }
            end
          end
        end
      end
    end
  end
  w.strings = list
end
local missing = {}
local function home(w, id, key, at, z)
  w.anchors = w.anchors or {}
  w.anchors[at] = w.anchors[at] or {}
  table.insert(w.anchors[at], id)
  z.prints = z.prints or {}
  table.insert(z.prints, key)
end
for _, key in ipairs(values) do
  local v = values[key]
  local w
  for _, x in ipairs(webs) do if x.short == v.file then w = x end end
  if w then
    local best
    for _, c in ipairs(w.strings) do
      if c.exact == key and not (best and best.exact) then best = c
      elseif not c.exact and c.literal > 3 and key:find(c.pattern) and (not best or not best.exact and c.literal > best.literal) then best = c end
    end
    if best then
      home(w, "key-" .. key, key, best.at, best.section)
      v.anchor, v.section = best.section.group.file, best.section
    else missing[#missing + 1] = w.row.web .. " prints " .. key end
  end
end
-- tables: the word of the command line, and the function that answers it
for _, w in ipairs(webs) do
  w.tables = {}
  local function table_at(name, at, z) 
    if w.tables[name] then return end
    w.tables[name] = z; w.tables[#w.tables + 1] = name
    w.anchors = w.anchors or {}
    w.anchors[at] = w.anchors[at] or {}
    table.insert(w.anchors[at], "csv-" .. name)
    z.tables = z.tables or {}
    table.insert(z.tables, name)
  end
  local answers = {}
  for _, z in ipairs(w.sections) do
    for name, f in (z.code or ""):gmatch('{%s*"(%l+)",[%s@|]*([%w_]+)%s*}') do answers[name] = answers[name] or f end
    for name, f in (z.code or ""):gmatch('what, "(%l+)"%) == 0%)[%s@+{]*[%a =]-([%w_]+)%(') do answers[name] = answers[name] or f end
  end
  for _, c in ipairs(w.strings) do
    local name = c.exact and w.short .. "." .. c.exact .. ".csv"
    if name and (slurp("build/data/" .. name) or slurp("figures/data/" .. name)) then
      local z, at = c.section, c.at
      for _, y in ipairs(w.sections) do
        local f = answers[c.exact] and (y.code or ""):match("()%f[%w_]" .. answers[c.exact] .. "%([^;]-%)%s*{")
        if f then z, at = y, y.code_at + f - 1; break end
      end
      table_at(name, at, z)
    end
  end
end
if #missing > 0 then io.stderr:write(table.concat(missing, "\n"), "\ntools/html.lua finds no string that these are made of\n"); os.exit(1) end

-- ---- the pages
local function plural(n, one) return n .. " " .. one .. (n == 1 and "" or "s") end
local function shown_value(key) local v = values[key]; return inline(spoken(0, incipit.val, key, "")) end
local function places(list)
  local o = {}
  for i, n in ipairs(list) do
    local v = n:find("^%d") and "the book" or n:find("^W") and "the workshop"
    o[i] = string.format('<a href="%s"%s>%s</a>', section_href(n), v and ' class="out" title="in ' .. v .. '"' or "", n)
  end
  return table.concat(o, ", ")
end
local function links(list) local o = {}; for i, z in ipairs(list) do o[i] = string.format('<a href="%s">%s</a>', section_href(z.number), z.number) end return table.concat(o, ", ") end
local function key_row(key, anchor)
  local v = values[key]
  return string.format('<tr%s><td><a href="%s"><code>%s</code></a></td><td class="r">%s</td><td>%s</td></tr>', anchor and ' id="key-' .. key .. '"' or "",
    v.section.group.file .. "#key-" .. key, esc(key), shown_value(key), quoted[key] and places(quoted[key]) or "")
end
local index = {}
local function section_html(z)
  sec, web, here = z, z.web, z.web.row.web
  anchors = z.web.anchors or {}
  local o = {}
  local function put(x) o[#o + 1] = x end
  put('<section id="' .. z.number .. '"' .. (z.depth and ' class="group"' or "") .. ">")
  local number = '<a class="number" href="#' .. z.number .. '">' .. z.number .. "</a>"
  local title = z.title and inline(z.title, z.line)
  if z.depth == 0 then put(number) elseif z.depth then local h = z.group == z and z.group.file ~= z.web.file and 1 or math_min(z.depth + 1); put("<h" .. h .. ">" .. number .. " " .. title .. "</h" .. h .. ">") else put(number) end
  local prose = blocks(z.prose, z.prose_line)
  put(prose)
  local files = {}
  if z.code then
    local text, n = code(z.code, z.code_line, z.code_at)
    local head, notes = nil, {}
    if z.kind == "section" then
      local d = z.web.defined[z.name]
      head = section_name(z.name, z.line, d[1] == z) .. (d[1] == z and " ≡" or " +≡")
      local also, used = {}, z.web.used[z.name] or {}
      for _, x in ipairs(d) do if x ~= z then also[#also + 1] = x end end
      if #also > 0 then notes[#notes + 1] = "Also in " .. links(also) .. "." end
      if #used > 0 then notes[#notes + 1] = "Used in " .. links(used) .. "." end
    elseif z.kind == "file" then
      head = '<span class="name" id="file-' .. esc(z.name) .. '">⟨<code>' .. esc(z.name) .. "</code>⟩</span> ≡"; files[#files + 1] = z.name
    else
      head = '<span class="name">⟨The program⟩</span> ' .. (z.web.program and "+≡" or "≡")
      z.web.program = true
    end
    for f in z.code:gmatch('"([%w_/.-]+/[%w_.-]+)"') do files[#files + 1] = f end
    local pre = '<pre class="code">' .. text .. "</pre>"
    if n > FOLD then
      put('<div class="codebox">' .. '<p class="codehead">' .. head .. '</p><details class="fold"><summary>show the code <span class="n">(' .. n .. " lines)</span></summary>" .. pre .. "</details></div>")
    else put('<div class="codebox"><p class="codehead">' .. head .. "</p>" .. pre .. "</div>") end
    if #notes > 0 then put('<p class="uses">' .. table.concat(notes, " ") .. "</p>") end
  end
  if z.prints then
    local t = {}
    for i, key in ipairs(z.prints) do t[i] = key_row(key) end
    put('<details class="prints"><summary>' .. plural(#z.prints, "number") .. " printed here</summary>" ..
      '<div class="tablebox"><table><tr><th>key</th><th class="r">value</th><th>quoted in</th></tr>' .. table.concat(t) .. "</table></div></details>")
  end
  for _, name in ipairs(z.tables or {}) do
    local d = drawn[name] or {}
    local where = {}
    for i, f in ipairs(d) do where[i] = link(f.label, "Figure&nbsp;" .. f.label.number) end
    local pics = {}
    for i, f in ipairs(d) do
      if f.label.row.folder ~= "laboratory" then
        pics[i] = '<a href="' .. place_href(f.label) .. '">' .. picture(f.file, "Figure " .. f.label.number .. " of " .. volume_name[f.label.row.folder] .. ", drawn from " .. name .. ". " .. words_of[f.label.name]) .. "</a>"
      end
    end
    put('<figure class="drawn">' .. table.concat(pics) .. "<figcaption>This prints the table <code>" .. esc(name) .. "</code>" .. (#d > 0 and ", drawn in " .. table.concat(where, " and ") or "") .. ".</figcaption></figure>")
  end
  put("</section>")
  index[#index + 1] = { z.group.file, z.number, title and bare(title) or z.name and bare(inline(z.name, z.line)) or "", bare(inline(z.group.title, z.line)), bare(prose), table.concat(z.prints or {}, " ") .. " " .. table.concat(z.tables or {}, " ") .. " " .. table.concat(files, " ") }
  return table.concat(o, "\n")
end
function math_min(d) return d > 4 and 4 or d end
-- a page of a group that is gone goes, too
for _, d in ipairs { OUT .. "/", OUT .. "/at/" } do for f in lfs.dir(d) do if f:match("%.html$") then os.remove(d .. f) end end end
local style, script = need("tools/html.css"), need("tools/html.js")
local function page(file, title, nav, body)
  write(file, '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>' .. bare(title) ..
    '</title>\n<link rel="stylesheet" href="style.css">\n<script defer src="search.js"></script>\n</head>\n<body>\n<a class="skip" href="#text">To the text</a>\n<header><a class="home" href="index.html"><b>Incipit</b> The Laboratory</a>' ..
    '<span class="tools" id="tools"></span><a href="keys.html">Numbers</a><a href="figures.html">Figures</a><a href="../incipit.pdf">Book</a><a href="../workshop.pdf">Workshop</a></header>\n<div id="results" hidden></div>\n' ..
    '<div class="page">\n<nav>' .. nav .. "</nav>\n<main id=\"text\">\n" .. body .. "\n</main>\n</div>\n</body>\n</html>\n")
  pages[#pages + 1] = file
end
local function title_of(w) web, sec, here = w, nil, w.row.web; return inline(w.sections[1].title, 1) end
local function group_title(g) web, sec, here = g.web, nil, g.web.row.web; return inline(g.title, g.line) end
local function nav_of(w, file)
  local o = { '<p class="where"><a href="' .. w.file .. '">' .. w.row.shown .. "</a></p><ol>" }
  for k, g in ipairs(w.groups) do
    if k > 1 or w.split then
      local current = w.split and g.file == file
      o[#o + 1] = string.format('<li%s><a href="%s"><span class="n">%s</span> %s</a></li>', current and ' class="here"' or "", k == 1 and g.file or g.file .. "#" .. g.number, g.number, k == 1 and "Opening" or group_title(g))
    end
  end
  o[#o + 1] = "</ol>"
  return table.concat(o, "\n")
end
local function neighbours(before, after)
  return '<p class="neighbours">' .. (before and '<a rel="prev" href="' .. before[1] .. '">← ' .. before[2] .. "</a>" or "<span></span>") ..
    (after and '<a rel="next" href="' .. after[1] .. '">' .. after[2] .. " →</a>" or "") .. "</p>"
end
local sequence = {}
for _, w in ipairs(webs) do
  if w.split then for _, g in ipairs(w.groups) do sequence[#sequence + 1] = { g.file, g == w.groups[1] and title_of(w) or group_title(g), w, { g } } end
  else sequence[#sequence + 1] = { w.file, title_of(w), w, w.groups } end
end
for k, e in ipairs(sequence) do
  local file, title, w, groups = table.unpack(e)
  local o = {}
  if groups[1] == w.groups[1] then
    o[1] = '<div class="opener"><p class="chapno">' .. w.row.shown .. "</p><h1>" .. title .. '</h1></div><p class="question">' .. inline(w.question:sub(2, -2), 1) .. "</p>"
  else o[1] = '<p class="running"><a href="' .. w.file .. '">' .. w.row.shown .. " " .. title_of(w) .. "</a></p>" end
  for _, g in ipairs(groups) do for _, z in ipairs(g.members) do o[#o + 1] = section_html(z) end end
  if w.split and groups[1] == w.groups[1] then
    local t = {}
    for i = 2, #w.groups do
      local g, keys, tables = w.groups[i], 0, 0
      for _, z in ipairs(g.members) do keys, tables = keys + #(z.prints or {}), tables + #(z.tables or {}) end
      local more = {}
      if keys > 0 then more[#more + 1] = plural(keys, "number") end
      if tables > 0 then more[#more + 1] = plural(tables, "table") end
      t[#t + 1] = string.format('<li><a href="%s"><span class="n">%s</span> %s</a> <span class="faint">%s</span></li>', g.file, g.number, group_title(g), table.concat(more, ", "))
    end
    o[#o + 1] = '<h2>The experiments</h2><ol class="contents">' .. table.concat(t, "\n") .. "</ol>"
  end
  o[#o + 1] = neighbours(sequence[k - 1], sequence[k + 1])
  page(file, title .. " · Incipit, the laboratory", nav_of(w, file), table.concat(o, "\n"))
end

-- ---- every number, and the front page
local by_web, o = {}, {}
local nav = { "<ol>" }
local total, tables = 0, 0
for _, w in ipairs(webs) do
  local t = {}
  for _, key in ipairs(values) do if values[key].section and values[key].section.web == w then t[#t + 1] = key_row(key, true); total = total + 1 end end
  if #t > 0 or #w.tables > 0 then
    local c = {}
    for i, name in ipairs(w.tables) do
      local d = {}
      for j, f in ipairs(drawn[name] or {}) do d[j] = link(f.label, "Figure&nbsp;" .. f.label.number) end
      c[i] = string.format('<tr id="csv-%s"><td><a href="%s#csv-%s"><code>%s</code></a></td><td class="r"></td><td>%s</td></tr>', name, w.tables[name].group.file, name, name, table.concat(d, ", "))
      tables = tables + 1
    end
    o[#o + 1] = '<h2 id="' .. w.row.shown .. '"><a class="number" href="' .. w.file .. '">' .. w.row.shown .. "</a>" .. title_of(w) .. '</h2><div class="tablebox"><table><tr><th>key</th><th class="r">value</th><th>quoted in</th></tr>' ..
      table.concat(t, "\n") .. (#c > 0 and '<tr><th>table</th><th></th><th>drawn in</th></tr>' .. table.concat(c, "\n") or "") .. "</table></div>"
    nav[#nav + 1] = '<li><a href="#' .. w.row.shown .. '"><span class="n">' .. w.row.shown .. "</span> " .. title_of(w) .. "</a></li>"
  end
end
nav[#nav + 1] = "</ol>"
page("keys.html", "Numbers · Incipit, the laboratory", table.concat(nav, "\n"), '<div class="opener"><p class="chapno">#</p><h1>Numbers</h1></div><p class="question">Where does it come from?</p><p>The programs of the laboratory print ' ..
  total .. " numbers and " .. tables .. " tables. A number has a key, by which the prose quotes it. The key leads to the line that prints it; beside the value stand the sections that quote it.</p>" .. table.concat(o, "\n"))

-- ---- the figures of all volumes in words, as the PDFs have them in /Alt
o, nav = {}, { "<ol>" }
local rows_of = {}
for i, row in ipairs(book) do rows_of[i] = row end
local place_of = { chapters = 1, workshop = 2, laboratory = 3 }
table.sort(rows_of, function(a, b) if a.folder ~= b.folder then return place_of[a.folder] < place_of[b.folder] end return a.number < b.number end)
local worded = 0
for _, row in ipairs(rows_of) do
  local list = {}
  for i, label in ipairs(figures_of[row]) do
    local l = labels[label] or fail(nil, "no label %s", label)
    list[i] = '<dt id="' .. label .. '">' .. link(l, "Figure&nbsp;" .. l.number) .. "</dt><dd>" .. esc(words_of[label]) .. "</dd>"
  end
  if #list > 0 then
    worded = worded + #list
    o[#o + 1] = '<h2 id="in-' .. row.shown .. '"><span class="number">' .. row.shown .. "</span> " .. esc(row.title) .. '</h2><dl class="words">' .. table.concat(list, "\n") .. "</dl>"
    nav[#nav + 1] = '<li><a href="#in-' .. row.shown .. '"><span class="n">' .. row.shown .. "</span> " .. esc(row.title) .. "</a></li>"
  end
end
nav[#nav + 1] = "</ol>"
page("figures.html", "Figures in words · Incipit, the laboratory", table.concat(nav, "\n"), '<div class="opener"><p class="chapno">¶</p><h1>Figures in words</h1></div><p class="question">What does it show?</p><p>The ' ..
  worded .. " figures of the book, the workshop and the laboratory, described for readers who do not see them. The PDFs have the same words as alternative texts.</p>" .. table.concat(o, "\n"))

-- ---- from the margin of a PDF to a label
for name, l in pairs(labels) do
  local short = l.row.folder == "laboratory" and name:match("^lab:(%w+)$")
  if short then
    local to = "../" .. place_href(l):gsub("#.*$", "") .. "#" .. name
    write("at/" .. short .. ".html", '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>' .. l.number .. '</title>\n<meta http-equiv="refresh" content="0; url=' .. to ..
      '">\n</head>\n<body>\n<p><a href="' .. to .. '">' .. l.number .. "</a></p>\n</body>\n</html>\n")
  end
end

web, sec, here = webs[1], nil, "laboratory/front.tex"
local front = blocks(need("laboratory/front.tex"), 1)
local list = {}
for _, w in ipairs(webs) do
  local t = {}
  for k = 2, #w.groups do local g = w.groups[k]; t[#t + 1] = string.format('<a href="%s#%s">%s</a>', g.file, g.number, group_title(g)) end
  list[#list + 1] = '<div class="entry"><a class="number" href="' .. w.file .. '">' .. w.row.shown .. '</a><h3><a href="' .. w.file .. '">' .. title_of(w) .. '</a></h3><p class="question">' .. inline(w.question:sub(2, -2), 1) .. "</p><p class=\"groups\">" ..
    table.concat(t, " · ") .. "</p></div>"
end
local steps = {}
for i = 1, 9 do
  local cells = {}
  for j = 0, i + 1 do cells[#cells + 1] = '<i class="' .. (j < 3 and "given" or j < i + 1 and "old" or "new") .. '"></i>' end
  steps[i] = "<div>" .. table.concat(cells) .. "</div>"
end
page("index.html", "Incipit: The Laboratory", "", '<h1 class="book"><span>T</span>he Laboratory</h1><p class="question">The experiments behind every number</p><div class="stairs" aria-hidden="true">' .. table.concat(steps) .. "</div>" ..
  front .. '<h2>Contents</h2>' .. table.concat(list, "\n"))

-- ---- the index of the search box, style, script
local function js(s) return '"' .. s:gsub("\u{AD}", ""):gsub('[\\"]', "\\%0"):gsub("[%c]", " "):gsub("</", "<\\/") .. '"' end
local t = {}
for i, e in ipairs(index) do local f = {}; for k, x in ipairs(e) do f[k] = js(x) end t[i] = "[" .. table.concat(f, ",") .. "]" end
write("index.js", "incipit_index([\n" .. table.concat(t, ",\n") .. "\n]);\n")
write("style.css", style)
write("search.js", script)
print(string.format("%d pages, %d sections, %d numbers, %d tables: %s/index.html", #pages, #index, total, tables, OUT))
