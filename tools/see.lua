-- see.lua -- chapters/see.tsv for the other tools: for from, to, also in dofile("tools/see.lua") do, entry after entry: what a reader looks up,
-- where it leads, and whether that is a "see also", beside sections of its own
local lines = io.lines("chapters/see.tsv")
return function()
  for l in lines do
    local from, also, to = l:match("^([^#\t]+)\t(%+?)(.+)$")
    if from then return from, to, also ~= "" end
  end
end
