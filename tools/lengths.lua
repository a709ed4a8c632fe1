-- lengths.lua MOST FILE... -- no file has more than MOST lines with C in them; blank lines and comments are not counted.
local C = dofile("tools/ctokens.lua")
local most, bad = tonumber(arg[1]), 0
for i = 2, #arg do
  local text, seen, n = C.slurp(arg[i]), {}, 0
  local first, _, count = C.tokens(text)
  local line, at = 1, 1
  for k = 1, count do
    local _, ends = text:sub(at, first[k] - 1):gsub("\n", "")
    line, at = line + ends, first[k]
    if not seen[line] then seen[line], n = true, n + 1 end
  end
  if n > most then bad = bad + 1; print(string.format("%s: %d lines of C; a demonstration has at most %d", arg[i], n, most)) end
end
os.exit(bad == 0)
