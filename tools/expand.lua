-- expand.lua WEB OUT REFEREE PROGRAM -- the C of a web as its author wrote it: every file of WEB goes to OUT, with the sections put
-- where they are used, indented by that place, in the author's lines; comments stay, their TeX in words; a section's name
-- stands once in a file, as a comment <in angle brackets>; what documents a declaration stands above it.
-- /** ... */ at the top of a file's section is the head of the file: its first sentence says what the file is for. /*- ... */ is a
-- comment for the C alone, in plain text: the book has the same in its prose. Neighbouring strings are joined where a line has room.
-- REFEREE has the same files from ctangle, the unnamed program as PROGRAM: the tokens of both are the same, or nothing is written.
package.path = arg[0]:match("^(.-)[^/]*$") .. "?.lua;" .. package.path
local ctokens = require "ctokens"
local web, out, referee, program = arg[1], arg[2], arg[3], arg[4]
local function stop(...) io.stderr:write(web, ": ", string.format(...), "\n"); os.exit(1) end
local function slurp(f) local h = io.open(f, "rb") or stop("cannot read %s", f); local s = h:read("a"); h:close(); return s end

-- ---- TeX to words
local words = { ge = ">=", le = "<=", ne = "!=", infty = "infinity", dots = "...", ldots = "...", times = "x", cdot = "*", mid = "|",
  _ = "_", ["{"] = "{", ["}"] = "}", ["%"] = "%", ["&"] = "&", ["#"] = "#", ["$"] = "$", [" "] = " ", [","] = " ", ["\\"] = "\\" }
for w in ("ln log exp max min sin cos tanh erf sum in theta alpha beta gamma epsilon lambda mu pi sigma"):gmatch("%a+") do words[w] = " " .. w .. " " end
local function commands(t)
  return (t:gsub("\\(%a+)%s*", function(m)
    return words[m] or stop("\\%s in a comment has no words in tools/expand.lua: %s", m, t)
  end))
end
local function formula(t)
  t = t:gsub("\\rm%s*", ""):gsub("\\sqrt%s*(%b{})", function(x) return "sqrt(" .. x:sub(2, -2) .. ")" end)
  t = t:gsub("\\sum_(%w+)%s*", "sum over %1 of "):gsub("\\sum_(%b{})%s*", function(x) return "sum over " .. x:sub(2, -2) .. " of " end)
  t = t:gsub("([_^])(%b{})(%a?)", function(sign, x, after)
    x = x:sub(2, -2):gsub("[{}]", "")
    return sign .. (x:find("[^%w]") and "(" .. x .. ")" or x) .. (after ~= "" and " " .. after or "")
  end)
  t = commands(t:gsub("%s*(=)%s*", " %1 ")):gsub("^ ", ""):gsub(" $", "")
  return (t:gsub("(%a) ([_^])", "%1%2"):gsub("([-(/]) ", "%1"))
end
local function plain(t)
  local text = {}
  t = t:gsub("%$([^$]*)%$", formula)
  t = t:gsub("\\\\{([^}]*)}", "%1"):gsub("\\%.(%b{})", function(s) return s:sub(2, -2) end)
  t = t:gsub("\\tok(%b{})", function(s) return s:sub(2, -2) end):gsub("\\emph(%b{})", function(s) return s:sub(2, -2) end)
  t = commands(t)
  t = t:gsub("\\(%A)", function(m) return words[m] or stop("\\%s in a comment has no words in tools/expand.lua: %s", m, t) end)
  t = t:gsub("{}", ""):gsub("[|$]", ""):gsub("``", '"'):gsub("''", '"'):gsub("~", " "):gsub("(%w)%-%-(%w)", "%1-%2")
  return (t:gsub("  +", " "))
end
local function squeeze(s) return (s:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")) end

-- ---- the sections: what begins after @<name@>=, @(file@>= or @c, up to the next section
local text = "\n" .. slurp(web)
local parts, names = {}, {}
do
  local starts = {}
  for p in text:gmatch("\n()@[ *\n\t]") do starts[#starts + 1] = p end
  for i, p in ipairs(starts) do
    local s = text:sub(p + 2, (starts[i + 1] or #text + 1) - 1)
    -- a definition is @<name@>= ; a name in prose is @<name@> without it
    local kind, name, body, at = nil, nil, nil, 1
    while true do
      local a, b, sign = s:find("@([<(c^.:])", at)
      if not a then break end
      if sign == "c" then
        if s:find("^[%s]", b + 1) then kind, name, body = "main", program, s:sub(b + 1); break end
        at = b + 1
      else
        local e, f = s:find("@>", b, true)
        if not e then stop("a control text is not closed: %s", s:sub(a, a + 40)) end
        local _, g = s:find("^%s*%+?=", f + 1)
        if (sign == "<" or sign == "(") and g then
          kind, name, body = sign == "<" and "section" or "file", squeeze(s:sub(b + 1, e - 1)), s:sub(g + 1); break
        end
        at = f + 1
      end
    end
    for n in s:gmatch("@<(.-)@>") do n = squeeze(n); if not n:find("%.%.%.$") then names[n] = true end end
    if body then parts[#parts + 1] = { kind = kind, name = name, body = body } end
  end
end
local function full(n)
  n = squeeze(n)
  if not n:find("%.%.%.$") then return n end
  local found
  for k in pairs(names) do
    if k:sub(1, #n - 3) == n:sub(1, -4) then if found then stop("<%s> is short for two names", n) end; found = k end
  end
  return found or stop("<%s> is short for nothing", n)
end

-- ---- a body: control codes go, comments and uses of sections become marks, \1n\2 and \3n\4
local comments, uses = {}, {}
local head                                -- the text of the last /** */
local function marked(body)
  local o, pos = {}, 1
  local function put(s) o[#o + 1] = s end
  while pos <= #body do
    local a = body:find("[@\"'/]", pos)
    if not a then put(body:sub(pos)); break end
    put(body:sub(pos, a - 1))
    local two = body:sub(a, a + 1)
    local c = two:sub(1, 1)
    if two == "/*" then
      local _, e = body:find("*/", a + 2, true)
      if not e then stop("a comment is not closed: %s", body:sub(a, a + 60)) end
      local c, kind = body:sub(a + 2, e - 2):gsub("@@", "@"), body:sub(a + 2, a + 2)
      if kind == "*" then head = plain(c:sub(2)); put("\5")
      else
        comments[#comments + 1] = kind == "-" and { words = c:sub(2) } or c
        put("\3" .. #comments .. "\4")
      end
      pos = e + 1
    elseif c == '"' or c == "'" then
      local b = a + 1
      while body:sub(b, b) ~= c do b = b + (body:sub(b, b) == "\\" and 2 or 1); if b > #body then stop("a string is not closed: %s", body:sub(a, a + 60)) end end
      put((body:sub(a, b):gsub("@@", "@"))); pos = b + 1
    elseif c == "/" then put("/"); pos = a + 1
    elseif two == "@@" then put("@"); pos = a + 2
    elseif two == "@<" then
      local e, f = body:find("@>", a, true)
      uses[#uses + 1] = full(body:sub(a + 2, e - 1)); put("\1" .. #uses .. "\2"); pos = f + 1
    elseif two:find("@[%^.:]") then local _, f = body:find("@>", a, true); put("\5"); pos = f + 1
    elseif two == "@#" then put("\6"); pos = a + 2
    elseif two:find("@[%[%];,|/+&%s]") then put("\5"); pos = a + 2
    else stop("the control code %s is not known here", two) end
  end
  -- a line that had only control codes goes; @# leaves an empty one
  local lines = {}
  for l in (table.concat(o):gsub("^[ \t]*\n", "") .. "\n"):gmatch("(.-)\n") do
    local bare = l:gsub("[\5\6]", "")
    if l:find("[\5\6]") then
      local empty = l:find("\6") ~= nil
      l = l:gsub("([ \t])[\5\6]+[ \t]+", "%1"):gsub("[\5\6]", ""):gsub("[ \t]+$", "")
      if not bare:find("%S") then l = empty and "" or nil elseif empty then lines[#lines + 1] = l; l = "" end
    end
    if l then lines[#lines + 1] = (l:gsub("[ \t]+$", "")) end
  end
  while lines[1] == "" do table.remove(lines, 1) end
  while lines[#lines] == "" do table.remove(lines) end
  return lines
end
local section, files, order, heads = {}, {}, {}, {}
for _, p in ipairs(parts) do
  local t = p.kind == "section" and section or files
  local n = p.kind == "section" and full(p.name) or p.name
  if not t[n] then t[n] = {}; if t == files then order[#order + 1] = n end end
  head = nil
  table.insert(t[n], marked(p.body))
  if head and t == section then stop("a head, /** */, in <%s>, which is no file", n) end
  heads[n] = head or heads[n]
end

-- ---- expansion: lines of a section, its parts one after the other
local function expand(of, pad, seen, stack, emit)
  for i, part in ipairs(of) do
    if i > 1 and pad == "" then emit("") end
    for _, line in ipairs(part) do
      local function use(l)               -- l has marks; the rest of the line goes on behind what is put in
        local a, b, n = l:find("\1(%d+)\2")
        if not a then emit(l:find("%S") and (l:find("^%s*#") and l or pad .. l) or ""); return end
        local name = uses[tonumber(n)]
        local s = section[name] or stop("<%s> is used and not defined", name)
        if stack[name] then stop("<%s> uses itself", name) end
        stack[name] = true
        local before, after, inner = l:sub(1, a - 1), l:sub(b + 1), {}
        local lead = before:match("^[ \t]*")
        local alone = lead == before
        if alone and not seen[name] then
          seen[name] = true
          comments[#comments + 1] = { heading = plain(name) }
          emit(pad .. lead .. "\3" .. #comments .. "\4")
        end
        expand(s, pad .. lead, seen, stack, function(x) inner[#inner + 1] = x end)
        stack[name] = nil
        for k, x in ipairs(inner) do
          if k == 1 and not alone then x = pad .. before .. x:gsub("^[ \t]*", "") end
          if k == #inner and after:find("%S") then
            -- what follows on the line of the use follows what was put in
            local rest = x .. after
            if after:find("\1") then pad = pad; local keep = pad; use(rest:sub(#pad + 1)); pad = keep; x = nil
            else x = rest end
          end
          if x then emit(x) end
        end
      end
      use(line)
    end
  end
end

-- ---- comments: in their place, or above the declaration that they follow
local function wrap(t, pad)
  local lines, line = {}, pad .. "/*"
  for w in squeeze(t):gmatch("%S+") do
    if #line + 1 + #w > 89 - 3 then lines[#lines + 1] = line; line = pad .. "  " end
    line = line .. " " .. w
  end
  lines[#lines + 1] = line .. " */"
  return table.concat(lines, "\n")
end
local function written(n, pad, own)
  local c = comments[n]
  if type(c) == "table" and c.heading then return "/* <" .. c.heading .. "> */" end
  if type(c) == "table" then return (wrap(c.words, pad):sub(#pad + 1)) end
  if own then return (wrap(plain(c), pad):sub(#pad + 1)) end
  return "/*" .. plain(c):gsub("\n[ \t]*", "\n" .. pad .. "   ") .. "*/"
end
local function is_heading(n) return type(comments[n]) == "table" and comments[n].heading ~= nil end

-- lines with marks -> lines in which every docstring precedes its declaration: a comment by itself that follows a line
-- ending a declaration, and is indented deeper than it, belongs to what ended there
local function docs_above(lines)
  local res, depth = {}, 0
  local starts = {}                       -- per depth: the line of res where the current item begins
  local ended                             -- { at = index, pad = n }: an item ended on the last line
  local in_macro, item = false, ""        -- item: the code of the current item so far
  for _, l in ipairs(lines) do
    local pad = #l:match("^[ \t]*")
    local only = l:match("^[ \t]*\3(%d+)\4[ \t]*$")
    if only and not is_heading(tonumber(only)) and ended and pad > ended.pad then
      table.insert(res, ended.at, (" "):rep(ended.pad) .. "\3" .. only .. "\4")
      for d, s in pairs(starts) do if s >= ended.at then starts[d] = s + 1 end end
      ended.at = ended.at + 1
    elseif not l:find("%S") or only then
      res[#res + 1] = l; ended = nil; starts[depth] = nil
    else
      -- a doc on the same line, at file scope, behind what it documents
      local tail
      if depth == 0 or l:find("^[ \t]*}") then tail = l:match("^.-[;}][ \t]*\3(%d+)\4[ \t]*$") end
      res[#res + 1] = l
      local here = #res
      ended = nil
      if in_macro or l:find("^[ \t]*#") then
        if not in_macro then starts[depth] = here end
        in_macro = l:find("\\$") ~= nil
        if not in_macro then ended = { at = starts[depth], pad = #res[starts[depth]]:match("^[ \t]*") }; starts[depth] = nil end
      else
        starts[depth] = starts[depth] or here
        local code = l:gsub("\3%d+\4", ""):gsub('\\.', "  "):gsub('"[^"]*"', '""'):gsub("'[^']*'", "''")
        for c in code:gmatch("[(){};,]") do
          if c == "(" or c == "{" then depth = depth + 1; starts[depth] = nil
          elseif c == ")" then depth = depth - 1
          elseif c == "}" then
            depth = depth - 1
            if starts[depth] == nil then starts[depth] = here end
          end
        end
        item = (starts[depth] == here and "" or item) .. code
        if code:find(";%s*$") or code:find("}%s*$") and (not code:find("{.*}%s*$") or item:find("%)%s*{.*}%s*$")) then
          local s = starts[depth] or here
          ended = { at = s, pad = #res[s]:match("^[ \t]*") }
          starts[depth] = nil
        end
      end
      if tail and ended and depth == 0 and not is_heading(tonumber(tail)) then
        res[#res] = res[#res]:gsub("[ \t]*\3%d+\4[ \t]*$", "")
        table.insert(res, ended.at, (" "):rep(ended.pad) .. "\3" .. tail .. "\4")
        ended.at = ended.at + 1
      end
    end
  end
  return res
end

-- the lines of a file: a blank one before a section, a docstring and whatever follows a function, all at file scope
local function laid_out(lines)
  local o = {}
  local function emit(l, gap)
    if gap and #o > 0 and o[#o] ~= "" then o[#o + 1] = "" end
    if l ~= "" or o[#o] ~= "" then o[#o + 1] = l end
  end
  local after_heading, after_function = false, false
  for _, l in ipairs(lines) do
    local pad, only = l:match("^([ \t]*)\3(%d+)\4[ \t]*$")
    if only then
      local heading = is_heading(tonumber(only))
      emit(pad .. written(tonumber(only), pad, true), pad == "" and not (heading and o[#o] and o[#o]:find("^#if")))
      after_heading = heading
    else
      emit(l:gsub("\3(%d+)\4", function(n)
        return written(tonumber(n), (" "):rep(l:find("\3" .. n .. "\4", 1, true) - 1), false)
      end), after_function and l:find("^[^ \t#}]"))
      after_heading = false
    end
    after_function = l == "}"
  end
  return table.concat(o, "\n") .. "\n"
end

-- neighbouring strings as one, on a line of at most 100 columns; what follows them may go to a line of its own. A string that ends
-- a line of output stays by itself.
local function joined(c)
  local function columns(s) return utf8.len(s) or #s end
  local from = 1
  while true do
    local first, last, n = ctokens.tokens(c)
    local changed = false
    for k = 2, n do
      local a, b = first[k - 1], last[k]
      local one, gap, two = c:sub(a, last[k - 1]), c:sub(last[k - 1] + 1, first[k] - 1), c:sub(first[k], b)
      if a >= from and one:find('^"') and two:find('^"') and not gap:find("%S") and not one:find('\\n"$') and ctokens.seam(one, two) == "" then
        local before = c:sub(1, last[k - 1] - 1):match("[^\n]*$")
        local rest, pad = c:match("^([^\n]*)", b + 1), c:sub(1, first[k] - 1):match("[^\n]*$"):match("^%s*")
        local line = before .. two:sub(2)
        local comma = rest:match("^,") and columns(line) < 100 and gap:find("\n")
        if not gap:find("\n") or columns(line .. rest) <= 100 then c = c:sub(1, last[k - 1] - 1) .. c:sub(first[k] + 1); changed = true
        elseif comma then c = c:sub(1, last[k - 1] - 1) .. two:sub(2) .. ",\n" .. pad .. c:sub(b + 2):gsub("^ ", ""); changed = true end
        from = changed and a or a + 1
        if changed then break end
      end
    end
    if not changed then return c end
  end
end

-- the tokens of a text; the end of a directive counts as one
local function stream(c)
  local lines, directive = {}, false
  for l in (c .. "\n"):gmatch("(.-)\n") do
    directive = directive or l:find("^%s*#") ~= nil
    if directive and not l:find("\\$") then l, directive = l .. " @", false end
    lines[#lines + 1] = l
  end
  c = table.concat(lines, "\n")
  return (ctokens.whole(c))
end

-- what a file begins with
local function beginning(name, said)
  local made = "made from " .. web .. "; change it there"
  local what = name == program and "the program" or name
  if not said then return "/* " .. what .. " -- " .. made .. " */\n\n" end
  local one, rest = squeeze(said):match("^(.-[.])%s(.*)$")
  one, rest = one or squeeze(said), rest or ""
  local function block(t) return wrap(t, ""):gsub("^/%*", "  "):gsub(" %*/$", "") end
  return "/*" .. block(what .. " -- " .. one):sub(3) .. "\n   " .. made .. (rest ~= "" and "\n\n" .. block(rest) or "") .. " */\n\n"
end

for _, name in ipairs(order) do
  local lines, n_comments = {}, 0
  expand(files[name], "", {}, {}, function(l)
    lines[#lines + 1] = l
    for _ in l:gmatch("\3") do n_comments = n_comments + 1 end
  end)
  local c = joined(laid_out(docs_above(lines)))
  local _, there = c:gsub("/%*", "")
  if there ~= n_comments then stop("%s has %d comments, its sections have %d", name, there, n_comments) end
  if c:find("/%*[^*]*[\\$].-%*/") then stop("%s: TeX in a comment", name) end
  local mine, theirs = stream(c), stream((slurp(referee .. "/" .. name):gsub("#line[^\n]*\n", "")))
  local d
  for i = 1, math.max(#mine, #theirs) do if mine[i] ~= theirs[i] then d = i; break end end
  if d then
    stop("%s is not what ctangle makes: token %d, %s for %s", name, d, table.concat(mine, " ", math.max(1, d - 4), math.min(#mine, d + 4)),
      table.concat(theirs, " ", math.max(1, d - 4), math.min(#theirs, d + 4)))
  end
  local h = io.open(out .. "/" .. name, "wb") or stop("cannot write %s", out .. "/" .. name)
  h:write(beginning(name, heads[name]), c); h:close()
end
