-- wordcounts.lua SHARED -- how many tokens three texts are, in English, German and C, in five vocabularies; four of them are not part of this
-- project, the texts and the result, figures/data/tokens.words.csv, are.
local shared = arg[1]
local lists = {{"pocket", "models/pocket"}, {"gpt2", shared .. "/golden/tokenizers/gpt2"}, {"llama2", shared .. "/data/llama2/tokenizer.model"},
  {"llama3", shared .. "/golden/tokenizers/llama3"}, {"qwen3", shared .. "/golden/tokenizers/qwen3"}}
print("# command: texlua tools/wordcounts.lua SHARED; the texts are tests/texts/*.txt, the vocabularies those of the built-in model, GPT-2, Llama 2, Llama 3 and Qwen 3")
print("vocabulary,text,words,bytes,tokens")
for _, l in ipairs(lists) do
  for _, t in ipairs { "english", "german", "code" } do
    local file = "tests/texts/" .. t .. ".txt"
    local h = assert(io.open(file, "rb")); local s = h:read("a"); h:close()
    local words = 0
    for _ in s:gmatch("%S+") do words = words + 1 end
    local p = assert(io.popen(("build/incipit tokenize -m %s --no-special --count -q -f %s"):format(l[2], file)))
    local n = assert(tonumber(p:read("a")), l[1]); p:close()
    print(("%s,%s,%d,%d,%d"):format(l[1], t, words, #s, n))
  end
end
