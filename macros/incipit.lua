-- incipit.lua -- the book's small machinery in TeX: numbers, listings, heat strips.
incipit = {}

-- cweave sets strings, characters, file names and ALL_CAPS names alike; this tells the names
function incipit.caps(s)
  local name = s:gsub("\\_%s*", "_"):match("^[A-Z][A-Z0-9_]+%s*$")
  tex.sprint(-1, name and "\\csname @firstoftwo\\endcsname" or "\\csname @secondoftwo\\endcsname")
end

-- ---- 1. numbers that a program printed ------------------------------------------
-- A value file has lines  KEY VALUE [UNIT]; "#" starts a comment.  The same key with
-- two values is an error, and so is a key that no file has: the build stops.
local values, used, files = {}, {}, 0

function incipit.load(name)
  local h = io.open(name, "rb")
  if not h then tex.error("incipit: no value file '" .. name .. "'"); return end
  files = files + 1
  for line in h:lines() do
    local key, value, unit = line:match("^([%w%._%-]+)%s+(%S+)%s*(.-)%s*$")
    if key and not line:match("^#") then
      if values[key] and values[key].v ~= value then
        tex.error("incipit: key '" .. key .. "' has two values: " .. values[key].v .. " and " .. value)
      end
      values[key] = { v = value, u = unit }
    end
  end
  h:close()
end

local words = { [0] = "zero", "one", "two", "three", "four", "five", "six", "seven", "eight",
  "nine", "ten", "eleven", "twelve" }

function incipit.group(s)            -- 6225 -> 6\,225; thousands by thin spaces
  local sign, int, frac = s:match("^([+-]?)(%d+)(%.?%d*)$")
  if not int then
    local m, e = s:match("^(%-?[%d%.]+)[eE]([+-]?%d+)$")
    if m then return "\\ensuremath{" .. m .. "\\cdot10^{" .. tonumber(e) // 1 | 0 .. "}}" end
    return s
  end
  int = int:reverse():gsub("(%d%d%d)", "%1 "):reverse():gsub("^ ", ""):gsub(" ", "\\,")
  return (sign == "-" and "\\ensuremath{-}" or "") .. int .. frac
end

local function iec(n)
  local u = { "bytes", "KiB", "MiB", "GiB", "TiB" }
  local i = 1
  while n >= 1024 and i < #u do n = n / 1024; i = i + 1 end
  return (n == math.floor(n) and string.format("%d", n) or string.format("%.2f", n)), u[i]
end

-- the number as it was printed, for a formula in a figure
function incipit.raw(key) tex.sprint(values[key] and values[key].v or '0') end
function incipit.measured(key)
  key = key:gsub("%s", "")
  if values[key] then return incipit.val(key, "") end
  texio.write_nl("log", "Not yet measured: " .. key)
  tex.sprint("\\textit{not yet measured}")
end

function incipit.val(key, opt)
  key = key:gsub("%s", "")
  local e = values[key]
  if not e then
    tex.error("incipit: no program printed the number '" .. key .. "'",
      { "\\val{key} takes its number from build/values/*.val.", "Let the chapter's program print it." })
    return
  end
  used[key] = true
  local v, unit, plain = e.v, e.u, false
  for o in (opt or ""):gmatch("[^,%s]+") do
    if o == "bare" then unit = ""
    elseif o == "raw" then plain = true
    elseif o == "word" then v = words[tonumber(v)] or v
    elseif o == "iec" then v, unit = iec(tonumber(v))
    elseif tonumber(o) then v = string.format("%." .. o .. "f", tonumber(v))
    else tex.error("incipit: \\val does not know the option '" .. o .. "'") end
  end
  local s = plain and v or incipit.group(v)
  if unit and unit ~= "" and not plain then
    s = s .. ((unit == "%" or unit == "x") and "\\," .. (unit == "x" and "\\ensuremath{\\times}" or "\\%")
              or "\\nobreakspace " .. unit) end
  tex.sprint("\\mbox{" .. s .. "}")
end

-- \bytes{key}: the integer, then GB and GiB (or the units that fit)
function incipit.bytes(key)
  local e = values[key]
  if not e then tex.error("incipit: no program printed the number '" .. key .. "'"); return end
  used[key] = true
  local n = tonumber(e.v)
  local u, i, x = { "bytes", "kB", "MB", "GB", "TB" }, 1, n
  while x >= 1000 and i < #u do x = x / 1000; i = i + 1 end
  local b, bu = iec(n)
  local s = incipit.group(e.v) .. "\\nobreakspace bytes"
  if i > 1 then s = s .. " (" .. (string.format("%.2f", x):gsub("%.?0+$", "")) .. "\\nobreakspace " .. u[i] .. ", " .. b .. "\\nobreakspace " .. bu .. ")" end
  tex.sprint(s)
end

function incipit.report(name)        -- which numbers the prose used, and which it did not
  local h = io.open(name, "w"); local keys = {}
  for k in pairs(values) do keys[#keys + 1] = k end
  table.sort(keys)
  for _, k in ipairs(keys) do h:write(used[k] and "used    " or "unused  ", k, " ", values[k].v, " ", values[k].u, "\n") end
  h:close()
end
function incipit.count_values() local n = 0; for _ in pairs(values) do n = n + 1 end; tex.sprint(tostring(n)) end

-- ---- 2. a file, as the program wrote it -------------------------------------------
-- columns = the measure in characters; a longer line is an error, not an overfull box.
function incipit.listing(name, first, last, columns)
  local h = io.open(name, "rb") or io.open((name:gsub("^tangled/", "unwoven/")), "rb")
  if not h then tex.error("incipit: no file '" .. name .. "' for the checkpoint"); return end
  local n = 0
  for line in h:lines() do
    n = n + 1
    if n >= first and n <= last then
      if utf8.len(line) > columns then
        tex.error("incipit: line " .. n .. " of '" .. name .. "' has more than " .. columns .. " columns") end
      tex.sprint(line:match("^%$ ") and "\\cpcommand{" or "\\cpline{")
      tex.cprint(12, line == "" and " " or line)
      tex.sprint("}")
    end
  end
  h:close()
end

-- Where a page may end within C that is printed as it stands: up to eight lines are kept together, four at the head of more and three at their
-- foot, and the best place is before a comment or behind an empty line.
local function keep(i, n, lines)
  local free = n > 8 and i > 4 and i < n - 1
  local good = free and (lines[i]:match("^%s*/[*/]") or lines[i - 1] == "")
  if i > 1 then tex.sprint("\\par\\penalty" .. (good and "0 " or free and "100 " or "10000 ")) end
end

-- one function of a file that no volume prints, from its declaration to the brace that ends it
function incipit.cfunction(name, wanted, columns)
  local h = io.open("unwoven/" .. name, "rb") or io.open("tangled/" .. name, "rb")
  local lines, last = {}, false
  for line in (h and h:read("a") or ""):gmatch("([^\n]*)\n") do
    if #lines == 0 and line:match("^[%a].*%f[%w_]" .. wanted .. "%(") and not line:match(";%s*$") or #lines > 0 and not last then
      if #line > columns then tex.error("incipit: a line of " .. wanted .. " in '" .. name .. "' has more than " .. columns .. " columns") end
      lines[#lines + 1], last = line, line == "}"
    end
  end
  if not last then tex.error("incipit: '" .. name .. "' has no function " .. wanted); return end
  for i, line in ipairs(lines) do
    keep(i, #lines, lines)
    tex.sprint("\\cpline{"); tex.cprint(12, line == "" and " " or line); tex.sprint("}")
  end
end

-- the command that compiles the program whose output is NAME, if that is the program of a chapter; once is enough
local compiled = {}
function incipit.byhand(name)
  local module = name:match("^build/out/([%w-]+)%.txt$")
  local h = module and not compiled[module] and io.open("build/alone/" .. module .. ".txt")
  if module then compiled[module] = true end
  if not h then tex.sprint("\\penalty0\\addvspace{10pt plus3pt}"); return end
  tex.sprint("\\csname incipit@ccline\\endcsname ")
  for line in h:lines() do tex.sprint("\\cpline{"); tex.cprint(12, line); tex.sprint("}") end
  tex.sprint("\\csname endincipit@ccline\\endcsname ")
  h:close()
end

-- a copy of what stands in a box's minipage, as a list that can be split
function incipit.inner(from, to)
  for n in node.traverse_id(node.id("vlist"), tex.box[from].head) do
    tex.setbox(to, node.copy(n))
    return
  end
end

-- what a header declares
local header
function incipit.read_header(file, names)
  local why
  header, why = dofile("tools/declared.lua")(file, names)
  if not header then tex.error("incipit: " .. why); header = {} end
end
-- a comment that is longer than a line of the page goes on in the next
function incipit.header(columns)
  for i, line in ipairs(header) do
    keep(i, #header, header)
    local from = line:find("/*", 1, true)
    while utf8.len(line) > columns do
      local at = from and line:sub(1, utf8.offset(line, columns) - 1):match("^.*() ")
      if not at or at <= from then tex.error("incipit: a line of a header has more than " .. columns .. " columns: " .. line); break end
      tex.sprint("\\cpline{"); tex.cprint(12, line:sub(1, at - 1)); tex.sprint("}")
      line, from = (" "):rep(from + 2) .. line:sub(at + 1), 1
    end
    tex.sprint("\\cpline{"); tex.cprint(12, line == "" and " " or line); tex.sprint("}")
  end
end

-- the tables NAMES (a,b,c) of a grammar: from the line that begins one to the next empty line or table
function incipit.excerpt(name, names, columns)
  local tables, on, at = {}, nil, 0
  for line in assert(io.open(name, "rb")):lines() do
    local t = line:match("^table (%S+)")
    if t then on = { line }; tables[t] = on elseif line == "" or line:match("^#") then on = nil elseif on then on[#on + 1] = line end
  end
  for t in names:gmatch("[^,]+") do
    if not tables[t] then tex.error("incipit: '" .. name .. "' has no table " .. t); return end
    at = at + 1
    if at > 1 then tex.sprint("\\cpline{~}") end
    for _, line in ipairs(tables[t]) do
      if #line > columns then tex.error("incipit: a line of the table " .. t .. " in '" .. name .. "' has more than " .. columns .. " columns") end
      tex.sprint("\\cpline{"); tex.cprint(12, line); tex.sprint("}")
    end
  end
end

-- ---- 2b. the ledger, as its program judged it ---------------------------------------
local claims
local badge = { holds = "holds", ["holds-with-rounding"] = "rounded", ["off-by-one"] = "offbyone", misleading = "misleading",
  ambiguous = "ambiguous", wrong = "wrong", ["not-testable-here"] = "untested", ["to-come"] = "tocome" }
local sense_words = { ambiguous = { "Either", "Or" }, misleading = { "True", "Read" } }
local special = { ["#"] = "\\#", ["$"] = "\\$", ["%"] = "\\%", ["&"] = "\\&", ["_"] = "\\_", ["{"] = "\\{", ["}"] = "\\}", ["~"] = "\\textasciitilde{}",
  ["^"] = "\\textasciicircum{}", ["\\"] = "\\textbackslash{}", ["<"] = "\\textless{}", [">"] = "\\textgreater{}", ['"'] = "\\textquotedbl{}" }
local function plain(s)
  s = s:gsub('[#$%%&_{}~^\\<>"]', special):gsub("\u{2082}", "\\textsubscript{2}"):gsub("→", "\\ensuremath{\\to}"):gsub("←", "\\ensuremath{\\leftarrow}")
  s = s:gsub("%-%-", "-\\kern0pt{}-")                -- as the author typed them, no dash
  for k = 0, 9 do s = s:gsub(utf8.char(0x2080 + k), "\\textsubscript{" .. k .. "}") end
  return s
end
local function quoted(s)              -- quotation marks within a quotation
  s = " " .. plain(s)                 -- one that opens stands behind a blank, a bracket or a dash
  return (s:gsub("([%s(%[–—])\\textquotedbl{}", "%1‘"):gsub("\\textquotedbl{}", "’"):sub(2))
end
local function read_claims()
  claims = { list = {} }
  for l in io.lines("build/claims.tsv") do
    local f = {}
    for x in (l .. "\t"):gmatch("(.-)\t") do f[#f + 1] = x end
    local c = { id = f[1], chapter = f[2], section = f[3], kind = f[5], verdict = badge[f[6]], claimed = f[7], ours = f[8], quote = f[9],
      sense = f[10], read = f[11], why = f[12], command = f[13] }
    claims[c.id], claims.list[#claims.list + 1] = c, c
  end
end
-- quotation and verdict of the first of some ids; all of them must have the same verdict. Two sentences are both quoted, or the author of
-- the second would look for his own in vain; of more, the first stands for all.
function incipit.claim(ids)
  if not claims then read_claims() end
  local first, quotes = nil, {}
  for id in ids:gmatch("S%d%-%d+") do
    local c = claims[id]
    if not c then tex.error("incipit: the ledger has no claim " .. id); return end
    first = first or c
    if c and not quotes[c.quote] then quotes[c.quote] = true; quotes[#quotes + 1] = c.quote end
    if c.verdict ~= first.verdict then tex.error("incipit: " .. first.id .. " and " .. id .. " have two verdicts, " .. first.verdict .. " and " .. c.verdict) end
  end
  token.set_macro("claimverdict", first.verdict)
  -- only what was run is called a run
  token.set_macro("claimlabel", ({ counted = "Our run", measured = "Our run", computed = "We reckon" })[first.kind] or "Not run")
  local quote = quoted(first.quote)
  if #quotes == 2 then quote = quote .. "” \\emph{and} “" .. quoted(quotes[2]) end
  token.set_macro("claimquote", (quote))
  local word = sense_words[first.verdict] or sense_words.misleading
  local senses = first.sense == "" and "" or " \\emph{" .. word[1] .. ":} " .. plain(first.sense) .. " \\emph{" .. word[2] .. ":} " .. plain(first.read)
  token.set_macro("claimours", plain(first.ours) .. ". " .. plain(first.why) .. senses)
end
function incipit.source(id)
  for l in io.lines("ledger/sources.tsv") do
    local f = {}
    for x in (l .. "\t"):gmatch("(.-)\t") do f[#f + 1] = x end
    if f[1] == id then
      local place = f[5]:match("^http") and "\\url{" .. f[5] .. "}" or plain(f[5])
      tex.sprint("\\emph{" .. plain(f[2]) .. "}, " .. plain(f[3]) .. "; " .. plain(f[4]) .. "; \\mbox{" .. place .. "}. It begins: “" .. quoted(f[6]) .. " \\dots{}”")
    end
  end
end
function incipit.ledger(source)
  if not claims then read_claims() end
  local before
  for _, c in ipairs(claims.list) do
    if c.id:sub(1, 2) == source then
      local parts = {}
      local decided = c.verdict ~= "untested" and c.verdict ~= "tocome"
      if decided then
        parts[#parts + 1] = "{\\bfseries " .. plain(c.claimed) .. "}\\enspace\\textbar\\enspace{\\bfseries\\color{rubric}" .. plain(c.ours) .. "}\\enspace{\\color{faint}" .. c.kind .. "}."
      elseif c.verdict == "tocome" then parts[#parts + 1] = "To be run in chapter " .. c.chapter .. "."
      else parts[#parts + 1] = "Not tested here." end
      parts[#parts + 1] = plain(c.why)
      if c.sense ~= "" then
        local w = sense_words[c.verdict] or sense_words.misleading
        parts[#parts + 1] = "\\emph{" .. w[1] .. ":} " .. plain(c.sense) .. " \\emph{" .. w[2] .. ":} " .. plain(c.read)
      end
      if c.section ~= "" then parts[#parts + 1] = "{\\color{cweblink}\\S\\,\\ref{" .. c.section .. "}}." end
      -- several claims of one sentence: it is printed once
      local same = before and before.quote == c.quote
      tex.sprint(string.format("\\ledgerrow{%s}{%s}{%s}{%s}{%s}", c.id, c.verdict, same and "" or quoted(c.quote), table.concat(parts, " "), plain(c.command)))
      before = c
    end
  end
end

-- ---- 3. CSV, and thousands of cells drawn as PDF rectangles --------------------------
function incipit.csv(name)
  local h = io.open(name, "rb")
  if not h then tex.error("incipit: no data file '" .. name .. "'"); return {} end
  local head, rows = nil, {}
  for line in h:lines() do
    if not line:match("^#") and line:match("%S") then
      local t = {}
      for f in (line .. ","):gmatch("([^,]*),") do t[#t + 1] = f end
      if not head then head = t else
        local r = {}
        for i, k in ipairs(head) do r[k] = tonumber(t[i]) or t[i] end
        rows[#rows + 1] = r
      end
    end
  end
  h:close()
  return rows
end

-- which request had which slot, and when: a call of \held for each stretch; the second group begins |below| further down
function incipit.slots(name, below)
  for _, r in ipairs(incipit.csv(name)) do
    tex.sprint(string.format("\\held{%g}{%d}{%d}{%d}{%s}", (r.way == "static" and 0 or -below) - r.slot * 5.6, r.request, r.from, r.to,
      string.char(65 + r.request)))
  end
end

function incipit.column(name, key)
  local t = {}
  for _, r in ipairs(incipit.csv(name)) do t[#t + 1] = tostring(r[key]) end
  return t
end

-- A strip of cells (step downwards, position to the right).  Colour by how often the
-- row had been computed: once (the first time) or again; runs of equal cells merge,
-- so a hundred steps cost a few hundred rectangles and no TikZ at all.
function incipit.heat(name, w, h, once, lo, hi)
  local rows, steps, cols, times = {}, 0, 0, 0
  for _, r in ipairs(incipit.csv(name)) do
    rows[r.step] = rows[r.step] or {}
    rows[r.step][r.position] = r.times
    if r.step > steps then steps = r.step end
    if r.position + 1 > cols then cols = r.position + 1 end
    if r.times > times then times = r.times end
  end
  local bp = 65781.76
  local cw, ch = w / bp / cols, h / bp / steps
  local out = { "q" }
  local function rgb(t)
    if t == 1 then return once end
    local f = ((t - 2) / math.max(1, times - 2)) ^ 0.8
    local c = {}
    for i = 1, 3 do c[i] = lo[i] + (hi[i] - lo[i]) * f end
    return c
  end
  for s = 1, steps do
    local p = 0
    while p < cols do
      local t = rows[s][p]
      if not t then break end
      local q = p
      while q + 1 < cols and rows[s][q + 1] == t do q = q + 1 end
      local c = rgb(t)
      out[#out + 1] = string.format("%.3f %.3f %.3f rg %.3f %.3f %.3f %.3f re f", c[1], c[2], c[3],
        p * cw, (steps - s) * ch, (q - p + 1) * cw + (t > 1 and 0.05 or 0), ch * (t > 1 and 1.02 or 1))
      p = q + 1
    end
  end
  out[#out + 1] = "Q"
  local n = node.new("whatsit", "pdf_literal")
  n.mode = 0
  n.data = table.concat(out, "\n")
  node.write(n)
end

-- the ornament of title and parts: line n is the prompt and n tokens more
function incipit.staircase(from, lines, cell)
  local c = cell / 65781.76
  local out = { "q" }
  for i = from, from + lines - 1 do
    local y = (from + lines - 1 - i) * c
    for j = 0, i + 2 do
      local col = j < 3 and ".613 .643 .669" or j < i + 2 and ".902 .910 .917" or ".639 .153 .169"
      out[#out + 1] = string.format("%s rg %.3f %.3f %.3f %.3f re f", col, j * c, y, c * .8, c * .8)
    end
  end
  out[#out + 1] = "Q"
  local n = node.new("whatsit", "pdf_literal")
  n.mode = 0
  n.data = table.concat(out, "\n")
  node.write(n)
end

-- ---- 4. the text alternatives of the figures -------------------------------------------
function incipit.pdfstring(s)        -- UTF-16BE in hexadecimal, for /Alt
  local t = { "FEFF" }
  for _, c in utf8.codes(s) do
    if c < 0x10000 then t[#t + 1] = string.format("%04X", c)
    else c = c - 0x10000; t[#t + 1] = string.format("%04X%04X", 0xD800 + (c >> 10), 0xDC00 + (c & 0x3FF)) end
  end
  return "<" .. table.concat(t) .. ">"
end
function incipit.words(s)            -- an alternative as plain text
  s = s:gsub("\\val%s*%b[]%s*(%b{})", "\\val%1")
  s = s:gsub("\\val%s*{%s*([^}]-)%s*}", function(k) local e = values[k]
    return e and e.v .. (e.u ~= "" and " " .. e.u or "") or k end)
  return (s:gsub("\\[a-zA-Z]+%s*", ""):gsub("[{}$\\]", ""):gsub("~", " "):gsub("%-%-%-", "—"):gsub("%-%-", "–"):gsub("``", "“"):gsub("''", "”"))
end
function incipit.alt(s)
  tex.sprint("\\pdfextension literal page{/Span <</Alt " .. incipit.pdfstring(incipit.words(s)) .. ">> BDC}")
end

-- ---- 4b. notes in the margin: where they were on the last run, and where they shall be --------
local mn, shift, oddx, evenx, foot = {}, {}, 0, 0, 0
function incipit.mn_read(id, page, x, y, h, fixed)
  mn[#mn + 1] = { id = id, page = page, x = x, y = y, h = h, fixed = fixed > 0, asc = fixed > 0 and fixed or 480000 } end
function incipit.mn_layout(odd, even, bottom)
  oddx, evenx, foot = odd, even, bottom
  local pages = {}
  for _, n in ipairs(mn) do
    n.top = n.y + n.asc
    pages[n.page] = pages[n.page] or {}
    table.insert(pages[n.page], n)
  end
  local gap = 5 * 65536
  for page, list in pairs(pages) do
    table.sort(list, function(a, b) if a.top ~= b.top then return a.top > b.top end; return a.id < b.id end)
    local free, fixed = math.huge, {}
    for _, n in ipairs(list) do if n.fixed then fixed[#fixed + 1] = n end end
    local movable = {}
    local function clear(n)                      -- below every obstacle it touches
      for _, f in ipairs(fixed) do
        if n.at > f.top - f.h - gap and n.at - n.h < f.top + gap then n.at = f.top - f.h - gap end end end
    for _, n in ipairs(list) do
      if not n.fixed then
        n.at = math.min(n.top, free); clear(n)
        free = n.at - n.h - gap
        movable[#movable + 1] = n
      end
    end
    local floor = foot
    for i = #movable, 1, -1 do
      local n = movable[i]
      if n.at - n.h < floor then n.at = floor + n.h end
      floor = n.at + gap
    end
    local odd = tonumber(page) == nil or tonumber(page) % 2 == 1
    for _, n in ipairs(movable) do
      shift[n.id] = string.format("%d,%d", (odd and oddx or evenx) - n.x, n.at - n.top) end
  end
end
function incipit.mn_shift(id) tex.sprint(shift[id] or "0,0") end

-- ---- 5. TikZ from CSV: each function prints the paths of one kind of figure ------------------
local function tikz(fmt, ...) tex.sprint(string.format(fmt, ...)) end
local function texword(s)            -- a token as the figure shows it: blank -> low box, TeX specials safe
  return (s:gsub("[#$%%&_{}]", "\\%0"):gsub("^ ", "\\incipitblank "):gsub("^_", "\\incipitblank ")) end
incipit.texword = texword

-- (a) the grid: one cell for each (step, position), its number = how often computed
function incipit.grid(name, numbers)
  for _, r in ipairs(incipit.csv(name)) do
    tikz("\\path[%s] (%d,%d) rectangle ++(1,-1);", r.times == 1 and "cell once" or "cell redo", r.position, 1 - r.step)
    if numbers then
      tikz("\\node[font=\\normalfont\\sffamily\\bfseries\\fontsize{9.5}{10}\\selectfont,text=%s] at (%.1f,%.1f) {%d};", r.times == 1 and "white" or "ink",
        r.position + .5, .5 - r.step, r.times)
    end
  end
end

-- a curve or points of an axis from some lines of a file: x and y are expressions in the columns, which names the lines
function incipit.series(options, name, x, y, which)
  local function of(e) return load("local _ENV = ...; return " .. e) end
  local fx, fy, keep, points = of(x), of(y), of(which or "true"), {}
  for _, r in ipairs(incipit.csv(name)) do
    r.min, r.max = math.min, math.max
    if keep(r) then points[#points + 1] = string.format("(%.8g,%.8g)", fx(r), fy(r)) end
  end
  tikz("\\addplot[%s] coordinates {%s};", options, table.concat(points, " "))
end

-- passes on a roofline: for one worker and for two the roof, the passes of many rows, and those of one row behind many
function incipit.roofline(f)
  local dash, x, y = ",dash pattern=on 3pt off 2pt,mark options={solid}", "madds / bytes", "madds / median / 1e6"
  local roof = {}
  for w = 1, 2 do
    for _, r in ipairs(incipit.csv(f)) do
      if r.model == "gpt2" and r.workers == w and r.depth == 0 and r.rows == 1 then
        local speed, band = r.speed / 1e3, r.bandwidth / 1e3
        tikz("\\addplot[%s,line width=.9pt%s] coordinates {(.12,%.6g) (%.6g,%.6g) (400,%.6g)};", w == 1 and "ink" or "ink!55",
          w == 2 and ",dash pattern=on 3pt off 2pt" or "", .12 * band, speed / band, speed, speed)
        if w == 1 then tikz("\\addplot[ink!55,densely dotted,line width=.7pt] coordinates {(%.6g,1.4) (%.6g,%.6g)} node[pos=0,anchor=south west,font=\\figfont,text=ink!70] {ridge point: %.1f};", speed / band, speed / band, speed, speed / band) end
        roof[w] = { speed, band }
      end
    end
  end
  incipit.series("line redo,mark=*,mark size=1.5pt", f, x, y, "model == 'gpt2' and workers == 1 and depth == 0")
  incipit.series("line redo,mark=*,mark size=1.5pt" .. dash, f, x, y, "model == 'gpt2' and workers == 2 and depth == 0")
  incipit.series("rubric,only marks,mark=diamond*,mark size=2.2pt", f, x, y, "model == 'gpt2' and workers == 1 and depth > 0")
  incipit.series("line once,mark=o,mark size=1.5pt", f, x, y, "model == 'pocket' and workers == 1 and depth == 0")
  for w, r in ipairs(roof) do                               -- at their ends, where no curve is
    tikz("\\node[anchor=west,align=left,inner sep=2pt,font=\\figfont%s] at (axis cs:400,%.6g) {%s:\\\\%.0f billion multiply--adds\\\\and %.0f billion bytes a second};",
      w == 1 and "\\bfseries,yshift=-2mm" or ",text=ink!70,yshift=2mm", r[1], w == 1 and "one worker" or "two workers", r[1], r[2])
  end
  local side = { [2] = "north west", [4] = "north west", [16] = "south east", [128] = "north", [512] = "north" }
  for _, r in ipairs(incipit.csv(f)) do
    if r.model == "gpt2" and r.workers == 1 and r.depth == 0 and side[r.rows] then
      tikz("\\node[anchor=%s,font=\\figfont,text=redodark,inner sep=2.5pt] at (axis cs:%.5g,%.5g) {%d};", side[r.rows], r.madds / r.bytes, r.madds / r.median / 1e6, r.rows)
    end
  end
end
-- tokens a second of batches, weights packed once: all together, each sequence, the bound, and a dotted line at the ridge point of
-- four-byte weights; broken: all together if each step packs
function incipit.batches(f)
  local r = incipit.csv(f)[1]
  local ridge, rate = 4 * r.speed / r.bandwidth, "1e3 * sequences / low"
  local packed, mapped = "weights == 'packed'", "weights == 'mapped'"
  tikz("\\addplot[ink!55,densely dotted,line width=.7pt] coordinates {(%.4g,4) (%.4g,700)} node[pos=.03,anchor=south west,font=\\figfont,text=ink!70] {ridge point};", ridge, ridge)
  incipit.series("ink!55,line width=.7pt", f, "sequences", "1e6 * sequences / max(madds / speed, bytes / bandwidth)", packed)
  incipit.series("line redo,mark=*,mark size=1.5pt,dash pattern=on 3pt off 2pt,mark options={solid}", f, "sequences", rate, mapped)
  incipit.series("line redo,mark=*,mark size=1.5pt", f, "sequences", rate, packed)
  incipit.series("line once,mark=o,mark size=1.5pt", f, "sequences", "1e3 / low", packed)
end
-- times of passes against a column, with the bound of the machine
function incipit.passtimes(f, x, per, which, bounds)
  for w = 1, 2 do
    local dash = w == 2 and ",dash pattern=on 3pt off 2pt,mark options={solid}" or ""
    local mine = string.format("model == 'gpt2' and workers == %d and %s", w, which)
    incipit.series("line redo,mark=*,mark size=1.3pt" .. dash, f, x, "median / " .. per, mine)
    if w <= bounds then incipit.series("ink!55,line width=.7pt" .. dash, f, x, "max(madds / speed, bytes / bandwidth) / 1e3 / " .. per, mine) end
  end
end
-- one run by two meters: over the same time what is calculated and what is read
function incipit.meters(f)
  local rows = incipit.csv(f)
  local last = rows[#rows]["end"]
  local wide = 136 / last
  local function strip(y0, tall, what, most, style, unit)
    local top = rows[1][most] / 1e3
    local scale = tall / (top * 1.08)
    for _, r in ipairs(rows) do
      tikz("\\fill[%s,draw=white,line width=.3pt] (%.3f,%.3f) rectangle (%.3f,%.3f);", style, r.begin * wide, y0, r["end"] * wide,
        y0 + r[what] / (r["end"] - r.begin) / 1e6 * scale)
    end
    tikz("\\draw[ink,line width=.6pt] (0,%.3f) -- (136,%.3f) node[anchor=south east,font=\\figfont,inner sep=1.5pt] {the machine: %.0f %s};",
      y0 + top * scale, y0 + top * scale, top, unit)
    tikz("\\draw[hair,line width=.5pt] (0,%.3f) -- (136,%.3f);", y0, y0)
  end
  strip(33, 24, "madds", "speed", "redo!85!black", "billion multiply--adds a second")
  strip(0, 24, "bytes", "bandwidth", "cache", "billion bytes a second")
  for t = 0, last, 250 do tikz("\\draw[hair,line width=.4pt] (%.3f,0) -- (%.3f,-1.2) node[fig/number,anchor=north] {%d};", t * wide, t * wide, t) end
end

-- the cache as memory: behind each step a plate for each layer, a line a position, a cell a number, darker the larger; what is fresh is lit
function incipit.plates(name, layers)
  local word = { "The", "cat", "sat", "on", "the", "mat", "." }
  local rows, most, last, place = incipit.csv(name), {}, {}, {}
  for i, l in ipairs(layers) do place[l] = i - 1 end
  for _, r in ipairs(rows) do
    most[r.layer] = math.max(most[r.layer] or 0, math.abs(r.key))
    last[r.step] = math.max(last[r.step] or 0, r.position)
  end
  local w, h, gap, column = .455, 3.1, 4, 36.6
  local tall = 7 * h + gap
  for _, r in ipairs(rows) do
    if place[r.layer] then
      local depth = math.floor(10 * math.abs(r.key) / most[r.layer] + .5)
      tikz("\\fill[%s!%d] (%.2f,%.2f) rectangle ++(%.2f,%.2f);", r.fresh == 1 and "rubric" or "key", 8 + 9 * depth,
        (r.step - 1) * column + r.cell * w, -place[r.layer] * tall - r.position * h, w, -(h - .18))
    end
  end
  for step, n in ipairs(last) do
    for l = 0, #layers - 1 do
      for i = 0, n + 1 do
        tikz("\\node[fig/number,anchor=east,text=%s] at (%.2f,%.2f) {%s\\strut};", i == n + 1 and "rubric" or "ink", (step - 1) * column - .3, -l * tall - (i + .5) * h, word[i + 1])
      end
      if step == 1 then tikz("\\node[fig/number,anchor=east,text=ink!60] at (-6,%.2f) {layer %d};", -l * tall - (n + 1) * h / 2, layers[l + 1]) end
    end
  end
end

-- (e) the funnel: columns are stages, lines are tokens; what was removed stays as a ghost
function incipit.funnel(name, stages, w, gap, h)
  local rows = incipit.csv(name)
  local max = {}
  for _, s in ipairs(stages) do
    max[s] = 0
    for _, r in ipairs(rows) do max[s] = math.max(max[s], r[s]) end
  end
  local full = 0                       -- the longest bar before the draw fills three quarters
  for k = 1, #stages - 1 do full = math.max(full, max[stages[k]] / .76) end
  for i, r in ipairs(rows) do
    local y = -(i - 1) * h
    local chosen = r[stages[#stages]] == 1
    tikz("\\node[anchor=east,font=\\figword,text=%s,inner sep=1pt] at (-2mm,%.2fmm) {%s};",
      chosen and "rubric" or "ink", y, texword(r.token))
    for k, s in ipairs(stages) do
      local x, p = (k - 1) * (w + gap), r[s]
      local before = k > 1 and r[stages[k - 1]] or p
      local last = k == #stages
      if p > 0 then
        tikz("\\fill[%s] (%.2fmm,%.2fmm) rectangle ++(%.2fmm,%.2fmm);", chosen and "rubric" or last and "ghost" or "key",
          x, y - h * .36, math.max(.25, w * p / (last and 1 or full)), h * .72)
        if not last then tikz("\\node[fig/number,anchor=west] at (%.2fmm,%.2fmm) {%s};",
          x + w * p / full + .6, y, p >= .0995 and string.format(".%02d", math.floor(p * 100 + .5)) or string.format(".%03d", math.floor(p * 1000 + .5))) end
      elseif before > 0 then
        tikz("\\draw[hair,densely dotted,line width=.5pt] (%.2fmm,%.2fmm) rectangle ++(%.2fmm,%.2fmm);",
          x, y - h * .36, math.max(.25, w * before / full), h * .72)
      end
    end
  end
end

-- (f) the token tree: at each step the favourite stands highest, so the path rises
-- where the sampler took it and falls where it did not; a branch is as thick as its p
function incipit.tree(name, dx, dy)
  local rows, y, chosen = incipit.csv(name), { [0] = 0 }, 0
  local deep = { [0] = 0 }
  for _, r in ipairs(rows) do
    y[r.id], deep[r.id] = y[r.parent] + (2 - r.rank) * dy, deep[r.parent] + 1
    tikz("\\node[%s,anchor=west] (t%d) at (%.2fmm,%.2fmm) {%s};", r.chosen == 1 and "new token" or "ghost token", r.id,
      deep[r.id] * dx, y[r.id], texword(r.token))
    tikz("\\node[fig/number,fill=white,anchor=north west,text=%s,inner sep=0pt] at ([yshift=-1.2pt,xshift=1pt]t%d.south west) {%s};",
      r.chosen == 1 and "rubric" or "faint", r.id,
      string.format("\\textbf{%.2f}\\enspace $%.2f$\\enspace %d", r.p, r.logp > -.005 and 0 or r.logp, r.rank))
  end
  tex.sprint("\\begin{scope}[on background layer]")
  for _, r in ipairs(rows) do
    tikz("\\draw[%s,line width=%.2fpt] (t%d.east) .. controls +(%.1fmm,0) and +(-%.1fmm,0) .. (t%d.west);",
      r.chosen == 1 and "rubric" or "ink!20", .5 + 6 * r.p, r.parent, dx * .28, dx * .28, r.id)
  end
  tex.sprint("\\end{scope}")
end

-- (h) attention: an arc from a row to each row it reads, as wide as the weight
function incipit.arcs(name, tokens, dx, f)
  f = f or .3
  for i, t in ipairs(tokens) do
    tikz("\\node[%s,inner xsep=1.5pt] (w%d) at (%.2fmm,0) {%s};", i == #tokens and "new token" or "prompt token", i - 1, (i - 1) * dx, texword(t)) end
  tex.sprint("\\begin{pgfinterruptboundingbox}\\begin{scope}[on background layer]")
  local dmax, rows = 0, incipit.csv(name)
  table.sort(rows, function(a, b) if a.from ~= b.from then return a.from < b.from end; return a.weight < b.weight end)
  for _, r in ipairs(rows) do
    if r.from ~= r.to and r.weight > .015 then
      local d = r.from - r.to
      dmax = math.max(dmax, d)
      tikz("\\draw[%s,line width=%.2fpt,opacity=%.2f] (w%d.north) .. controls +(102:%.2fmm) and +(78:%.2fmm) .. (w%d.north);",
        r.from == #tokens - 1 and "query" or "key", .2 + 7 * r.weight, r.from == #tokens - 1 and .45 + .5 * r.weight or .16 + .5 * r.weight, r.from, 5 + d * dx * f, 5 + d * dx * f, r.to)
    end
  end
  tex.sprint("\\end{scope}\\end{pgfinterruptboundingbox}")
  tikz("\\path (0,%.2fmm);", .75 * (5 + dmax * dx * f) + 3)
end

-- the tokens of a piece, side by side
function incipit.piece(s)
  local first = true
  for t in s:gsub("\\textvisiblespace ?", "\1"):gsub("\\ ", " "):gmatch("%S+") do
    tex.sprint((first and "" or "\\kern-.35pt") .. "\\tok{" .. t:gsub("\1", "\\ ") .. "}")
    first = false
  end
end

-- (i) a sentence under more and more merges: a line a number of merges, a box a token, new ones filled
function incipit.merges(name)
  local last, line, y, now, tokens, rows = {}, nil, 0, {}, 0, incipit.csv(name)
  for i, r in ipairs(rows) do
    if r.merges ~= line then
      last, now, line, y, tokens = now, {}, r.merges, y - 1, 0
      tikz("\\node[fig/number,anchor=east] at (-.35,%d) {%d};", y, line)
    end
    tokens = tokens + 1
    if not rows[i + 1] or rows[i + 1].merges ~= line then tikz("\\node[fig/label,anchor=east] at (25,%d) {%d};", y, tokens) end
    local key, text = r.from .. "," .. r.length, tostring(r.text)
    now[key] = true
    local new, blank = y < -1 and not last[key], text:sub(1, 1) == "_"
    tikz("\\path[%s,rounded corners=1.6pt,line width=.45pt] (%.2f,%.2f) rectangle (%.2f,%.2f);",
      new and "draw=rubric,fill=rubric" or "draw=ink!40,fill=white", r.from + .06, y - .36, r.from + r.length - .06, y + .36)
    if blank then tikz("\\draw[line width=.5pt,%s] (%.2f,%.2f) -- ++(0,-.12) -- ++(.44,0) -- ++(0,.12);", new and "white" or "faint", r.from + .28, y - .1) end
    for k = blank and 2 or 1, #text do
      tikz("\\node[inner sep=0pt,anchor=base,font=\\figword,text=%s] at (%.2f,%.2f) {%s};", new and "white" or "ink", r.from + k - .5, y - .17, text:sub(k, k))
    end
  end
end

-- (j2) one sentence in several vocabularies: columns are characters; a token that is only a part of a character is tinted, and the character
-- written across its parts; the typeface has no cat, so it is drawn
local cat = "\\fill[%s,shift={(%.2f,%.2f)},x=3.1mm,y=3.1mm,rounded corners=.1pt] (-.36,-.42) .. controls (-.42,-.1) and (-.3,.12) .. (-.02,.1) -- (.02,.44) -- (.14,.3) -- (.28,.32) -- (.4,.46) -- (.44,.16) .. controls (.42,0) and (.32,-.06) .. (.26,-.1) -- (.28,-.42) -- cycle;"
local function letter(c, x, y, colour)
  if c == 32 then return tikz("\\draw[%s,line width=.5pt] (%.2f,%.2f) -- ++(0,-.12) -- ++(.44,0) -- ++(0,.12);", colour == "ink" and "faint" or colour, x - .22, y - .12) end
  if c == 0x1f408 then
    tikz(cat, colour, x, y)
    return tikz("\\draw[%s,line width=.9pt,line cap=round,shift={(%.2f,%.2f)},x=3.1mm,y=3.1mm] (-.34,-.34) .. controls (-.62,-.3) and (-.56,.06) .. (-.48,.22);", colour, x, y)
  end
  tikz("\\node[inner sep=0pt,anchor=base,font=\\figword,text=%s] at (%.2f,%.2f) {%s};", colour, x, y - .19,
    c == 0x301 and "\\'{}" or c == 0x3ac and "\\char945\\llap{\\char180\\kern.07em}" or "\\char" .. c .. "\\relax")
end
function incipit.spellings(name)
  local letters, order, of = {}, {}, {}
  for _, r in ipairs(incipit.csv(name)) do
    if r.vocabulary == "text" then letters[#letters + 1] = r.what
    else
      if not of[r.vocabulary] then of[r.vocabulary] = {}; order[#order + 1] = r.vocabulary end
      table.insert(of[r.vocabulary], r)
    end
  end
  for k, v in ipairs(order) do
    local y, cut = -1.15 * k, {}
    tikz("\\node[fig/label,anchor=east] at (-.4,%.2f) {%s};", y, v)
    tikz("\\node[fig/label,anchor=west] at (%.1f,%.2f) {%d};", #letters + .3, y, #of[v])
    for _, t in ipairs(of[v]) do
      local part = t.from % 1 ~= 0 or t.to % 1 ~= 0
      local gap = part and .035 or .07
      if part then for i = t.from // 1 + 1, -(-t.to // 1) do cut[i] = true end end
      tikz("\\path[%s,rounded corners=1.2pt,line width=.45pt] (%.3f,%.2f) rectangle (%.3f,%.2f);",
        part and "draw=rubric!70,fill=rubric!14" or "draw=ink!45,fill=white", t.from + gap, y - .42, t.to - gap, y + .42)
    end
    for i, c in ipairs(letters) do letter(c, i - .5, y, cut[i] and "rubric" or "ink") end
  end
end

-- (q) speeds beside each other: a row a system, a dot a text, megabytes a second on a scale of powers of ten
function incipit.speeds(name)
  local title, order, of = { gpt2 = "GPT-2", cl100k = "cl100k", llama2 = "Llama 2" }, {}, {}
  for _, r in ipairs(incipit.csv(name)) do
    local group = of[r.vocabulary]
    if not group then group = { rows = {} }; of[r.vocabulary] = group; order[#order + 1] = r.vocabulary end
    if not group[r.system] then group[r.system] = { system = r.system }; table.insert(group.rows, group[r.system]) end
    group[r.system][r.text] = r
  end
  local y, place = 0, function(v) return 22 * (math.log(v, 10) + .5) end
  local foot = y + 5
  for _, v in ipairs(order) do foot = foot - 6.2 - 4.6 * #of[v].rows end
  for _, v in ipairs { 1, 10 } do -- before the rows, so that a number on the line can be read
    tikz("\\draw[ink!18,line width=.4pt] (%.2f,%.2f) -- (%.2f,%.2f) node[fig/label,anchor=north] {%d MB/s};", place(v), y + 1, place(v), foot, v)
  end
  for _, v in ipairs(order) do
    local best = function(s) return s["10 MB"].median end
    table.sort(of[v].rows, function(a, b) return best(a) > best(b) end)
    y = y - 2
    tikz("\\node[fig/label,anchor=east,font=\\figword\\bfseries] at (-1,%.2f) {%s};", y + 4.6, title[v] or v)
    for _, s in ipairs(of[v].rows) do
      local ours = s.system == "incipit"
      tikz("\\node[fig/label,anchor=east%s] at (-1,%.2f) {%s};", ours and ",text=rubric" or "", y, s.system)
      tikz("\\draw[ink!20,line width=.4pt] (0,%.2f) -- (%.2f,%.2f);", y, place(best(s)), y)
      for _, t in ipairs { "1.1 MB", "10 MB" } do
        local r, colour = s[t], ours and "rubric" or "ink"
        tikz("\\draw[%s,line width=.5pt] (%.2f,%.2f) -- (%.2f,%.2f);", colour, place(r.lower), y, place(r.upper), y)
        tikz("\\path[draw=%s,fill=%s,line width=.5pt] (%.2f,%.2f) circle (1.1);", colour, t == "10 MB" and colour or "white", place(r.median), y)
      end
      local right = math.max(place(s["10 MB"].upper), place(s["1.1 MB"].upper))
      tikz("\\node[fig/label,anchor=west,fill=white,inner sep=.5pt%s] at (%.2f,%.2f) {%.1f};", ours and ",text=rubric" or "", right + 1.8, y, best(s))
      y = y - 4.6
    end
    y = y - 4.2
  end
end

-- (j) a stream: bytes released above the line, bytes held below it, a column a token
function incipit.stream(name)
  local rows = incipit.csv(name)
  for i, r in ipairs(rows) do
    for k = 1, r.released do tikz("\\path[cell once] (%.2f,%.2f) rectangle ++(.7,.86);", i - .35, k - .93) end
    for k = 1, r.held do tikz("\\path[cell redo] (%.2f,%.2f) rectangle ++(.7,-.86);", i - .35, .93 - k) end
    tikz("\\node[prompt token,minimum width=9mm] at (%d,-3) {%d};", i, r.id)
  end
  tikz("\\draw[ink,line width=.6pt] (.45,0) -- (%.2f,0);", #rows + .55)
end

-- (k) the alphabet of bytes: sixteen by sixteen characters, tinted where a byte does not stand for itself
function incipit.alphabet(name)
  for _, r in ipairs(incipit.csv(name)) do
    local x, y, moved = r.byte % 16, -(r.byte // 16), r.byte ~= r.character
    tikz("\\path[%s] (%d,%d) rectangle ++(1,-1);", moved and "fill=rubric!13,draw=white" or "draw=ink!12", x, y)
    tikz("\\node[inner sep=0pt,anchor=base,font=\\figfont,text=%s] at (%.1f,%.2f) {%s};", moved and "rubric" or "ink", x + .5, y - .68, r.character == 0x138 and "\\fontsize{5}{5}\\selectfont 138" or "\\char" .. r.character .. "\\relax")
  end
  for k = 0, 15 do
    tikz("\\node[fig/number] at (%.1f,.42) {%X};\\node[fig/number,anchor=east] at (-.15,%.1f) {%X};", k + .5, k, -k - .5, k)
  end
end
-- the lattice of a text: places, the best score to each, and an arc for each piece, the longer the higher; single letters below
function incipit.unigram(name, text)
  local rows, best, dx = incipit.csv(name), { [0] = 0 }, 22
  for j = 1, #text do
    for _, r in ipairs(rows) do
      if r.to == j and (best[j] == nil or best[r.from] + r.score > best[j]) then best[j] = best[r.from] + r.score end
    end
  end
  for _, r in ipairs(rows) do
    local n, shade = r.to - r.from, r.best == 1 and "rubric" or "ink"
    local bend, y = n == 1 and -9 or 13 * (n - 1), n == 1 and -11.6 or 10.4 * (n - 1) + 2.6
    tikz("\\draw[%s,line width=%s] (%g,%d) .. controls +(%g,%g) and +(%g,%g) .. (%g,%d);", shade, r.best == 1 and "1.1pt" or ".5pt",
      r.from * dx + 1.8, n == 1 and -2 or 2, dx * n / 5, bend, -dx * n / 5, bend, r.to * dx - 1.8, n == 1 and -2 or 2)
    tikz("\\node[fig/number,fill=white,inner sep=.6pt,text=%s] at (%g,%g) {\\texttt{%s} $%g$};", shade, (r.from + r.to) * dx / 2, y, r.piece, r.score)
  end
  for j = 0, #text do
    tikz("\\node[circle,draw=ink,fill=white,line width=.6pt,inner sep=0pt,minimum size=6.4mm,font=\\figfont] at (%d,0) {%d};", j * dx, j)
    tikz("\\node[fig/number] at (%d,-19) {$%g$};", j * dx, best[j])
  end
  tikz("\\node[fig/label,anchor=east] at (-6,0) {place};\\node[fig/label,anchor=east] at (-6,-19) {best score};")
end
-- a text as it stands in its file, each character the redder the more of its bits can be turned and the file still loads
function incipit.siege(name)
  local x, y = 0, 0
  for _, r in ipairs(incipit.csv(name)) do
    if r.character == 10 then x, y = 0, y - 1
    else
      if r.loads > 0 then tikz("\\fill[rubric!%d] (%.1f,%.2f) rectangle ++(1,.96);", 8 + 4 * r.loads, x, y - .28) end
      if r.character ~= 32 then tikz("\\node[inner sep=0pt,anchor=base,font=\\ttfamily\\footnotesize,text=%s] at (%.1f,%d) {\\char%d\\relax};", r.loads > 0 and "rubric" or "ink", x + .5, y, r.character) end
      x = x + 1
    end
  end
end
-- (k) what one head looks at: words upright below, an arc for each weight; those of the last row dark
function incipit.looks(arcs, words, dx)
  local n = 0
  for i, t in ipairs(incipit.csv(words)) do n = i
    tikz("\\node[rotate=90,anchor=east,inner sep=1.2pt,font=\\figfont\\strut] at (%.2fmm,-.6mm) {%s};", (i - 1) * dx, texword(tostring(t.word))) end
  local rows, high = incipit.csv(arcs), 0
  table.sort(rows, function(a, b) if a.from ~= b.from then return a.from < b.from end return a.weight < b.weight end)
  for _, r in ipairs(rows) do
    if r.from ~= r.to and r.weight > .03 then
      local d, last = r.from - r.to, r.from == n - 1
      high = math.max(high, d)
      tikz("\\draw[%s,line width=%.2fpt,opacity=%.2f] (%.2fmm,.4mm) .. controls +(0,%.2fmm) and +(0,%.2fmm) .. (%.2fmm,.4mm);",
        last and "query" or "key", .2 + 4.5 * r.weight, last and .5 + .5 * r.weight or .12 + .4 * r.weight, r.from * dx, 2 + d * dx * .36, 2 + d * dx * .36, r.to * dx)
    end
  end
end

-- rows of attention, one above the other: in each a bar for the weight of a position, and its own position in the colour of queries
function incipit.somerows(weights, words, dx, high, which)
  local n, table_of = 0, {}
  for i, t in ipairs(incipit.csv(words)) do n = i
    tikz("\\node[rotate=90,anchor=east,inner sep=1.2pt,font=\\figfont\\strut] at (%.2fmm,-.8mm) {%s};", (i - 1) * dx, texword(tostring(t.word))) end
  for _, r in ipairs(incipit.csv(weights)) do table_of[r.from] = table_of[r.from] or {}; table_of[r.from][r.to] = r.weight end
  for k, row in ipairs(which) do
    local y = (#which - k) * (high + 5)
    for _, p in ipairs { 0, .5, 1 } do
      tikz("\\draw[hair,line width=.35pt] (%.2fmm,%.2fmm) -- (%.2fmm,%.2fmm);", -.6 * dx, y + p * high, (n - .4) * dx, y + p * high)
      tikz("\\node[fig/number,anchor=east] at (%.2fmm,%.2fmm) {%g};", -.7 * dx, y + p * high, p) end
    for t = 0, row do
      tikz("\\fill[%s] (%.2fmm,%.2fmm) rectangle (%.2fmm,%.2fmm);", t == row and "query" or "key", (t - .36) * dx, y, (t + .36) * dx, y + math.max(table_of[row][t] * high, .25)) end
  end
end

-- (l) the bits of a text: its letters in lines that end after a sentence, and above a letter a bar for the bits that it decides
function incipit.surprise(name, w)
  local lines, last = { {} }, nil
  for _, r in ipairs(incipit.csv(name)) do
    if last == 46 and r.byte == 32 and #lines == 1 then lines[2] = {} else table.insert(lines[#lines], r) end
    last = r.byte
  end
  local most = 0
  for _, l in ipairs(lines) do most = math.max(most, #l) end
  local dx = math.min(w / most, 2)
  for k, l in ipairs(lines) do
    local y = -(k - 1) * 17
    for i, r in ipairs(l) do
      tikz("\\node[inner sep=0pt,anchor=base,font=\\ttfamily\\fontsize{7.6}{8}\\selectfont] at (%.2fmm,%.1fmm) {\\char%d\\relax};", (i - .5) * dx, y, r.byte)
      if r.bits > 0 then
        tikz("\\fill[ink!75] (%.2fmm,%.1fmm) rectangle ++(%.2fmm,%.2fmm);", (i - .8) * dx, y + 3, .6 * dx, 2 * r.bits)
        tikz("\\node[fig/number,anchor=south] at (%.2fmm,%.2fmm) {%.1f};", (i - .5) * dx, y + 3 + 2 * r.bits, r.bits)
      end
    end
  end
end

-- a ring of places over the steps: the position that lies in each, and what has just been written
function incipit.ring(name, places)
  local rows, w, h = incipit.csv(name), 8.2, 6.2
  local first, last = rows[1].step, rows[#rows].step
  for _, r in ipairs(rows) do
    local x, y, fresh = (r.step - first) * w, -r.place * h, r.fresh == 1
    tikz("\\fill[%s] (%.2f,%.2f) rectangle ++(%.2f,%.2f);", fresh and "rubric" or "cache!38", x, y, w - .7, -(h - .7))
    tikz("\\node[font=\\figfont%s,text=%s,inner sep=0] at (%.2f,%.2f) {%d};", fresh and "\\bfseries" or "", fresh and "white" or "ink", x + (w - .7) / 2,
      y - (h - .7) / 2, r.position)
  end
  for p = 0, places - 1 do tikz("\\node[fig/number,anchor=east,text=ink!60] at (-1.2,%.2f) {place %d};", -p * h - (h - .7) / 2, p) end
  for s = first, last do tikz("\\node[fig/number,anchor=south] at (%.2f,1) {%d};", (s - first) * w + (w - .7) / 2, s) end
  tikz("\\node[fig/label,anchor=east] at (-1.2,2.6) {tokens read};")
end

-- errors by row: a line a format, and below a tick where the likeliest token has changed
function incipit.kverrors(name)
  local style = { { "f16", "once" }, { "bf16", "cache" }, { "q8_0", "ink" }, { "q4_0", "redodark" } }
  local words = { f16 = "f16", bf16 = "bf16", q8_0 = "q8\\_0", q4_0 = "q4\\_0" }
  local last = {}
  for _, s in ipairs(style) do
    incipit.series(s[2] .. ",line width=1pt,mark=none", name, "row", "error", "format == '" .. s[1] .. "'")
  end
  for _, r in ipairs(incipit.csv(name)) do
    last[r.format] = r
    if r.changed > 0 then tikz("\\fill[%s] (axis cs:%d,%.5g) circle[radius=%.2fpt];", "redodark", r.row, r.format == "q4_0" and 2.4e-4 or 1.6e-4, .9 + .5 * r.changed) end
  end
  for _, s in ipairs(style) do tikz("\\node[anchor=west,font=\\figfont\\bfseries,text=%s] at (axis cs:1920,%.5g) {%s};", s[2], last[s[1]].error, words[s[1]]) end
end

-- a smaller cache: the newest rows, the first four and the newest, and for texts past the context all rows
function incipit.lossy(text, x)
  local name, some = "figures/data/accounts.lossy.csv", "format == 'f32' and text == '" .. text .. "' and "
  if text == "long" then incipit.series("ink,line width=1.1pt,mark=*,mark size=1pt", name, x, "perplexity", some .. "rows == 2048") end
  local all = text == "long" and "rows < 2048 and " or ""
  incipit.series("line redo,mark=*,mark size=1pt", name, x, "perplexity", some .. all .. "sinks == 0")
  incipit.series("line once,mark=*,mark size=1pt", name, x, "perplexity", some .. all .. (text == "long" and "sinks == 4" or "(sinks == 4 or rows == 512)"))
end

-- what rounding to fewer bits does to the logits: a dot for float inputs, a circle for inputs in fewer bits
function incipit.quanterror(name)
  local words = { bf16 = "bf16", q8_0 = "q8\\_0", q5_1 = "q5\\_1", q5_0 = "q5\\_0", q4_1 = "q4\\_1", q4_0 = "q4\\_0" }
  local side = { bf16 = "north east", q8_0 = "north west", q5_1 = "north west", q5_0 = "north east", q4_1 = "west,inner sep=5pt" }
  for _, r in ipairs(incipit.csv(name)) do
    local word = words[r.way]
    if word then
      tikz("\\fill[once] (axis cs:%.4f,%.5g) circle[radius=1.6pt];", r.bits, r.error)
      tikz("\\node[font=\\figfont\\bfseries,text=once,inner sep=3pt,anchor=%s] at (axis cs:%.4f,%.5g) {%s};", side[r.way] or "south west", r.bits, r.error, word)
    else
      tikz("\\draw[redodark,line width=.8pt] (axis cs:%.4f,%.5g) circle[radius=3pt];", r.bits, r.error)
      if r.way == "q8_0.int8" or r.way == "bf16.bf16" then
        tikz("\\node[anchor=south%s,font=\\figfont,text=redodark,inner sep=4pt] at (axis cs:%.4f,%.5g) {inputs %s};", r.way == "bf16.bf16" and " east" or " west",
          r.bits, r.error, r.way == "bf16.bf16" and "bf16" or "int8")
      end
    end
  end
end

-- a block of weights on its sixteen values, in two ways
function incipit.quantblock(name)
  local rows = incipit.csv(name)
  local function panel(column, step, base, y0, word)
    local low, high = 1e9, -1e9
    for _, r in ipairs(rows) do low, high = math.min(low, r[column], r.x), math.max(high, r[column], r.x) end
    for q = 0, 15 do tikz("\\draw[hair!60] (-.6,%.4f) -- (31.6,%.4f);", y0 + base(q, step), y0 + base(q, step)) end
    for i, r in ipairs(rows) do
      tikz("\\draw[redodark,line width=1.3pt] (%d,%.4f) -- (%d,%.4f);", i - 1, y0 + r.x, i - 1, y0 + r[column])
      tikz("\\fill[ink] (%d,%.4f) circle[radius=1.2pt];", i - 1, y0 + r.x)
    end
    tikz("\\node[fig/label,anchor=east,font=\\figfont\\bfseries] at (-1,%.4f) {%s};", y0, word)
  end
  local even, low = rows[1].step, rows[1].low_step
  local most, min = 0, 1e9
  for _, r in ipairs(rows) do
    if math.abs(r.x) > math.abs(most) then most = r.x end
    min = math.min(min, r.low)
  end
  local sign = most < 0 and 1 or -1
  panel("even", even, function(q, d) return sign * (q - 8) * d end, .62, "q4\\_0")
  panel("low", low, function(q, d) return min + q * d end, 0, "q4\\_1")
end

-- (s) two ways to go on behind a text: way 0 is the text, ways 1 and 2 part from it
function incipit.fork(name)
  local last, y = "", { [0] = 0, [1] = 7, [2] = -7 }
  for line in io.lines(name) do
    local way, place, piece = line:match("^(%d),(%d+),(.*)$")
    if way then
      way = tonumber(way)
      local id = "w" .. way .. "p" .. place
      local root = incipit.root
      local at = last == "" and "(0,0)" or "([xshift=.6mm]" .. last .. ".east)"
      local alias = ""
      if way > 0 and not (last:match("^w" .. way)) then
        alias = ",alias=way" .. way
        at = string.format("([xshift=12mm,yshift=%.1fmm]%s.east)", y[way] or 0, root)
        tikz("\\draw[rubric,line width=1pt] (%s.east) .. controls +(7mm,0) and +(-7mm,0) .. %s;", root, at)
      end
      tikz("\\node[%s%s,anchor=west,inner xsep=1.6pt] (%s) at %s {%s};", way == 0 and "prompt token" or "new token", alias, id, at, incipit.texword(piece))
      if way == 0 then incipit.root = id end
      last = id
    end
  end
end

-- verdicts by source: a bar a source, a piece a verdict, its number in it
function incipit.verdicts(name, words, unit)
  local order = { "holds", "holds-with-rounding", "off-by-one", "ambiguous", "misleading", "wrong", "not-testable-here", "to-come" }
  local style = { holds = "fill=once", ["holds-with-rounding"] = "fill=once!45", ["off-by-one"] = "cell redo", misleading = "fill=query",
    ambiguous = "fill=query!22,postaction={pattern={Dots[distance=1.9pt,radius=.45pt]},pattern color=query}",
    wrong = "fill=rubric,postaction={pattern={Lines[angle=90,distance=2pt,line width=.6pt]},pattern color=white}", ["not-testable-here"] = "fill=ink!14", ["to-come"] = "fill=white,draw=ink!40,line width=.4pt" }
  local ink = { holds = "white", misleading = "white", wrong = "white,fill=rubric", ["off-by-one"] = "ink,fill=white", ambiguous = "ink,fill=white" }
  local of = {}
  for _, r in ipairs(incipit.csv(name)) do of[r.source] = of[r.source] or {}; of[r.source][r.verdict] = r.rows end
  for i, source in ipairs { "S0", "S1", "S2", "S3", "S4" } do
    local x, y = 0, -(i - 1) * 7
    tikz("\\node[fig/label,anchor=east] at (-1.5,%.2f) {%s};", y - 2.2, source)
    for _, v in ipairs(order) do
      local n = of[source][v]
      if n > 0 then
        tikz("\\path[%s] (%.2f,%.2f) rectangle ++(%.2f,-4.6);", style[v], x, y, n * unit)
        if n * unit > 2.6 then tikz("\\node[font=\\figsmall,text=%s,inner sep=.4pt] at (%.2f,%.2f) {%d};", ink[v] or "ink", x + n * unit / 2, y - 2.3, n) end
        x = x + n * unit
      end
    end
  end
  for k, v in ipairs(order) do
    local x, y = (k - 1) % 4 * 27, -5 * 7 - 2 - math.floor((k - 1) / 4) * 5
    tikz("\\path[%s] (%.2f,%.2f) rectangle ++(3,-3);", style[v], x, y)
    tikz("\\node[fig/label,anchor=west] at (%.2f,%.2f) {%s};", x + 3.6, y - 1.5, words[v] or v)
  end
end

-- (u) the wrong answers of each lab, sorted by the points they keep; course/kills.tsv has no head
function incipit.kills(name)
  local shade = { { 90, "redo!35" }, { 75, "redo" }, { 50, "redodark" }, { 0, "rubric" } }
  local labs, of = {}, {}
  for l in io.lines(name) do
    local lab, kind, _, points = l:match("^([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t")
    if not of[lab] then of[lab] = { cheats = 0 }; labs[#labs + 1] = lab end
    if kind == "wrong" then table.insert(of[lab], tonumber(points)) elseif kind == "cheat" then of[lab].cheats = of[lab].cheats + 1 end
  end
  local most = 0
  for i, lab in ipairs(labs) do
    local y, list = -(i - 1) * 5.2, of[lab]
    most = math.max(most, #list)
    table.sort(list, function(a, b) return a > b end)
    tikz("\\node[fig/label,anchor=east] at (-1.5,%.2f) {%s};", y, (lab:gsub("^0", ""):gsub("-", "\\enspace ")))
    for k, points in ipairs(list) do
      for _, s in ipairs(shade) do if points >= s[1] then tikz("\\fill[%s] (%.2f,%.2f) rectangle ++(.64,3.4);", s[2], (k - 1) * .84, y - 1.7) break end end
    end
  end
  local x, y = 0, -#labs * 5.2 - 1
  for i, s in ipairs(shade) do
    local words = ({ "keeps 90 or more", "75 to 89", "50 to 74", "less than 50 points" })[i]
    tikz("\\fill[%s] (%.2f,%.2f) rectangle ++(2.1,3.4);", s[2], x, y - 1.7)
    tikz("\\node[fig/label,anchor=west] at (%.2f,%.2f) {%s};", x + 2.6, y, words)
    x = x + ({ 27, 17, 17, 0 })[i]
  end
end

-- how many answers of a kind the grader of the course is tested with
function incipit.answers(kind)
  local n = 0
  for l in io.lines("course/kills.tsv") do if l:match("^[^\t]*\t" .. kind .. "\t") then n = n + 1 end end
  tex.sprint(tostring(n))
end

-- (t) measured times as bars, the quartiles as a line in each
function incipit.clockbars(name, words)
  local rows = incipit.csv(name)
  for i, r in ipairs(rows) do
    local y = #rows + 1 - i
    tikz("\\fill[key] (axis cs:0,%.2f) rectangle (axis cs:%.4f,%.2f);", y - .3, r.median, y + .3)
    tikz("\\draw[ink,line width=.8pt] (axis cs:%.4f,%d) -- (axis cs:%.4f,%d);", r.low, y, r.high, y)
    tikz("\\node[anchor=west,font=\\figfont] at (axis cs:%.4f,%d) {%s};", r.high + .08, y, words[r.setting])
  end
end
-- (t) the rungs of a ladder on a logarithmic axis, a dot and a line for median and quartiles, and the probe as their limit
function incipit.rungsaxis(name)
  tex.sprint(string.format("ymin=.4,ymax=%.1f", #incipit.csv(name) + 1.2))
end
function incipit.rungs(name, words)
  local rows = incipit.csv(name)
  local top = #rows + 1
  for i, r in ipairs(rows) do
    local y = top - i
    tikz("\\draw[hair,line width=.4pt] (axis cs:.1,%d) -- (axis cs:%.4g,%d);", y, r.median, y)
    tikz("\\draw[key,line width=1pt] (axis cs:%.4g,%d) -- (axis cs:%.4g,%d);", r.low, y, r.high, y)
    tikz("\\fill[key] (axis cs:%.4g,%d) circle[radius=1.5pt];", r.median, y)
    tikz("\\node[anchor=east,font=\\figfont] at (axis cs:.09,%d) {%s};", y, words[r.rung] or r.rung)
    tikz("\\node[anchor=east,font=\\figfont] at (axis cs:1400,%d) {%.3g};", y, r.median)
  end
  tikz("\\draw[rubric,line width=.8pt,densely dashed] (axis cs:%.4g,.4) -- (axis cs:%.4g,%.2f);", rows[1].roof, rows[1].roof, top - .4)
  tikz("\\node[anchor=south,font=\\figfont,text=rubric,inner sep=1pt] at (axis cs:%.4g,%.2f) {probe: %.1f};", rows[1].roof, top - .4, rows[1].roof)
end
-- one layer on the roofline: a line for each kind of weights that lie in a cache, a diamond for one row whose weights come from memory
function incipit.layerroof(many, one, ladder)
  local speed, band, n = incipit.csv(ladder)[1].roof, 0, 0
  local size = { f32 = 4, f16 = 2, bf16 = 2, q8_0 = 34 / 32, q5_1 = 24 / 32, q5_0 = 22 / 32, q4_1 = 20 / 32, q4_0 = 18 / 32 }
  for _, r in ipairs(incipit.csv(one)) do if r.workers == 1 then band, n = band + r.roof, n + 1 end end
  band = band / n
  tikz("\\addplot[ink,line width=.9pt] coordinates {(.2,%.6g) (%.6g,%.6g) (700,%.6g)};", .2 * band, speed / band, speed, speed)
  tikz("\\node[anchor=south east,font=\\figfont] at (axis cs:690,%.6g) {probe};", speed)
  tikz("\\node[anchor=north west,font=\\figfont,rotate=0] at (axis cs:%.4g,%.4g) {memory};", .22, .22 * band * .9)
  local look = { f32 = "line redo,mark=o,mark size=1.4pt", ["f32.packed"] = "line redo,mark=*,mark size=1.4pt",
    ["bf16.packed"] = "key,line width=1.1pt,mark=square*,mark size=1.4pt", q8_0 = "line once,mark=o,mark size=1.4pt", ["q8_0.packed"] = "line once,mark=*,mark size=1.4pt" }
  local said = { f32 = "float", ["f32.packed"] = "float, packed", ["bf16.packed"] = "bfloat16, packed", q8_0 = "Q8\\_0", ["q8_0.packed"] = "Q8\\_0, packed" }
  local order = { "q8_0.packed", "q8_0", "bf16.packed", "f32.packed", "f32" }
  for i, kind in ipairs(order) do
    local points = {}
    for _, r in ipairs(incipit.csv(many)) do
      if r.weights == kind then points[#points + 1] = string.format("(%.5g,%.5g)", r.rows / size[kind:match("^[^.]*")], r.median) end
    end
    tikz("\\addplot[%s] coordinates {%s};", look[kind], table.concat(points, " "))
    tikz("\\addplot[%s] coordinates {(20,%.4g) (30,%.4g)};", look[kind], 11 / 1.42 ^ (i - 1), 11 / 1.42 ^ (i - 1))
    tikz("\\node[anchor=west,font=\\figfont] at (axis cs:33,%.4g) {%s};", 11 / 1.42 ^ (i - 1), said[kind])
  end
  for _, r in ipairs(incipit.csv(one)) do
    if r.workers == 1 and size[r.type] then
      tikz("\\addplot[rubric,only marks,mark=diamond*,mark size=2.2pt] coordinates {(%.5g,%.5g)};", 1 / size[r.type], r.median / size[r.type])
    end
  end
end
-- rates of attention at rising depths, with their quartiles, and the probe beside each
function incipit.above(name, key)
  local top = 0
  for _, r in ipairs(incipit.csv(name)) do top = math.max(top, r[key], r.high) end
  tex.sprint(string.format("%.4g", 1.12 * top))
end
function incipit.depths(name)
  local look = { f32 = "redo", f16 = "once" }
  local said = { f32 = "floats", f16 = "halves" }
  local last = {}
  for _, r in ipairs(incipit.csv(name)) do
    tikz("\\draw[%s,line width=.6pt] (axis cs:%d,%.4g) -- (axis cs:%d,%.4g);", look[r.type:sub(1, 3)], r.depth, r.low, r.depth, r.high)
    last[r.type] = r
  end
  local name_at, gap = {}, .075 * math.max(last["f32.together"].roof, last["f16.together"].roof)
  for _, t in ipairs { "f32", "f16" } do
    local together, alone = "type == '" .. t .. ".together'", "type == '" .. t .. ".alone'"
    incipit.series("line " .. look[t] .. ",mark=*,mark size=1.5pt", name, "depth", "median", together)
    incipit.series(look[t] .. ",line width=.7pt,mark=*,mark options={solid,fill=white},mark size=1.5pt", name, "depth", "median", alone)
    incipit.series(look[t] .. ",line width=.7pt,densely dashed,mark=none", name, "depth", "roof", together)
    for _, how in ipairs { "together", "alone" } do
      name_at[#name_at + 1] = { last[t .. "." .. how].median, t == "f32" and "redodark" or look[t], said[t] .. ", " .. how }
    end
  end
  name_at[#name_at + 1] = { (last["f32.together"].roof + last["f16.together"].roof) / 2, "ink", "probe" }
  table.sort(name_at, function(a, b) return a[1] < b[1] end)
  for i, n in ipairs(name_at) do                            -- names that would meet move up
    if i > 1 and n[1] < name_at[i - 1][1] + gap then n[1] = name_at[i - 1][1] + gap end
    tikz("\\node[anchor=west,font=\\figfont,text=%s] at (axis cs:%d,%.4g) {%s};", n[2], 8900, n[1], n[3])
  end
end

-- a search: a column a step, its candidates by rank; a line from each to the one it was grown from; kept ones framed, red what was best in the end
function incipit.lattice(name, dx, dy)
  local rows, sum = incipit.csv(name), { [0] = 0 }
  for _, r in ipairs(rows) do
    sum[r.id] = sum[r.parent] + r.logp
    tikz("\\node[%s,anchor=west] (t%d) at (%.2fmm,%.2fmm) {%s};", r.chosen == 1 and "new token" or r.reason == "too low" and "ghost token" or "prompt token",
      r.id, r.step * dx, -r.rank * dy, texword(tostring(r.token)))
    tikz("\\node[fig/number,fill=white,anchor=north west,text=%s,inner sep=.6pt] at ([yshift=-.7pt,xshift=.6pt]t%d.south west) {$%.2f$};", r.chosen == 1 and "rubric" or "ink!70", r.id, sum[r.id])
  end
  tex.sprint("\\begin{scope}[on background layer]")
  for _, style in ipairs { "ink!20,line width=.4pt", "ink!55,line width=.8pt", "rubric,line width=1.8pt" } do
    for _, r in ipairs(rows) do
      if style == (r.chosen == 1 and "rubric,line width=1.8pt" or r.reason == "too low" and "ink!20,line width=.4pt" or "ink!55,line width=.8pt") then
        tikz("\\draw[%s] (t%d.east) .. controls +(%.1fmm,0) and +(-%.1fmm,0) .. (t%d.west);", style, r.parent, dx * .25, dx * .25, r.id)
      end
    end
  end
  tex.sprint("\\end{scope}")
end

-- slots before and after a fork: a line a slot, a cell a row, a frame a page of four; dotted where the page is another slot's, hatched where it was copied
function incipit.seats(name, w, h, shift)
  local style = { own = "cell key", shared = "cell empty", copied = "cell redo", new = "cell lit" }
  local ink = { own = "white", shared = "ink!70", copied = "ink", new = "white" }
  for _, r in ipairs(incipit.csv(name)) do
    local x, y = r.after * shift + r.position * w + math.floor(r.position / 4) * 1.6, -r.seat * (h + 1.8)
    tikz("\\path[%s] (%.2f,%.2f) rectangle ++(%.2f,%.2f);", style[r.kind], x, y, w, -h)
    local word = texword(r.token:gsub("^ ", ""))
    tikz("\\node[font=\\figsmall,text=%s,text height=1.3ex,text depth=.3ex,inner sep=0pt%s] at (%.2f,%.2f) {%s};", ink[r.kind], r.kind == "copied" and ",fill=white,inner sep=.7pt,rounded corners=1pt" or "", x + w / 2, y - h / 2, word)
    if r.position == 0 then tikz("\\node[fig/label,anchor=east,text=faint] at (%.2f,%.2f) {slot %d};", x - .8, y - h / 2, r.seat) end
  end
end

-- (u) a text on its way to a reader: a line a token, a column a byte; what the token releases, what is held and why
function incipit.hold(name)
  local rows, wide = {}, 0
  for line in io.lines(name) do
    local t, before, released, length, half, piece = line:match("^(%d+),(%d+),(%d+),(%d+),(%d+),(.*)$")
    if t then
      rows[#rows + 1] = { tonumber(t), tonumber(before), tonumber(released), tonumber(length), tonumber(half), piece }
      wide = math.max(wide, tonumber(length))
    end
  end
  local late = {}                              -- what is dotted comes last, or the white edges of the next line cover its own
  for _, r in ipairs(rows) do
    local t, before, released, length, half, piece = table.unpack(r)
    local word = piece:gsub(" ", "\\textvisiblespace{}"):gsub("\\x(%x%x)", "{\\figsmall %1}"):gsub("\\n", "\\textbackslash{}n")
    tikz("\\node[fig/label,anchor=east] at (-.35,%.2f) {%s};", -t + .5, word)
    for k = 0, length - 1 do
      local style = k < before and "fill=ink!16,draw=white,line width=.5pt" or k < released and "cell lit"
        or t == #rows and "cell empty" or k >= length - half and "draw=redodark,line width=.5pt,densely dotted" or "cell redo"
      local path = string.format("\\path[%s] (%d,%d) rectangle ++(1,1);", style, k, -t)
      if style:match("dotted") or style == "cell empty" then late[#late + 1] = path else tikz("%s", path) end
    end
  end
  for _, path in ipairs(late) do tikz("%s", path) end
  return wide
end

-- a tree of stop strings: the beginnings from left to right, how many bytes wait in each, and dashed where a failure leads
function incipit.links(name, dx, dy)
  local rows, kids, y, leaf = incipit.csv(name), { [0] = {} }, {}, 0
  local at, deep = {}, { [0] = 0 }
  for _, r in ipairs(rows) do
    kids[r.id], at[r.id], deep[r.id] = {}, r, deep[r.parent] + 1
    table.insert(kids[r.parent], r.id)
  end
  local function place(n)
    for _, c in ipairs(kids[n]) do place(c) end
    if #kids[n] == 0 then y[n], leaf = -leaf, leaf + 1 else y[n] = (y[kids[n][1]] + y[kids[n][#kids[n]]]) / 2 end
  end
  place(0)
  tikz("\\node[prompt token,anchor=center,minimum width=13pt] (s0) at (0,%.2fmm) {};", y[0] * dy)
  for _, r in ipairs(rows) do
    tikz("\\node[prompt token,%s] (s%d) at (%.2fmm,%.2fmm) {%s};", r.whole == 1 and "double,double distance=1pt" or "", r.id, deep[r.id] * dx, y[r.id] * dy, r.text)
    tikz("\\node[fig/number,anchor=north] at ([yshift=-1pt]s%d.south) {%d};", r.id, r.hold)
    tikz("\\draw[fig/arrow] (s%d) -- (s%d);", r.parent, r.id)
  end
  for _, r in ipairs(rows) do
    if r.failure > 0 then
      local down = y[at[r.failure].id] < y[r.id]
      tikz("\\draw[fig/arrow,densely dashed] (s%d.%s) -- (s%d.%s);", r.id, down and "south west" or "north west", r.failure, down and "north east" or "south east")
    end
  end
end

-- the modules by what they include: one row a floor, an arrow only where no longer way says the same; the main line in colour
function incipit.modules(name, wide, high)
  local rows, at = incipit.csv(name), {}
  local floors, n = {}, 0
  for _, r in ipairs(rows) do
    at[r.module] = r
    r.list = {}
    for m in tostring(r.needs):gmatch("[%w-]+") do r.list[#r.list + 1] = m end
    if #r.list > 0 or r.module == "ground" then
      floors[r.floor] = floors[r.floor] or {}
      table.insert(floors[r.floor], r)
      n = math.max(n, r.floor)
    end
  end
  local function reaches(from, to)
    for _, m in ipairs(at[from].list) do if m == to or reaches(m, to) then return true end end
  end
  for _, r in ipairs(rows) do                      -- transitive reduction
    r.direct = {}
    for _, m in ipairs(r.list) do
      local implied
      for _, k in ipairs(r.list) do if k ~= m and reaches(k, m) then implied = true end end
      if not implied then r.direct[#r.direct + 1] = m end
    end
  end
  for f = 1, n do                                  -- across: near the mean of what stands below, evenly spread
    local list = floors[f] or {}
    for i, r in ipairs(list) do
      local sum = 0
      for _, m in ipairs(r.direct) do sum = sum + at[m].x end
      r.want, r.i = #r.direct > 0 and sum / #r.direct or .5, i
    end
    table.sort(list, function(a, b) if a.want ~= b.want then return a.want < b.want end return a.i < b.i end)
    local all, before = 0, 0                       -- where many stand, a long name gets more of the width
    local function part(r) return #list > 6 and #r.module + 3.5 or 1 end
    for _, r in ipairs(list) do all = all + part(r) end
    for _, r in ipairs(list) do
      r.x = #list == 1 and (r.want > .5 and math.min(r.want, .8) or math.max(r.want, .2)) or (before + part(r) / 2) / all
      before = before + part(r)
    end
  end
  for _, r in ipairs(rows) do
    if r.x then tikz("\\node[%s] (%s) at (%.2fmm,%.2fmm) {%s};",
      r.folder == "chapters" and "token,draw=once,fill=once!14,text=ink" or "token,draw=hair,fill=white,text=ink", r.module, r.x * wide, (r.floor - 1) * high, r.module) end
  end
  tex.sprint("\\begin{scope}[on background layer]")
  for _, r in ipairs(rows) do
    if r.x then for _, m in ipairs(r.direct) do
      tikz("\\draw[%s] (%s.south) .. controls +(0,-%.1fmm) and +(0,%.1fmm) .. (%s.north);",
        r.folder == "chapters" and at[m].folder == "chapters" and "once,line width=.9pt" or "hair,line width=.5pt", r.module, high * .3, high * .3, m)
    end end
  end
  tex.sprint("\\end{scope}")
end
-- the table of peers: our rate and its share of the probe, and the quotients of our rate by others', for one thread and for two
function incipit.peers(name)
  local rows, order = {}, {}
  for l in io.lines(name) do
    if not l:match("^#") and not l:match("^row,") then
      local key, rest = l:match('^"(.-)",(.*)$')
      if not key then key, rest = l:match("^([^,]*),(.*)$") end
      local quoted = rest:match('^%d+,"')
      local t, engine, tail
      if quoted then t, engine, tail = rest:match('^(%d+),"(.-)",(.*)$') else t, engine, tail = rest:match("^(%d+),([^,]*),(.*)$") end
      local f = {}
      for x in (tail .. ","):gmatch("([^,]*),") do f[#f + 1] = x end
      if not rows[key] then rows[key] = {}; order[#order + 1] = key end
      rows[key][engine .. t] = { unit = f[1], median = tonumber(f[4]), share = tonumber(f[7]), ratio = tonumber(f[10]) }
    end
  end
  local function ratio(r, t, ...)
    local least
    for _, e in ipairs { ... } do local x = r[e .. t]; if x and x.ratio and (not least or x.ratio < least) then least = x.ratio end end
    return least and string.format("%.2f", least) or "--"
  end
  local ways = { { "incipit" }, { "incipit, bf16 activations", "the same, bf16 inputs" }, { "incipit, packed", "the same, packed" } }
  local function quotient(r, way, t, ...)
    if not way[2] then return ratio(r, t, ...) end
    local best, our = nil, r[way[1] .. t]
    for _, e in ipairs { ... } do local x = r[e .. t]; if x and (not best or (x.median > best) == (our.unit == "tokens/s")) then best = x.median end end
    return best and string.format("%.2f", our.unit == "tokens/s" and our.median / best or best / our.median) or "--"
  end
  for _, key in ipairs(order) do
    local r = rows[key]
    for _, way in ipairs(ways) do for t = 1, 2 do
      local our = r[way[1] .. t]
      if our then
        local label = t > 1 and "" or way[2] and "\\quad " .. way[2] or key:gsub("_", "\\_"):gsub("128256 logits, untruncated", "untruncated"):gsub("resident memory", "memory")
          :gsub("exec to first token", "first token"):gsub("decode 110M F32 at depth 8192, (%w+) cache", "after 8192 rows, %1"):gsub("a pass of 4 rows", "4 rows over 1")
        local digits = our.median >= 1000 and "%.0f" or our.median >= 100 and "%.0f" or our.median >= 10 and "%.1f" or "%.2f"
        tex.sprint(string.format("%s & %d & %s %s & %s & %s & %s\\\\", label, t, incipit.group(string.format(digits, our.median)),
          our.unit == "tokens/s" and "" or our.unit == "ms" and "ms" or "", our.share and string.format("%.0f", 100 * our.share) or "--",
          quotient(r, way, t, "llama.cpp"), quotient(r, way, t, "ik_llama.cpp", "ik_llama.cpp -rtr")))
      end
    end end
  end
end
-- rows of a layer with 2048 inputs and 5632 outputs in bfloat16, and single rows of other kinds, below the bounds that a data sheet states
function incipit.deviceroof(memory, float, tensor)
  for _, r in ipairs { { float, "ink,line width=.9pt", "float" }, { tensor, "ink,line width=.9pt,densely dashed", "tensor cores" } } do
    tikz("\\addplot[%s] coordinates {(%.4g,%.4g) (%.4g,%.4g) (2500,%.4g)};", r[2], r[1] == float and .18 or float / memory,
      r[1] == float and .18 * memory or float, r[1] / memory, r[1], r[1])
    tikz("\\node[anchor=south east,font=\\figfont] at (axis cs:2450,%.4g) {%s};", r[1], r[3])
  end
  tikz("\\node[anchor=south east,font=\\figfont] at (axis cs:%.4g,%.4g) {memory};", .75, .8 * memory)
  local inputs, outputs, points = 2048, 5632, {}
  for _, rows in ipairs { 1, 8, 64, 512, 2048 } do
    local x = rows * inputs * outputs / (2 * inputs * outputs + 4 * rows * (inputs + outputs))
    points[#points + 1] = string.format("(%.5g,%.5g)", x, math.min(tensor, x * memory))
    tikz("\\node[anchor=north west,font=\\figfont] at (axis cs:%.4g,%.4g) {%s};", x, .93 * math.min(tensor, x * memory), rows == 1 and "1 row" or rows)
  end
  tikz("\\addplot[once,only marks,mark=*,mark size=1.6pt] coordinates {%s};", table.concat(points, " "))
  for _, r in ipairs { { 1 / 4, "float weights" }, { 2, "attention" } } do
    tikz("\\addplot[rubric,only marks,mark=diamond*,mark size=2.2pt] coordinates {(%.5g,%.5g)};", r[1], r[1] * memory)
    tikz("\\node[anchor=%s,font=\\figfont] at (axis cs:%.4g,%.4g) {%s};", r[1] < 1 and "north west" or "south east", r[1], r[1] * memory, r[2])
  end
end
-- what bench/loads.py found: registers of a kernel, or loads
function incipit.loads(kernel, what)
  for l in io.lines("figures/data/cuda.loads.csv") do
    local registers, loads = l:match("^" .. kernel .. ",(%d+),(%d+)$")
    if registers then return tonumber(what == "loads" and loads or registers) end
  end
end
-- a step of chapter 14: a warp of 32 threads loads from a matrix of halves, some threads to an output, some bytes a thread: threads,
-- sectors of 32 bytes; the loads that bench/loads.py found; and for a matrix of 2048 outputs on 132 multiprocessors the bytes under
-- way in each, and the share of a memory of 3350 GB/s if a load takes 600 ns
function incipit.step(kernel, threads, bytes)
  local seen, n, loads = {}, 0
  for t = 0, 31 do
    local sector = string.format("%d %d", t // threads, t % threads * bytes // 32)
    if not seen[sector] then seen[sector], n = true, n + 1 end
  end
  loads = incipit.loads(kernel, "loads")
  local way = 2048 * threads * assert(loads, kernel) * bytes / 132
  tex.sprint(string.format("%d & %d & %d & %.0f & %.0f\\,\\%%", threads, n, loads, way, math.min(100, 100 * way * 132 / (3350 * 600))))
end
-- a table of bench/profile.sh: a row of percentages for each line
function incipit.profile(name)
  for l in io.lines(name) do
    local key, rest = l:match('^"(.-)",(.*)$')
    if key then tex.sprint((key:gsub("_", "\\_")) .. (("," .. rest):gsub(",", " & ")) .. "\\\\") end
  end
end
-- the numbers of ground/tuning.h in their order: name, value, comment, and for each other value of bench/tune.c the least and the greatest
-- median, if it was measured
function incipit.tuned(name)
  local others, seen = {}, {}
  for l in io.lines(name) do
    local key, other, ratio = l:match("^([a-z0-9_]+)%.(%d+)%.[a-z0-9_.]+,%d+,[%d.]+,([%d.]+),")
    if key then
      local list = others[key] or {}
      others[key] = list
      local o = seen[key .. other]
      if not o then o = { value = other, least = 1e9, most = 0 }; seen[key .. other] = o; list[#list + 1] = o end
      o.least, o.most = math.min(o.least, tonumber(ratio)), math.max(o.most, tonumber(ratio))
    end
  end
  for l in io.lines("unwoven/ground/tuning.h") do
    local key, here, what = l:match("^ *([A-Z0-9_]+) = (%d+),? /%* (.-) %*/")
    if not key then key, here, what = l:match("^#define ([A-Z_]+) (%d+) /%* (.-) %*/") end
    if key then
      local shown = {}
      for _, o in ipairs(others[key:lower()] or {}) do
        shown[#shown + 1] = string.format(o.least == o.most and "%s: %.2f" or "%s: %.2f--%.2f", o.value, o.least, o.most)
      end
      tex.sprint((string.format("\\texttt{%s} & %s & \\raggedright %s", key, here, what):gsub("_", "\\_"))
        .. (shown[1] and ". " .. table.concat(shown, ", ") or "") .. "\\tabularnewline")
    end
  end
end
-- Letters are spaced by luaotfload, which from the first spaced font on walks through every paragraph and every \hbox.
-- \caps asks for it, and only the next paragraph is given to it.
local spaced, space
function incipit.letterspace()
  for _, c in ipairs { "hpack_filter", "pre_linebreak_filter" } do
    for _, f in ipairs(luatexbase.callback_descriptions(c)) do
      if f == "luaotfload.letterspace" then space = luatexbase.remove_from_callback(c, f) end
    end
  end
  if spaced == nil and space then
    luatexbase.add_to_callback("pre_linebreak_filter", function(head)
      if not spaced then return true end
      spaced = false
      return space(head)
    end, "incipit.letterspace")
  end
  spaced = space ~= nil
end
return incipit
