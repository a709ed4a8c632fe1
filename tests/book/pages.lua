-- pages.lua [-v] [VOLUME...] -- what the pages of build/VOLUME.log are like: how much of the height is empty where no chapter ends, and prose at
-- the foot that its code does not follow; and where the figures and tables are: before the sentence of their chapter that first refers to them,
-- more than a page after it, or without one.  A page ends short where what follows is not divided: a header, a box, a short function.  -v lists all.
local limits = {   -- pages short by more than 10 %, empty height, and the emptiest page, in percent; the others are counts
  incipit = { short = 8.5, empty = 3.3, most = 33, parted = 0, early = 0, late = 8, unnamed = 0 },
  workshop = { short = 12, empty = 4.3, most = 33, parted = 0, early = 0, late = 8, unnamed = 0 },
}
local height = 563.1
local verbose = arg[1] == "-v" and table.remove(arg, 1)
local function say(volume, at, words) if verbose then print(volume .. ", sheet " .. at.page .. ": " .. words) end end
local volumes, bad = #arg > 0 and arg or { "incipit", "workshop" }, 0
for _, volume in ipairs(volumes) do
  local name = (os.getenv("BUILD") or "build") .. "/" .. volume .. ".log"
  local log = io.open(name)
  if not log then print(name .. " is not here"); os.exit(77) end
  local pages, is = {}, { short = 0, empty = 0, most = 0, parted = 0, early = 0, late = 0, unnamed = 0 }
  local floats, mentions, way, named = {}, {}, 0, 0
  for l in log:lines() do
    local folio, short, penalty, ends = l:match("^incipit page (%w+): ([-%d.]+)pt, penalty ([-%d]+), ends (e?)")
    if folio then
      pages[#pages + 1] = { folio = folio, short = tonumber(short) / height * 100, penalty = tonumber(penalty), ends = ends == "e" }
    end
    local kind, what, page, y = l:match("^incipit (%l+): (%S+), .*page (%d+), at (%d+)$")
    if kind then                                            -- page numbers that grow, and the height above the foot of the paper
      local place = { page = tonumber(page), y = tonumber(y), called = tonumber(l:match("called (%d+)")) }
      if kind == "mention" then mentions[what] = mentions[what] or place else floats[#floats + 1] = { what, place } end
    end
  end
  log:close()
  if #pages == 0 then print(name .. " says nothing about pages: it is of an older build"); os.exit(77) end
  for _, f in ipairs(floats) do
    local what, is_at = f[1], f[2]
    local from = mentions[what]
    if not from then
      if not what:match("^W?0@.*symbols$") and not what:match("^0@tab:local$") then is.unnamed = is.unnamed + 1; say(volume, is_at, what .. " is never referred to in its chapter") end
    else                                                    -- where the text only announces it, the way begins at its call
      if is_at.called - from.page > 1 then from = { page = is_at.called, y = is_at.y } end
      local d = is_at.page - from.page + (from.y - is_at.y) / height
      way, named = way + math.max(d, 0), named + 1
      if d < 0 then is.early = is.early + 1; say(volume, is_at, what .. " comes before the sentence that refers to it") end
      if d > 1 then is.late = is.late + 1; say(volume, is_at, string.format("%s comes %.1f pages after it is referred to", what, d)) end
    end
  end
  local n = 0
  for _, p in ipairs(pages) do
    local what = {}
    if not p.ends then
      n, is.empty, is.most = n + 1, is.empty + math.max(p.short, 0), math.max(is.most, p.short)
      if p.short > 10 then is.short = is.short + 1; what[1] = string.format("%.0f %% empty", p.short) end
    end
    if p.penalty == 4000 then is.parted = is.parted + 1; what[#what + 1] = "prose without its code" end
    if verbose and #what > 0 then print(volume .. ", page " .. p.folio .. ": " .. table.concat(what, ", ")) end
  end
  is.short, is.empty = is.short / n * 100, is.empty / n
  print(string.format("%s: of %d pages on which no chapter ends %.1f %% are short by more than 10 %%; %.1f %% of their height is empty, of one %.0f; " ..
    "%d end with prose that its code does not follow; of %d floats %d come before they are referred to, %d more than a page after, %d never; on average %.2f pages after",
    volume, n, is.short, is.empty, is.most, is.parted, #floats, is.early, is.late, is.unnamed, way / math.max(named, 1)))
  for what, most in pairs(limits[volume] or {}) do
    if is[what] > most then bad = bad + 1; print(string.format("%s: %s is %.1f; tests/book/pages.lua allows %.1f", volume, what, is[what], most)) end
  end
end
os.exit(bad == 0 and 0 or 1)
