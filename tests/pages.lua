-- pages.lua [-v] [VOLUME...] -- what the pages of build/VOLUME.log are like: how much of the height is empty where no chapter ends, and
-- what stands at the head or foot of a page although the page's end cuts a paragraph or a code part in two.  The limits hold today;
-- they may be lowered, not raised.  -v lists the pages.
local limits = {                                   -- volume: pages short by more than 10 %, empty height; both in percent; floats that cut
  incipit = { short = 6, empty = 3.5, cut = 0 },
  workshop = { short = 100, empty = 100, cut = 1000 },
}
local height = 563.1
local verbose = arg[1] == "-v" and table.remove(arg, 1)
local volumes, bad = #arg > 0 and arg or { "incipit", "workshop" }, 0
for _, volume in ipairs(volumes) do
  local log = io.open((os.getenv("BUILD") or "build") .. "/" .. volume .. ".log"); if not log then print("build/" .. volume .. ".log is not here"); os.exit(77) end
  local pages = {}
  for l in log:lines() do
    local folio, short, penalty, ends, cuts, floats =
      l:match("incipit page (%w+): ([-%d.]+)pt, penalty ([-%d]+), ends (e?), cuts (%l?), floats (%l*)")
    if folio then pages[#pages + 1] = { folio = folio, short = tonumber(short) / height * 100, penalty = tonumber(penalty), ends = ends == "e", cuts = cuts, floats = floats } end
  end
  log:close()
  local n, short, empty, cut, code = 0, 0, 0, 0, 0
  for i, p in ipairs(pages) do
    local next = pages[i + 1]
    if not p.ends then
      n, empty = n + 1, empty + math.max(p.short, 0)
      if p.short > 10 then short = short + 1 end
    end
    local floats = p.floats:find("b") or next and next.floats:find("t")
    if floats and p.cuts ~= "" then cut = cut + 1; if p.cuts == "c" then code = code + 1 end end
    if verbose and (not p.ends and p.short > 10 or floats and p.cuts ~= "") then
      print(string.format("%s, page %s: %.0f %% empty, penalty %d%s%s", volume, p.folio, p.short, p.penalty, p.ends and ", chapter ends" or "",
        floats and p.cuts ~= "" and ", a float cuts " .. (p.cuts == "c" and "code" or "a paragraph") or ""))
    end
  end
  print(string.format("%s: of %d pages on which no chapter ends %.1f %% are short by more than 10 %%; %.1f %% of their height is empty; " ..
    "%d floats cut a text in two, %d of them code", volume, n, short / n * 100, empty / n, cut, code))
  local most = limits[volume]
  if short / n * 100 > most.short or empty / n > most.empty or cut > most.cut then bad = bad + 1; print("more than tests/pages.lua allows") end
end
os.exit(bad == 0 and 0 or 1)
