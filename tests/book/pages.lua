-- pages.lua [-v] [VOLUME...] -- what the pages of build/VOLUME.log are like: how much of the height is empty where no chapter ends, prose at
-- the foot that its code does not follow, floats at the head or foot where the page's end cuts a paragraph or a code part in two, and floats
-- two pages or more after their call.  A page ends short where what follows is not divided: a header, a box, a short function.  -v lists the pages.
local limits = {   -- pages short by more than 10 %, and empty height, in percent; the others are counts
  incipit = { short = 9, empty = 3.5, parted = 0, cut = 0, late = 10 },
  workshop = { short = 15.5, empty = 5, parted = 0, cut = 0, late = 10 },
}
local height = 563.1
local verbose = arg[1] == "-v" and table.remove(arg, 1)
local volumes, bad = #arg > 0 and arg or { "incipit", "workshop" }, 0
for _, volume in ipairs(volumes) do
  local name = (os.getenv("BUILD") or "build") .. "/" .. volume .. ".log"
  local log = io.open(name)
  if not log then print(name .. " is not here"); os.exit(77) end
  local pages, is = {}, { short = 0, empty = 0, parted = 0, cut = 0, late = 0 }
  for l in log:lines() do
    local folio, short, penalty, ends, cuts, floats =
      l:match("^incipit page (%w+): ([-%d.]+)pt, penalty ([-%d]+), ends (e?), cuts (%l?), floats (%l*)")
    if folio then
      pages[#pages + 1] = { folio = folio, short = tonumber(short) / height * 100, penalty = tonumber(penalty), ends = ends == "e", cuts = cuts, floats = floats }
    end
    local from, at = l:match("^incipit float: called near page (%d+), put near page (%d+)")
    if from and at - from > 1 then is.late = is.late + 1; if verbose then print(volume .. ", " .. l) end end
  end
  log:close()
  if #pages == 0 then print(name .. " says nothing about pages: it is of an older build"); os.exit(77) end
  local n = 0
  for i, p in ipairs(pages) do
    local next, what = pages[i + 1], {}
    if not p.ends then
      n, is.empty = n + 1, is.empty + math.max(p.short, 0)
      if p.short > 10 then is.short = is.short + 1; what[1] = string.format("%.0f %% empty", p.short) end
    end
    if p.penalty == 4000 then is.parted = is.parted + 1; what[#what + 1] = "prose without its code" end
    if p.cuts ~= "" and (p.floats:find("b") or next and next.floats:find("t")) then
      is.cut = is.cut + 1; what[#what + 1] = "a float cuts " .. (p.cuts == "c" and "code" or "a paragraph")
    end
    if verbose and #what > 0 then print(volume .. ", page " .. p.folio .. ": " .. table.concat(what, ", ")) end
  end
  is.short, is.empty = is.short / n * 100, is.empty / n
  print(string.format("%s: of %d pages on which no chapter ends %.1f %% are short by more than 10 %%; %.1f %% of their height is empty; " ..
    "%d end with prose that its code does not follow; %d floats cut a text in two, %d are late", volume, n, is.short, is.empty, is.parted, is.cut, is.late))
  for what, most in pairs(limits[volume]) do
    if is[what] > most then bad = bad + 1; print(string.format("%s: %s is %.1f; tests/book/pages.lua allows %.1f", volume, what, is[what], most)) end
  end
end
os.exit(bad == 0 and 0 or 1)
