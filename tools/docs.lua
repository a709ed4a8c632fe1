-- docs.lua HEADER... -- every public declaration of a tangled header has a docstring behind it.
local missing = 0
for _, file in ipairs(arg) do
  local h = assert(io.open(file, "rb")); local s = h:read("a"); h:close()
  s = s:gsub("#[^\n]*", "")
  local pos = 1
  while true do
    local a, b = s:find("[^;{}]-%b()[%s%w_]*%b()%s*;", pos)     -- with an attribute
    local c, d = s:find("\n[%a_][^;{}/]-%b()%s*;", pos)
    if c and (not a or c <= a) then a, b = c, d end
    if not a then break end
    if not s:match("^%s*/%*", b + 1) and not s:sub(a, b):match("_Static_assert") then
      missing = missing + 1
      io.stderr:write(file, ": no docstring behind ", (s:sub(a, b):gsub("%s+", " ")), "\n")
    end
    pos = b + 1
  end
end
if missing > 0 then os.exit(1) end
