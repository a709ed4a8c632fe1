-- questions.lua FILE -- every question of docs/questions.md names a heading of its chapter.
package.path = "tools/?.lua;" .. package.path
local book = require "book"
local web, n, bad = nil, 0, 0
for l in io.lines(arg[1]) do
  local c = l:match("^## (%S+)")
  if c then local h = assert(io.open(book[c].web)); web = h:read("a"):gsub("%s+", " "):gsub("\\_", "_"); h:close() end
  local heading = l:match("^%- .* → (.+)$")
  if heading then
    n = n + 1
    local found = web:find("@* " .. heading .. ".", 1, true) or web:find("@** " .. heading .. ".", 1, true)
    if not found then bad = bad + 1; print("no heading: " .. heading) end
  elseif l:match("^%- ") then bad = bad + 1; print("no arrow: " .. l) end
end
print(n .. " questions, " .. bad .. " without their place")
os.exit(bad == 0 and n > 0)
