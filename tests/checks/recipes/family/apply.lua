-- apply.lua FOLDER CHANGE -- the entries of CHANGE (as tests/planted/mutants has them) are made in the files below FOLDER; prints the files
local C = dofile("tools/ctokens.lua")
for _, x in ipairs(C.changes(arg[2])) do
  local f = arg[1] .. "/" .. x.file
  local s, why = C.replaced(C.slurp(f), x.old, x.new)
  if not s then print(x.file .. ": the old lines must occur there exactly once; they occur " .. why); os.exit(1) end
  local h = assert(io.open(f, "wb")); h:write(s); h:close()
  print(x.file)
end
