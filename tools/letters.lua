-- letters.lua [FOLDER] -- writes chapter 16's letters to the authors as plain text, FOLDER/S0.txt and so on: the letter as the book prints it, with the
-- numbers of the last build, and after it each row that it names: the sentence, the verdict, what our run gave, why, and a command that repeats it.
local folder = arg[1] or "build/letters"
local function slurp(f) local h = assert(io.open(f, "rb"), f .. " cannot be read"); local s = h:read("a"); h:close(); return s end
local function fields(line) local f = {}; for x in (line .. "\t"):gmatch("(.-)\t") do f[#f + 1] = x end; return f end
local values, rows, sources = {}, {}, {}
for l in io.popen("cat build/values/*.val"):lines() do local k, x = l:match("^(%S+) (%S+)$"); if k then values[k] = tonumber(x) end end
for l in io.lines("build/claims.tsv") do
  local f = fields(l)
  rows[f[1]] = { verdict = f[6], claimed = f[7], ours = f[8], quote = f[9], sense = f[10], read = f[11], why = f[12], command = f[13] }
end
for l in io.lines("ledger/sources.tsv") do local f = fields(l); sources[f[1]] = { title = f[2], place = f[5] } end

local power = { ["2"] = "²", ["3"] = "³" }
local function grouped(s)
  local sign, whole, rest = s:match("^(%-?)(%d+)(.*)$")
  if #whole > 4 then whole = whole:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "") end
  return sign .. whole .. rest
end
local function value(decimals, key)
  local x = values[key] or error("letters.lua: no value " .. key)
  if decimals ~= "" then return grouped(string.format("%." .. decimals .. "f", x)) end
  return grouped(string.format(x == math.floor(x) and "%.0f" or "%.4g", x))
end
local function plain(s)
  s = s:gsub("\\val%[(%d)%]{([^}]*)}", value):gsub("\\val{([^}]*)}", function(k) return value("", k) end)
  s = s:gsub("\\given{([^}]*)}", "%1"):gsub("\\emph{([^}]*)}", "“%1”"):gsub("``", "“"):gsub("''", "”")
  s = s:gsub("%^{?(%d)}?", power):gsub("_{(%d+)}", "%1"):gsub("\\,", " "):gsub("%$", ""):gsub("~", " "):gsub("%s+", " ")
  local left = s:match "\\%a+"
  if left then error("letters.lua: " .. left .. " of the letter has no plain form") end
  return s
end
local function wrapped(s, indent)
  local lines, line = {}, indent
  for word in s:gmatch "%S+" do
    if #line > #indent and utf8.len(line) + 1 + utf8.len(word) > 78 then lines[#lines + 1] = line; line = indent end
    line = line .. (#line > #indent and " " or "") .. word
  end
  return table.concat(lines, "\n") .. (#lines > 0 and "\n" or "") .. line .. "\n"
end
local function named(text)
  local list, seen = {}, {}
  for id in text:gmatch "S%d%-%d+" do if not seen[id] then seen[id] = true; list[#list + 1] = id end end
  return list
end

os.execute("mkdir -p '" .. folder .. "'")
local n = 0
local web = slurp "chapters/16-ledger.w"
for source, letter in web:gmatch "@ \\emph{To the author of (S%d)%.} ([^@]+)" do
  local out = { wrapped("To the author of “" .. sources[source].title .. "”" .. (sources[source].place:find "^http" and " (" .. sources[source].place .. ")" or ""), ""), "\n",
    wrapped(plain(letter), ""), "\n",
    wrapped("This is from the book “Incipit: How a Language Model Writes, One Token at a Time”, whose last chapter judges what five tutorials say, each sentence by a run that you can repeat. If we have been unfair, please tell us: every objection is answered. Thank you for the text; we learned from it.", ""),
    "\nThe authors of Incipit\n\nThe rows that the letter names:\n" }
  for _, id in ipairs(named(letter)) do
    local r = rows[id] or error("letters.lua: no row " .. id)
    out[#out + 1] = "\n" .. id .. "  " .. r.verdict .. "\n" .. wrapped("“" .. r.quote .. "”", "  ")
    if r.ours ~= "" then out[#out + 1] = wrapped("ours: " .. r.ours, "  ") end
    if r.sense ~= "" then out[#out + 1] = wrapped("one sense: " .. r.sense, "  ") .. wrapped("the other: " .. r.read, "  ") end
    out[#out + 1] = wrapped(r.why, "  ") .. "  incipit verify " .. id .. "\n"
  end
  local h = assert(io.open(folder .. "/" .. source .. ".txt", "wb")); h:write(table.concat(out)); h:close()
  n = n + 1
end
if n ~= 5 then io.stderr:write("letters.lua: ", n, " letters; wanted: 5\n"); os.exit(1) end
print(n .. " letters in " .. folder)
