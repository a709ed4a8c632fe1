-- gridsvg.lua CSV -- the grid of chapter 3 as an SVG for pages that cannot show the PDF.
-- The CSV is step,position,times as the loop's program prints it; the colours are those of macros/incipitfig.sty.
local colour = {}
for l in io.lines("macros/incipitfig.sty") do
  local name, hex = l:match("\\definecolor{(%w+)}{HTML}{(%x+)}")
  if name then colour[name] = "#" .. hex end
end
local cells, steps, columns = {}, 0, 0
for l in io.lines(arg[1]) do
  local s, p, t = l:match("^(%d+),(%d+),(%d+)$")
  if s then
    s, p, t = tonumber(s), tonumber(p), tonumber(t)
    cells[#cells + 1] = {s = s, p = p, t = t}
    steps, columns = math.max(steps, s), math.max(columns, p + 1)
  end
end
local word = {"The", "␣cat", "␣sat", "␣on", "␣the", "␣mat", "."}
local W, H, X, Y = 66, 44, 84, 56
local out = {}
local function put(...) out[#out + 1] = string.format(...) end
local function text(x, y, style, s) put('<text x="%g" y="%g" %s>%s</text>', x, y, style, s) end
local width, height = X + columns * W + 190, Y + steps * H + 58
put('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="Georgia, serif" font-size="15" role="img" aria-labelledby="t">', width, height)
put('<title id="t">Four passes of the naive loop: which rows are computed for the first time, and which again</title>')
put('<defs><pattern id="h" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="7" height="7" fill="%s" fill-opacity=".30"/><rect width="2.4" height="7" fill="%s"/></pattern></defs>', colour.redo, colour.redo)
put('<rect width="%d" height="%d" fill="#FFFFFF"/>', width, height)
for i = 1, columns do
  text(X + (i - .5) * W, 26, string.format('text-anchor="middle" font-family="monospace" fill="%s"', i <= 3 and colour.ink or colour.rubric), word[i])
  text(X + (i - .5) * W, 45, 'text-anchor="middle" font-size="11" fill="#5A6672"', tostring(i - 1))
end
local new, again = {}, {}
for _, c in ipairs(cells) do
  local x, y = X + c.p * W + 2, Y + (c.s - 1) * H + 2
  if c.t == 1 then new[c.s] = (new[c.s] or 0) + 1 else again[c.s] = (again[c.s] or 0) + 1 end
  put('<rect x="%g" y="%g" width="%d" height="%d" rx="3" fill="%s"/>', x, y, W - 4, H - 4, c.t == 1 and colour.once or "url(#h)")
  if c.t > 1 then text(x + W / 2 - 2, y + H / 2 + 3, string.format('text-anchor="middle" fill="%s"', colour.ink), c.t .. "×") end
end
for s = 1, steps do
  local y = Y + (s - .5) * H + 5
  text(X - 12, y, string.format('text-anchor="end" fill="%s"', colour.ink), "pass " .. s)
  text(X + columns * W + 14, y, string.format('font-family="monospace" fill="%s"', colour.rubric), "→ " .. word[s + 3])
  text(X + columns * W + 98, y, string.format('fill="%s"', colour.once), (new[s] or 0) .. " new")
  if again[s] then text(X + columns * W + 148, y, string.format('fill="%s"', colour.redodark), "+ " .. again[s]) end
end
local n, a = 0, 0
for s = 1, steps do n, a = n + (new[s] or 0), a + (again[s] or 0) end
local y = Y + steps * H + 30
put('<rect x="%g" y="%g" width="16" height="16" rx="2" fill="%s"/>', X + 2, y - 13, colour.once)
text(X + 26, y, string.format('font-size="13" fill="%s"', colour.ink), "computed for the first time")
put('<rect x="%g" y="%g" width="16" height="16" rx="2" fill="url(#h)"/>', X + 236, y - 13)
text(X + 260, y, string.format('font-size="13" fill="%s"', colour.ink), "computed again")
text(X + columns * W + 14, y, string.format('font-weight="bold" fill="%s"', colour.ink), string.format("%d = %d + %d", n + a, n, a))
put('</svg>')
io.write(table.concat(out, "\n"), "\n")
