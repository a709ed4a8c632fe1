-- families.lua tex|md|check -- the table of families: which files of each are read, how many small models are compared, and which published
-- model is run.  Everything is looked up: families, their classes and the layouts of their files in the table of the reader (workshop/03-models.w,
-- as it is tangled, and unwoven/families/rows.inc), small models in tests/golden by their config.json, published models in the checks that run them, which say so in a line
-- "# runs FAMILY: NAME".  tex: the rows of the book's table; md: the table of docs/using.md; check: whether that page has it as it is now.
local what = arg[1]
local function slurp(name) local f = assert(io.open(name, "rb")); local s = f:read("a"); f:close(); return s end
local function lines(command) local list = {}; for l in io.popen(command):lines() do list[#list + 1] = l end; return list end

-- the rows: type, class, an old spelling of the class, the word in GGUF files, and the names of the two layouts
local rows, of = {}, {}
for row in (slurp("tangled/families/families.c") .. slurp("unwoven/families/rows.inc")):gmatch("%[FAMILY_[%w_]+%]%s*=%s*(%b{})") do
  local type, class, gguf, first, second = row:match('^{%s*"([^"]+)",%s*"([^"]+)",%s*[^,]+,%s*([^,]+),%s*{([^,]+),%s*([^}]+)}')
  assert(type, "a row that this script does not read: " .. row:sub(1, 60))
  local r = { type = type, class = class, gguf = gguf:match('"(.*)"'), directory = first:match('"') ~= nil, file = second:match('"') ~= nil, small = 0, real = {} }
  assert(r.file == (r.gguf ~= nil), type .. ": a word for GGUF files, or a layout of them, and not both")
  rows[#rows + 1], of[type] = r, r
end
assert(#rows > 20, "no table of families in tangled/families/families.c and unwoven/families/rows.inc")
for _, path in ipairs(lines("find tests/golden -name config.json -not -path '*/configs/*' -not -path '*/tokenizers/*' | LC_ALL=C sort")) do
  local type = slurp(path):match('"model_type"%s*:%s*"([^"]+)"')
  if type and of[type] and io.open((path:gsub("config%.json$", "forward.jsonl"))) then of[type].small = of[type].small + 1 end
end
for _, path in ipairs(lines("ls tests/checks/*.sh")) do
  for type, name in slurp(path):gmatch("\n# runs ([%w_]+): ([^\n]+)") do
    assert(of[type], path .. ": there is no family " .. type)
    table.insert(of[type].real, name)
  end
end

local function cell(r) return r.directory and "yes" or "", r.file and r.gguf or "", r.small > 0 and tostring(r.small) or "", table.concat(r.real, ", ") end
local function md()
  local t = { "| `model_type` | directory | in GGUF files | small models compared | a published model that is run |", "|---|---|---|---|---|" }
  for _, r in ipairs(rows) do
    local a, b, c, d = cell(r)
    t[#t + 1] = ("| `%s` | %s | %s | %s | %s |"):format(r.type, a, b ~= "" and "`" .. b .. "`" or "", c, d)
  end
  return table.concat(t, "\n") .. "\n"
end
local function word(x) return x == "" and "" or "\\texttt{" .. x:gsub("_", "\\_") .. "}" end
if what == "md" then io.write(md())
elseif what == "check" then
  local page = slurp("docs/using.md")
  if not page:find(md(), 1, true) then
    print("docs/using.md: its table of families is not what texlua tools/families.lua md prints"); os.exit(1)
  end
elseif what == "tex" then
  for _, r in ipairs(rows) do
    local _, b, c, d = cell(r)
    print(("%s&%s&%s&%s&%s\\\\"):format(word(r.type), r.directory and "$\\bullet$" or "", word(b), c, d))
  end
else print("usage: families.lua tex|md|check"); os.exit(2) end
