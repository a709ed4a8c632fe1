-- readme.lua README.md [write] -- the table of the book's chapters in README.md is book.list's, with the questions that the webs ask; with write it is made so.
-- What stands there as the output of the command, behind a line "    $ ... incipit ...", is what it prints; "    ..." ends an excerpt.
package.path = arg[0]:match("^(.-)[^/]*$") .. "?.lua;" .. package.path
local book = require "book"
local function slurp(f) local h = assert(io.open(f, "rb")); local s = h:read("a"); h:close(); return s end
local rows = { chapters = {} }
for _, row in ipairs(book) do
  local list = rows[row.folder]
  if list then
    local q = slurp(row.web):match("\\chapterquestion(%b{})"):sub(2, -2):gsub("\\emph(%b{})", function(s) return s:sub(2, -2) end)
    q = q:gsub("\\%.(%b{})", function(s) return "`" .. s:sub(2, -2) .. "`" end):gsub("\\_", "_"):gsub("~", " "):gsub("%s+", " "):gsub("|([^|]*)|", "`%1`"):gsub("``", "“"):gsub("''", "”")
    list[#list + 1] = { row.number, string.format("| %s | %s | %s |", row.shown, row.title, q) }
  end
end
local out = { "| | chapter | asks |", "|---|---|---|" }
for _, f in ipairs { "chapters" } do
  table.sort(rows[f], function(a, b) return a[1] < b[1] end)
  for _, r in ipairs(rows[f]) do out[#out + 1] = r[2] end
end
local s, want = slurp(arg[1]), table.concat(out, "\n") .. "\n"
local build, wrong = os.getenv("BUILD") or "build", 0
local function printed(command)
  local p = io.popen("PATH=$PWD/" .. build .. ":$PATH; unset INCIPIT_MODEL; { " .. command .. "; } 2>/dev/null </dev/null"); local t = p:read("a"); p:close()
  return t
end
for command, lines in s:gmatch("\n    %$ ([^\n]*incipit [^\n]*)\n(.-)\n\n") do
  local text = ("\n" .. lines):gsub("\n    ", "\n"):sub(2):gsub("%s+$", "") .. "\n"
  local got = printed(command):gsub("%s+$", "") .. "\n"
  local whole = not text:find("\n%.%.%.\n$")
  if not whole then text = text:sub(1, -5) end
  if (whole and got or got:sub(1, #text)) ~= text then
    print("README.md: " .. command .. " prints something else:\n" .. got); wrong = wrong + 1
  end
end
if wrong > 0 then os.exit(1) end
local a = s:find("| | chapter | asks |", 1, true)
local _, b = s:find("\n\n", a, true)
if s:sub(a, b - 1) == want then os.exit(0) end
if arg[2] ~= "write" then print("the table of " .. arg[1] .. " is not book.list's: texlua tools/readme.lua README.md write"); os.exit(1) end
local h = assert(io.open(arg[1], "wb")); h:write(s:sub(1, a - 1), want, s:sub(b)); h:close()
