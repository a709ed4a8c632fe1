-- budgets.lua [docs/budgets.tsv] -- each chapter of the book has at most the pages of its guide and those for which a reason is given,
-- and every section that docs/readers.md names is in a chapter.
-- The pages come from the .toc and the .log of the last typesetting (macros/incipit.lua writes a line for each page).
local build = (os.getenv("BUILD") or "build") .. "/"
local toc, log = io.open(build .. "incipit.toc"), io.open(build .. "incipit.log")
if not toc or not log then print(build .. "incipit.toc or .log is not here"); os.exit(77) end
local first, last, bad, before = {}, {}, 0, nil
for l in toc:lines() do
  local kind, no, page = l:match("^\\contentsline {(%a+)}{\\numberline {(%w+)}.*}{(%d+)}{")
  if kind == "part" or kind == "chapter" then
    if before then last[before] = tonumber(page) - 1 end       -- at the latest; or its last page is empty
    before = kind == "chapter" and no:find("^%d+$") and no or nil
    if before then first[no] = tonumber(page) end
  end
end
local ends = {}
for l in log:lines() do
  local page, e = l:match("^incipit page (%d+): .*, ends (e?),")
  if page and e == "e" then ends[#ends + 1] = tonumber(page) end
end
table.sort(ends)
for no, page in pairs(first) do
  for _, e in ipairs(ends) do if e >= page then last[no] = math.min(last[no] or e, e); break end end
end
local told = {}
for l in io.lines(arg[1] or "docs/budgets.tsv") do
  if not l:find("^#") and l ~= "" then
    local no, guide, more, why = l:match("^(%d+)\t(%d+)\t(%d+)\t(.+)$")
    if not no then print("not four columns: " .. l); os.exit(1) end
    told[no] = true
    if not (first[no] and last[no]) then
      bad = bad + 1; print("chapter " .. no .. ": not in " .. build .. "incipit.toc")
    else
      local is, most = last[no] - first[no] + 1, guide + more
      if is > most then bad = bad + 1; print(string.format("chapter %s has %d pages; wanted: %d at most (docs/budgets.tsv)", no, is, most)) end
      if more ~= "0" and why == "-" then bad = bad + 1; print("chapter " .. no .. " may have more than its guide and gives no reason") end
      if arg[2] then print(string.format("%2s: %d pages, guide %d, %d more", no, is, guide, more)) end
    end
  end
end
for no in pairs(first) do
  if not told[no] then bad = bad + 1; print("chapter " .. no .. " has no line in docs/budgets.tsv") end
end
-- every label that docs/readers.md names is in a chapter
local labels, readers = {}, io.open("docs/readers.md")
for l in io.lines("book.list") do
  local web = l:match("^chapters%s+%d+%s+(%S+)")
  if web then for label in assert(io.open("chapters/" .. web .. ".w")):read("a"):gmatch("(%l+:%w+)}") do labels[label] = true end end
end
for label in readers:read("a"):gmatch("`(%l+:%w+)`") do
  if not labels[label] then bad = bad + 1; print("docs/readers.md: no chapter has the label " .. label) end
end
if bad > 0 then os.exit(1) end
