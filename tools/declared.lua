-- declared.lua FILE NAMES -- the lines of a header that declare NAMES, as `bytes,bytes_push' or `num_logf..num_to_bf16', all from the one to
-- the other: each with the comment above it, and a blank line where the header has one; without NAMES the whole file.  As a module (dofile) a function that gives the lines, or nil
-- and why not.  In a list of settings or a table, FILE.inc, a row is a declaration, that of a table by the string that it begins with.
local function slurp(f)
  local h = io.open(f, "rb") or io.open((f:gsub("^tangled/", "unwoven/")), "rb")
  if not h then return nil end
  local s = h:read("a"); h:close(); return s
end
-- what a declaration declares
local function name_of(code)
  code = code:gsub("%s+", " "):gsub("^ ", "")
  return code:match("^%u+%(.-, ([%l_][%w_]*)[,)]")                       -- SETTING(COUNT, vocab_size, ...)
    or code:match("^static const [%w_ ]-([%w_]+)%[[%w_]*%] =")           -- a table
    or code:match('^{ ?"([%w_.-]+)",')                                     -- a row of one
    or code:match("^struct ([%w_]+) {") or code:match("^enum ([%w_]+) {") or code:match("^#define ([%w_]+)")
    or code:gsub("__attribute__%s*%b()%s*", ""):match("([%w_]+) ?%(") or code:match("([%w_]+)[%[%]%d%w_]* ?;") or code:match("([%w_]+) =")
end
local function declarations(text)
  local list, item, depth, comment, gap = {}, nil, 0, false, false
  for line in (text:gsub("\n$", "") .. "\n"):gmatch("(.-)\n") do
    local code = line:gsub("/%*.-%*/", "")
    if line == "" and not (item and item.code:find("%S")) then item, gap = nil, true
    else
      if comment then
        code = code:find("%*/") and code:gsub("^.-%*/", "") or ""
      end
      if code:find("/%*") then code = code:gsub("/%*.*", "") end
      local opens, closes = select(2, line:gsub("/%*", "")), select(2, line:gsub("%*/", ""))
      comment = (comment and 1 or 0) + opens - closes > 0
      if not item then item = { code = "", gap = gap }; gap = false end
      item[#item + 1] = line
      item.code = item.code .. code .. "\n"
      local bare = code:gsub('\\.', "  "):gsub('"[^"]*"', ""):gsub("'[^']*'", "")
      for c in bare:gmatch("[({})]") do depth = depth + ((c == "(" or c == "{") and 1 or -1) end
      local ends = depth == 0 and not comment and code:find("%S")
        and (code:find(";%s*$") or code:find("},?%s*$") or code:find("^%s*#") and not code:find("\\%s*$") or item.code:find("^%s*%u+%(.*%)%s*$"))
      if ends then item.name = name_of(item.code); list[#list + 1] = item; item = nil end
    end
  end
  return list
end
local function declared(file, names)
  local text = slurp(file)
  if not text then return nil, "there is no file " .. file end
  if names == "" then                                                    -- the whole file
    local all = {}
    for line in (text:gsub("\n$", "") .. "\n"):gmatch("(.-)\n") do all[#all + 1] = line end
    return all
  end
  local list = declarations(text)
  local at = {}
  for i, d in ipairs(list) do if d.name and not at[d.name] then at[d.name] = i end end
  local lines, last = {}, nil
  for part in names:gmatch("[^,]+") do
    local a, b = part:match("^%s*([%w_.-]-[%w_])%.%.([%w_][%w_.-]*)%s*$")
    a = a or part:match("^%s*([%w_.-]+)%s*$"); b = b or a
    if not a or not at[a] then return nil, file .. " does not declare " .. (a or part) end
    if not at[b] or at[b] < at[a] then return nil, file .. " does not declare " .. b .. " behind " .. a end
    for i = at[a], at[b] do
      if last and (list[i].gap or i ~= last + 1) then lines[#lines + 1] = "" end
      for _, l in ipairs(list[i]) do lines[#lines + 1] = l end
      last = i
    end
  end
  return lines
end
if arg and arg[0] and arg[0]:find("declared%.lua$") then
  local lines, why = declared(arg[1], arg[2])
  if not lines then io.stderr:write(why, "\n"); os.exit(1) end
  print(table.concat(lines, "\n"))
end
return declared
