-- quotations.lua FOLDER -- writes ledger/quotations.tsv: for each row of the ledger, and for the first words of each source, the SHA-256 of the
-- quotation as it was found in the source, FOLDER/S0.txt and so on. The texts are their authors' and do not travel with the project; the sums do, and
-- incipit verify refuses a quotation that has another. Both sides are folded as program/quotation.h says: blanks, ends of lines and
-- the mark [lost] of what a copy lost are one blank, none after an opening parenthesis, and the two stars that set bold are left out.
local folder = assert(arg[1], "usage: texlua tools/quotations.lua FOLDER")
local function slurp(f) local h = assert(io.open(f, "rb")); local s = h:read("a"); h:close(); return s end
local function fold(s)
  s = s:gsub("%*%*", ""):gsub("%[lost%]", " "):gsub("[ \t\n\r]+", " "):gsub("%( ", "(")
  return (s:gsub("^ ", ""):gsub(" $", ""))
end
local sources, out, bad = {}, { "id\tsha256" }, 0
local function add(id, quote)
  local source = id:match("^S%d")
  sources[source] = sources[source] or fold(slurp(folder .. "/" .. source .. ".txt"))
  local from, to = sources[source]:find(fold(quote), 1, true)
  if not from then bad = bad + 1; print(id .. ": not in its source: " .. quote); return end
  out[#out + 1] = id .. "\t" .. sha2.digest256(sources[source]:sub(from, to)):gsub(".", function(c) return ("%02x"):format(c:byte()) end)
end
local function rows(file, column)
  for l in io.lines(file) do
    local f = {}
    for x in (l .. "\t"):gmatch("(.-)\t") do f[#f + 1] = x end
    if f[1] ~= "id" and l ~= "" then add(f[1], f[column]) end
  end
end
rows("ledger/sources.tsv", 6)
rows("ledger/claims.tsv", 10)
if bad > 0 then os.exit(false) end
local h = assert(io.open("ledger/quotations.tsv", "wb")); h:write(table.concat(out, "\n"), "\n"); h:close()
print(#out - 1 .. " quotations")
