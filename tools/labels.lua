-- labels.lua NUMBER=build/woven/MODULE ... -- the number of every label, read off the woven sections, so that a volume, or a chapter that is
-- set alone, can refer to what another PDF prints.  One line each: \outsidelabel{label}{kind}{number}{module}{destination}
-- labels.lua check AUX < lines -- whether a PDF has printed the numbers that are foretold here.
local function slurp(f) local h = io.open(f, "rb"); if not h then return "" end local s = h:read("a"); h:close(); return s end
if arg[1] == "check" then
  local set, bad = {}, 0
  for name, number, at in slurp(arg[2]):gmatch("\\newlabel{([^}]*)}{{([^}]*)}{[^}]*}{.-}{([^{}]*)}{}}") do set[name] = { number = number, at = at } end
  for l in io.lines() do
    local name, _, number, _, at = l:match("^\\outsidelabel{(.-)}{(.-)}{(.-)}{(.-)}{(.-)}$")
    local s = set[name]
    if s and (s.number ~= number or s.at ~= at) then
      bad = bad + 1
      io.stderr:write(string.format("%s is %s at %s; labels.lua says %s at %s\n", name, s.number, s.at, number, at))
    end
  end
  os.exit(bad == 0)
end
for i = 1, #arg do
  local chapter, base = arg[i]:match("^(%w+)=(.+)$")
  local module = base:match("^build/woven/(.+)$")
  local s = slurp(base .. ".tex"):gsub("%%\n", "")
  local count, kind, here = { cwsec = 0, figure = 0, table = 0, equation = 0, exercise = 0 }, "chapter", chapter
  local function out(label, what, n)
    local number = what == "chapter" and chapter or chapter .. (what == "exercise" and "–" or ".") .. n
    local at = (what == "chapter" and "chapter." .. chapter) or what .. "." .. chapter .. (what == "equation" and ".0." or ".") .. n
    print(string.format("\\outsidelabel{%s}{%s}{%s}{%s}{%s}", label, what, number, module, at))
  end
  out(module, "chapter")
  local function next_of(what) count[what] = count[what] + 1; return count[what] end
  local arguments = "%s*(%b{})%s*(%b{})"
  local inside                                        -- of an equation
  for at in s:gmatch("()\\%a") do
    local name = s:match("^\\(%a+)", at)
    local rest = at + 1 + #name
    if name == "M" or name == "N" then
      local n = s:match(name == "M" and "^{\\?%*?(%d+)}" or "^{%d+}{\\?%*?(%d+)}", rest)
      if n then count.cwsec = tonumber(n) end
    elseif name:match("^%l*fig$") then
      local skip = s:match("^%s*%b[]()", rest) or rest
      local first, second = s:match("^" .. arguments, skip)
      if name == "sidefig" or first then
        local n = next_of("figure")
        out(second:sub(2, -2), "figure", n)
      end
    elseif name == "tabcaption" then out(s:match("^%s*{(.-)}", rest), "table", next_of("table"))
    elseif name == "exercise" then
      local _, second = s:match("^" .. arguments, rest)
      if second then out(second:sub(2, -2), "exercise", next_of("exercise")) end
    elseif name == "begin" and s:match("^{equation}", rest) then inside = next_of("equation")
    elseif name == "end" and s:match("^{equation}", rest) then inside = nil
    elseif name == "label" then
      local label = s:match("^{([^}]*)}", rest)
      if label and not label:match("^\\") then out(label, inside and "equation" or "cwsec", inside or count.cwsec) end
    end
  end
end
