-- card.lua DIRECTORY -- every figure of the model card is the one in check.csv and training.csv beside it.
local dir = arg[1]
local function slurp(f) local h = assert(io.open(f, "rb")); local s = h:read("a"); h:close(); return s end
local card, answer = slurp(dir .. "/pocket/README.md"):gsub("%s+", " "), {}
for l in io.lines(dir .. "/pocket/check.csv") do local k, v = l:match("^([^,]+),([^,]+)"); answer[k] = tonumber(v) end
local n, bad = 0, 0
local function says(words) n = n + 1; if not card:find(words, 1, true) then bad = bad + 1; print("the card does not say: " .. words) end end
for line in ([[
bits.all %.3f entropy of the source is known: # bits a token.
loss.bits %.3f # bits a token on 
source.bits %.3f where the source has #:
ratio.all %.3f # times the entropy
ratio.tale %.3f (tales #,
ratio.home %.3f home #,
ratio.chronicle %.3f chronicles #,
ratio.code %.3f code #,
ratio.talk %.3f talk #)
heldout %.0f on # texts of another seed
names.middle %.2f Names in tales come back with #
variables.local %.3f local variables with #;
variables.name.middle %.3f the name with #
variables.value.middle %.3f the value with #.
fork.However %.3f ` However` with #
fork.Additionally %.3f ` Additionally` with #
draft.common.code %.2f have # (code)
draft.common.chronicle %.2f to # (chronicles)
]]):gmatch("[^\n]+") do
  local key, form, words = line:match("^(%S+) (%S+) (.*)$")
  if not answer[key] then bad = bad + 1; print("check.csv has no " .. key) else says((words:gsub("#", form:format(answer[key]), 1))) end
end
for _, m in ipairs { "pocket", "draft" } do
  local step, tokens
  for l in io.lines(dir .. "/" .. m .. "/training.csv") do local s, t = l:match("^(%d+),(%d+),"); step, tokens = s or step, t or tokens end
  says(("%.1f million tokens, %s steps"):format(tokens / 1e6, (step:gsub("(%d)(%d%d%d)$", "%1,%2"))))
end
print(n .. " figures of the card, " .. bad .. " not as printed")
os.exit(bad == 0)
