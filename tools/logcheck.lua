-- logcheck.lua LOG WOVENDIR -- stops the build at what a reader would see: a missing glyph, an
-- unresolved reference, an overfull box; says in which chapter, section and page.
local log, bad, page, file = arg[1], 0, 0, {}
local words = { "Missing character", "undefined", "UNDEFINED", "multiply defined", "Overfull", "destination with the same" }
local function section(tex, line)            -- the number of the section a line of woven TeX is in
  local n, s, h = 0, "?", io.open(tex, "rb"); if not h then return "?" end
  for l in h:lines() do n = n + 1; if n > line then break end
    s = l:match("^\\M{(%d+)}") or l:match("^\\N{%d+}{(%d+)}") or s end
  h:close(); return s
end
local current = "book.tex"
for l in io.lines(log) do
  for f in l:gmatch("%(%.?/?(build/woven/[%w%-/]+%.tex)") do current = f end
  for p in l:gmatch("%[(%d+)") do page = tonumber(p) end
  for _, w in ipairs(words) do
    if l:find(w, 1, true) and not l:find("undefined. Using", 1, true) then
      bad = bad + 1
      local at = tonumber(l:match("lines? (%d+)"))
      io.stderr:write(string.format("%s, section %s, after page %d: %s\n", current, at and section(current, at) or "?", page, l))
      break
    end
  end
end
if bad > 0 then io.stderr:write(bad, " faults in ", log, "\n"); os.exit(1) end
