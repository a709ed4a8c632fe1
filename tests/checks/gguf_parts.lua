-- gguf_parts.lua FILE -- how many bytes of a GGUF file each of its parts has, as figures/data/gguf.parts.csv wants them: the beginning, the
-- keys by the files of a directory that say the same, the list of tensors, the zeros, and the numbers.  It reads the format by itself.
local h = assert(io.open(arg[1], "rb"))
local s, at = h:read("a"), 1
h:close()
local function take(form) local x, next = string.unpack("<" .. form, s, at); at = next; return x end
assert(take "c4" == "GGUF" and take "I4" == 3)
local tensors, keys = take "I8", take "I8"
local form = { [0] = "I1", "i1", "I2", "i2", "I4", "i4", "f", "I1", "s8", nil, "I8", "i8", "d" }
local function value(type)
  if type ~= 9 then return take(form[type]) end
  local inner, n = take "I4", take "I8"
  for _ = 1, n do value(inner) end
end
-- which file of a directory says it
local function of(key)
  if key:find "^general%.sampling" then return "advice" end
  if key == "tokenizer.chat_template" then return "template" end
  if key:find "^tokenizer%." then return key:find "[be]os_token_id" and "settings" or "tokenizer" end
  if key:find "^general%.alignment" or key:find "^general%.quantization" or key:find "^general%.file_type" then return "other" end
  return "settings"
end
local bytes = { beginning = at - 1 }
local order = { "beginning", "settings", "advice", "tokenizer", "template", "other", "list", "zeros", "numbers" }
for _ = 1, keys do
  local from, key = at, take "s8"
  value(take "I4")
  bytes[of(key)] = (bytes[of(key)] or 0) + at - from
end
local from = at
for _ = 1, tensors do
  take "s8"
  for _ = 1, take "I4" do take "I8" end
  take "I4"; take "I8"
end
bytes.list = at - from
local data = (at - 1 + 31) // 32 * 32
bytes.zeros, bytes.numbers = data - (at - 1), #s - data
print "part,bytes"
for _, part in ipairs(order) do print(part .. "," .. (bytes[part] or 0)) end
