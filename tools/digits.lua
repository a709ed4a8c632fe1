-- digits.lua WEB... -- a number in prose must have been printed by a program.
-- Looks at prose, mathematics, captions, alternatives and tables for integers of three or more digits,
-- decimals and the words hundred, thousand, million, billion (a number of two digits is free, in words as in digits). Such a number must come from \val or \bytes, stand in a quotation or in a calculation
-- by hand, or be marked as chosen (\given).
local words = {}
for w in ("hundred thousand million billion"):gmatch("%a+") do words[w] = true end
local bad = 0
local function blank(s) return (s:gsub("[^\n]", " ")) end
for i = 1, #arg do
  local h = assert(io.open(arg[i], "rb")); local s = h:read("a"); h:close()
  -- code parts go: from @c, @d, @<...@>= or @(...@>= to the next section
  local out, incode = {}, false
  for l in (s .. "\n"):gmatch("([^\n]*)\n") do
    if l:match("^@[%s%*]") or l == "@" then incode = false end
    if l:match("^@[cdps]%f[%A]") or l:match("^@[<(].*@>%+?=%s*$") then incode = true end
    out[#out + 1] = (incode or l:match("^%%") or l:match("^@i")) and "" or l
  end
  s = table.concat(out, "\n")
  s = s:gsub("\\begin{byhand}.-\\end{byhand}", blank):gsub("\\quoted%b{}", blank):gsub("``.-''", blank)
  for _, unit in ipairs { "thousand", "million", "billion" } do      -- the unit of a value
    s = s:gsub("(\\val%b{}[~%s])" .. unit, "%1"):gsub("(\\val%b[]%b{}[~%s])" .. unit, "%1")
  end
  s = s:gsub("\\val%b[]%b{}", blank):gsub("\\val%b{}", blank):gsub("\\bytes%b{}", blank):gsub("\\cited%b[]%b{}", blank)
  for _, c in ipairs { "given", "cref", "Cref", "label", "ref", "eqref", "cited", "tutorial", "claim", "verify", "href", "url", "texttt", "tok", "gen", "piece", "begin", "end", "vskip", "hskip", "source" } do
    s = s:gsub("\\" .. c .. "%b{}", blank) end
  s = s:gsub("\\printedheader%b[]%b{}", blank):gsub("\\checkpoint%b[]%b{}", blank):gsub("\\widecheckpoint%b[]%b{}", blank):gsub("\\checkpoint%b{}", blank):gsub("\\widecheckpoint%b{}", blank)
  s = s:gsub("\\begin{tutorial}%b{}%b{}", blank):gsub("\\begin{claimed}%b{}", blank):gsub("|[^|\n]*|", blank):gsub("@%^[^@]*@>", blank):gsub("@<[^@]*@>", blank)
  s = s:gsub("U%+%x%x%x%x+", blank)            -- a character, and what has a number in its name
  s = s:gsub("Mistral[~%s]7B[~%s]%d%.%d", blank)
  for _, name in ipairs { "Llama", "Unicode", "IEEE", "Mistral" } do s = s:gsub(name .. "[~%s]%d+%.?%d*", blank) end
  s = s:gsub("RFC[~%s]%d+", blank)
  for _, before in ipairs { "in", "since", "%u%l+," } do s = s:gsub("(%f[%a]" .. before .. "[~%s])(1[89]%d%d)%f[%D]", "%1    "):gsub("(%f[%a]" .. before .. "[~%s])(20[0-3]%d)%f[%D]", "%1    ") end
  s = s:gsub("\\exercise%b{}%b{}", blank):gsub("S%d%-%d+", blank):gsub("\\,", ""):gsub("(%d),(%d%d%d)", "%1%2"):gsub("(%d),(%d%d%d)", "%1%2")
  local line = 0
  for l in (s .. "\n"):gmatch("([^\n]*)\n") do
    line = line + 1
    local function say(n)
      bad = bad + 1; io.stderr:write(arg[i], ":", line, ": the number ", n, " stands in prose, but no program prints it (\\val), and nobody chose it (\\given)\n")
    end
    l = l:gsub("%a+%-%d+", "")                -- a name: AVX-512
    for a, n in l:gmatch("([%a_%.%-]?)(%d+%.?%d*)") do
      n = n:gsub("%.$", "")
      if (#n >= 3) and not a:match("[%a_]") then say(n) end
    end
    for w in l:gmatch("%a+") do if words[w:lower()] then say(w:lower()) end end
  end
end
if bad > 0 then os.exit(1) end
