==== check
# SentencePiece's rule, taken literally, on the whole text and on the text cut before the block: do they differ?
cat > $BUILD/ex.lua <<'L'
local text, score = nil, {}
for l in io.lines(arg[1]) do
  if not l:match("^#") and l:match("%S") then
    if not text then text = l:match("^(%S+)%s*$") else local t, s = l:match("^(%S+)%s+(%-?[%d.]+)%s*$"); assert(t, "a token and its score"); score[t] = tonumber(s) end
  end
end
assert(text and #text == 3 and text:match("^[^_]_"), "a text of three letters, the block behind a letter")
for c in text:gmatch(".") do assert(score[c], "every letter of the text is a token") end
local function spell(s)
  local row = {}
  for c in s:gmatch(".") do row[#row + 1] = c end
  while true do
    local best, at
    for i = 1, #row - 1 do
      local s = score[row[i] .. row[i + 1]]
      if s and (not best or s > best) then best, at = s, i end
    end
    if not at then return table.concat(row, " ") end
    row[at] = row[at] .. table.remove(row, at + 1)
  end
end
os.exit(spell(text) ~= spell(text:sub(1, 1)) .. " " .. spell(text:sub(2)))
L
texlua $BUILD/ex.lua "$1"
==== answer
a_b
a -4
b -5
_ -6
a_ -1
==== wrong
a_b
a -4
b -5
_ -6
_b -1
==== skeleton
# one line: the text, of three letters with _ for the block; then a line for each token with its score
a_b
a -1
b -2
_ -3
