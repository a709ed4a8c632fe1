-- spellings.lua SHARED [letters] -- one hard sentence in four vocabularies: where each token begins and ends, in characters of the sentence;
-- with letters another sentence, of words and sums.
-- The vocabularies are not part of this project; the results, figures/data/tokens.spellings.csv and tokens.letters.csv, are.
local shared = arg[1]
local letters = arg[2] == "letters"
local text = letters and "strawberry, a strawberry, 9999 + 1 = 10000" or "Don't pay  \u{20ac}12345 for \u{3b3}\u{3ac}\u{3c4}\u{3b1}, e\u{301}t\u{e9} \u{1f408}!"
local lists = {{"GPT-2", "golden/tokenizers/gpt2"}, {"Llama 2", "data/llama2/tokenizer.model"}, {"Llama 3", "golden/tokenizers/llama3"}, {"Qwen 3", "golden/tokenizers/qwen3"}}
local function ask(kind, path, question)
  local f = os.tmpname()
  local h = assert(io.open(f, "w")); h:write(question, "\n"); h:close()
  local p = assert(io.popen(("build/incipit probe %s --vocab %s/%s < %s"):format(kind, shared, path, f)))
  local answer = p:read("a"); p:close(); os.remove(f)
  return answer
end
-- the columns that each byte of the sentence, or of its normal form, stands for
local function columns(composed)
  local at, column = {}, 0
  local points = {}
  for _, c in utf8.codes(text) do points[#points + 1] = c end
  local i = 1
  while i <= #points do
    local c, wide = points[i], 1
    if composed and c == 0x65 and points[i + 1] == 0x301 then c, wide = 0xe9, 2 end
    local n = #utf8.char(c)
    for k = 0, n - 1 do at[#at + 1] = column + k * wide / n end
    column, i = column + wide, i + wide
  end
  at[#at + 1] = column
  return at
end
print("# command: texlua tools/spellings.lua SHARED" .. (letters and " letters" or " (make spellings)") .. "; the vocabularies are those of GPT-2, Llama 2, Llama 3 and Qwen 3")
print("vocabulary,from,to,what")
local i = 0
for _, c in utf8.codes(text) do print(("text,%d,%d,%d"):format(i, i + 1, c)); i = i + 1 end
for _, l in ipairs(lists) do
  local answer = ask("tokenize", l[2], '{"text": "' .. text .. '"}')
  local ids, question = {}, {}
  for id in answer:match("%[(.*)%]"):gmatch("%d+") do ids[#ids + 1] = id; question[#question + 1] = '{"ids": [' .. table.concat(ids, ",") .. "]}" end
  local at, done, k = columns(l[1] == "Qwen 3"), 0, 0
  for hex in ask("detokenize", l[2], table.concat(question, "\n")):gmatch('"hex": ?"(%x*)"') do
    k = k + 1
    print(("%s,%.3f,%.3f,%s"):format(l[1], at[done + 1], at[#hex // 2 + 1], ids[k]))
    done = #hex // 2
  end
  assert(k == #ids and done + 1 == #at, l[1])
end
