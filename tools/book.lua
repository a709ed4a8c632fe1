-- book.lua -- book.list for the other tools: a list of { folder, number, module, web, needs, program, title } in the order of dependence,
-- needs and program (what the web's program needs besides) as lists of modules; by name, too.
local book = {}
for l in io.lines("book.list") do
  local folder, number, file, module, needs, title = l:match("^(%l+)%s+(%d+)%s+(%S+)%s+(%S+)%s+(%S+)%s+(.*)$")
  if folder then
    local row = { folder = folder, number = tonumber(number), module = module, web = folder .. "/" .. file .. ".w", title = title, needs = {}, program = {} }
    local first, second = needs:match("^([^;]*);?(.*)$")
    for m in first:gmatch("[%w/-]+") do if m ~= "-" then table.insert(row.needs, m) end end
    for m in second:gmatch("[%w/-]+") do table.insert(row.program, m) end
    row.shown = (folder == "workshop" and "W" or folder == "laboratory" and "L" or "") .. number
    book[#book + 1], book[module] = row, row
  end
end
return book
