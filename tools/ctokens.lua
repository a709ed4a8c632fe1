-- ctokens.lua -- C text as a row of tokens, so that a place in a file is found whatever its layout and its comments.
-- As a module (dofile): ctokens.tokens(text) gives the tokens with the bytes where they begin and end, ctokens.place(text, old) the
-- bytes of the one place whose tokens are those of old, ctokens.replaced(text, old, new) the text with new there.
-- As a program: ctokens.lua CHANGES -- number, FILE and WORD of each entry of a file of changes, one a line;
-- ctokens.lua CHANGES NUMBER -- FILE as the entry changes it (TANGLED: the folder where it is looked for instead of tangled/).
-- White space, comments and backslash-newline separate tokens and are none; the lines that begin with # are tokens like the rest.
-- Neighbouring strings are one token where texts are compared, as they are one string to the compiler: M.whole joins them. Only a
-- string that ends a line of output is a token by itself.
local M = {}

-- the folder of sources, from which a header is included as "MODULE/FILE"
function M.root(header)
  for _, r in ipairs { "tangled/", "unwoven/", "build/tangled/" } do
    local h = io.open(r .. header)
    if h then h:close(); return r end
  end
  error("no folder of sources has " .. header)
end

-- longest first
local punctuators = { "%:%:", "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "*=", "/=", "%=", "+=", "-=",
  "&=", "^=", "|=", "##", "<:", ":>", "<%", "%>", "%:" }

-- behind the quote that stands at i
local function behind_quote(s, i)
  local quote, k = s:sub(i, i), i + 1
  while true do
    local a = s:find("[\\\n" .. quote .. "]", k)
    if not a then return #s + 1 end
    local c = s:sub(a, a)
    if c == "\\" then k = a + 2 elseif c == quote then return a + 1 else return a end
  end
end

-- behind the number that begins at i (what the preprocessor calls one: 0x1p-3, 1e+9, .5f)
local function behind_number(s, i)
  local k = i
  while true do
    local _, b = s:find("^[eEpP][+-]", k)
    if not b then _, b = s:find("^[%w_.]", k) end
    if not b then return k end
    k = b + 1
  end
end

-- first[t], last[t]: the bytes of token number t
function M.tokens(s)
  local first, last, n, i = {}, {}, 0, 1
  while true do
    local _, b = s:find("^[%s]+", i)
    if b then i = b + 1 end
    if i > #s then return first, last, n end
    local two, behind = s:sub(i, i + 1), nil
    if two == "//" then
      local k = i                                        -- a line that ends with a backslash goes on
      repeat k = s:find("\n", k + 1, true) until not k or s:sub(k - 1, k - 1) ~= "\\"
      i = k or #s + 1
    elseif two == "/*" then
      local _, e = s:find("*/", i + 2, true)
      i = (e or #s) + 1
    elseif two == "\\\n" or s:find("^\\\r\n", i) then
      i = s:find("\n", i, true) + 1
    else
      local _, word = s:find("^[%a_\x80-\xff$][%w_\x80-\xff$]*", i)
      if word then
        behind = word + 1
        local w = s:sub(i, word)
        if (w == "L" or w == "u" or w == "U" or w == "u8") and s:find("^[\"']", behind) then behind = behind_quote(s, behind) end
      elseif s:find("^%.?%d", i) then behind = behind_number(s, i)
      elseif s:find("^[\"']", i) then behind = behind_quote(s, i)
      else
        behind = i + 1
        for _, p in ipairs(punctuators) do if s:sub(i, i + #p - 1) == p then behind = i + #p; break end end
      end
      n = n + 1
      first[n], last[n] = i, behind - 1
      i = behind
    end
  end
end

-- the text of each token, neighbouring strings as one; first and last as of M.tokens
function M.whole(s)
  local first, last, n = M.tokens(s)
  local t, a, b, m = {}, {}, {}, 0
  for k = 1, n do
    local x = s:sub(first[k], last[k]):gsub("\\\r?\n", "")
    if m > 0 and x:sub(1, 1) == '"' and t[m]:sub(1, 1) == '"' and not t[m]:find('\\n"$') then t[m], b[m] = t[m]:sub(1, -2) .. M.seam(t[m], x) .. x:sub(2), last[k]
    else m = m + 1; t[m], a[m], b[m] = x, first[k], last[k] end
  end
  return t, a, b, m
end

-- what must stay between two strings: their quotes, if an escape of numbers at the end of the first would take a digit of the second
function M.seam(one, two)
  local escape = one:match("\\(x%x+)\"$") or one:match("\\([0-7]+)\"$")
  return escape and two:find(escape:sub(1, 1) == "x" and "^\"%x" or "^\"[0-7]") and '""' or ""
end

-- a row of tokens in one string, each between two bytes that no token has
local function row(s)
  local t, first, last, n = M.whole(s)
  local at, where = {}, 1
  for k = 1, n do
    at[where] = k
    where = where + #t[k] + 1
  end
  return "\0" .. table.concat(t, "\0") .. "\0", at, first, last, n
end

local known, rows = nil, nil            -- the file that was looked at last, which the next question is often about

-- the first and the last byte of the only place in text with the tokens of old; or nil and why not
function M.place(text, old)
  local what, _, _, _, n = row(old)
  if n == 0 then return nil, "is empty" end
  if known ~= text then known, rows = text, table.pack(row(text)) end
  local all, at, first, last = table.unpack(rows)
  local a = all:find(what, 1, true)
  if not a then return nil, "occurs never" end
  if all:find(what, a + 1, true) then return nil, "occurs more than once" end
  local k = at[a]
  return first[k], last[k + n - 1]
end

function M.replaced(text, old, new)
  local a, b = M.place(text, old)
  if not a then return nil, b end
  return text:sub(1, a - 1) .. new:gsub("^%s+", ""):gsub("%s+$", "") .. text:sub(b + 1)
end

function M.slurp(name)
  local h = assert(io.open(name, "rb"))
  local s = h:read("a")
  h:close()
  return s
end

-- the entries of a file of changes:  == FILE [WORD [MORE]], then lines with - (as they are) and + (as they shall be)
function M.changes(name)
  local list, e, line = {}, nil, 0
  for l in io.lines(name) do
    line = line + 1
    local file, word, more = l:match("^== (%S+)%s*(%S*)%s*(%S*)")
    if file then e = { file = file, word = word, more = more, old = {}, new = {}, line = line }; list[#list + 1] = e
    elseif e and l:match("^%-") then e.old[#e.old + 1] = l:sub(2)
    elseif e and l:match("^%+") then e.new[#e.new + 1] = l:sub(2) end
  end
  for _, x in ipairs(list) do x.old, x.new = table.concat(x.old, "\n"), table.concat(x.new, "\n") end
  return list
end

if arg and arg[0] and arg[0]:match("ctokens%.lua$") then
  local all = M.changes(arg[1])
  local e = all[tonumber(arg[2])]
  if e then
    local file = e.file:gsub("^tangled/", (os.getenv("TANGLED") or "tangled") .. "/")
    local text, why = M.replaced(M.slurp(file), e.old, e.new)
    if not text then io.stderr:write(arg[1], ":", e.line, ": the old text ", why, " in ", file, "\n"); os.exit(1) end
    io.write(text)
  else for i, x in ipairs(all) do print(i, x.file, x.word) end end
end
return M
