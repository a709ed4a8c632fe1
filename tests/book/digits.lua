-- digits.lua -- what tools/digits.lua takes and what it refuses: little webs, each with the words of the complaint ("" for none).
local lfs = require "lfs"
local root = lfs.currentdir()
local dir = root .. "/build/tests/digits"
os.execute("mkdir -p '" .. dir .. "/chapters'")
local function write(f, s) local h = assert(io.open(dir .. "/" .. f, "wb")); h:write(s); h:close() end
local no_reason = "no program prints it"
local cases = {
  { "@ A prompt of 100 tokens.", no_reason },
  { "@ A prompt of \\given{100} tokens.", "" },
  { "@ A temperature of \\given{0.8}, and one of 0.85.", "the number 0.85" },
  { "@ A loss of \\val[2]{loop.loss}, in \\bytes{loop.size}.", "" },
  { "@ A prompt of twenty tokens, or of 20.", "" },                     -- two digits are free, in words as well
  { "@ A prompt of a hundred tokens.", "the number hundred" },
  { "@ A prompt of a \\given{hundred} tokens, of \\val{loop.long}~million.", "" },
  { "@ U+2581 in Unicode 6.3, by Llama~3.1 and Mistral~7B~0.2, in RFC 8259, since 1991.", "" },       -- names and years
  { "@ U+2581 in 2581 places, since 1700.", "the number 2581" },
  { "@ U+2581 in one place, since 1700.", "the number 1700" },
  { "@ A prompt of twelve tokens, or of 12.", "" },                     -- what a reader counts
  { "@ A prompt of 10,000 tokens.", "the number 10000" },
  { "@ They say ``100 tokens'', and \\quoted{1000 of them}.", "" },
  { "@ \\begin{byhand}{x} 3 times 100 is 300 \\end{byhand} And so on.", "" },
  { "@ With AVX-512, |x[100]| and \\cref{sec:100}, \\cited{Knuth 1984}.", "" },
  { "@ Code.\n@c\nint x = 1000;\n", "" },
  { "@ Code.\n@c\nint x = 1000;\n@ And 1000 in prose.", "03-loop.w:4: the number 1000" },
  { "@ Two of them: \\given{100}\nand 200.", "03-loop.w:2: the number 200" },
}
local bad = 0
for n, c in ipairs(cases) do
  write("chapters/03-loop.w", c[1] .. "\n")
  local p = io.popen(string.format("cd '%s' && texlua '%s/tools/digits.lua' chapters/03-loop.w 2>&1; echo $?", dir, root))
  local said = p:read("a"); p:close()
  local status = said:match("(%d+)\n$")
  if c[2] == "" and status ~= "0" or c[2] ~= "" and (status ~= "1" or not said:find(c[2], 1, true)) then
    bad = bad + 1
    print(string.format("case %d: %q\n  says: %s  wanted: %s", n, c[1], said, c[2] == "" and "nothing" or c[2]))
  end
end
print(string.format("%d cases of tools/digits.lua, %d faults", #cases, bad))
os.exit(bad == 0)
