-- labreadme.lua NAME -- the README of a lab's folder, from course/NAME/lab and tests.tsv
local name = arg[1]
local function slurp(f) local h = assert(io.open(f, "rb")); local s = h:read("a"); h:close(); return s end
local facts, rows, list = {}, {}, {}
for k, v in slurp("course/" .. name .. "/lab"):gmatch("(%S+) ([^\n]+)") do facts[k] = v end
for l in slurp("course/" .. name .. "/tests.tsv"):gmatch("[^\n]+") do
  local test, points, kind, promise = l:match("^([^#\t]+)\t(%d+)\t(%w+)\t%d+\t(.+)$")
  if test then rows[#rows + 1] = string.format("| %s | %s | %s |", kind == "public" and "`" .. test .. "`" or "hidden", points, promise) end
end
local function of_key(f) local h = io.open("build/labs/" .. name .. ".key/" .. f, "rb"); return h and h:read("a"), h and h:close() end
local function names(what) return of_key("may-" .. what) or of_key("own-may-" .. what) end
local may, seen = {}, {} -- not among them: what the student writes, and what the lab's own files have for the tests
for f in names("define"):gmatch("[^\n]+") do seen[f:gsub("^uncounted_", "")] = true end
for f in names("use"):gmatch("[^\n]+") do
  if not f:match("^_") and f ~= "GLOBAL_OFFSET_TABLE_" and not seen[f] then seen[f] = true; may[#may + 1] = "`" .. f .. "`" end
end
table.sort(may)
for f in facts.files:gmatch("%S+") do list[#list + 1] = "`" .. f .. "`" end
io.write(string.format([[
# Lab %d: %s

`handout.pdf` says what to build and why, with the pages of the book that lead to it. You complete %s; look for `YOUR CODE`.
What comes before them is in `lib/lab.a`, and its headers are in `include/`. You need Linux on x86-64 (a virtual machine or WSL 2 will do), a C compiler, `make`,
and about %s hours.

    make             compiles; the skeleton compiles as it is
    make test        runs the public tests
    make test-NAME   one of them
    make case-NAME-3 what your program prints in case 3 of a test, on the left, and on the right what it should print

Each test begins with its smallest case, and says what differed first. `gdb --args tests/run NAME SEED 3` runs case 3
alone (set a breakpoint first); the seed stands in the last line of `tests/public/NAME.txt`.

| test | points | what is promised |
|---|---|---|
%s

The teacher's grader runs these tests once more with inputs that nobody has seen, and the hidden ones. `tests/tests.c` has the code of
all of them, the hidden ones as well: you may read it and run it (`tests/run NAME 7` takes any seed), but what it should print is known to the grader alone. Hand in %s and nothing else.
Besides each other they may call these functions; the grader refuses others, and says which:

%s

It compiles what you hand in with the flags that are in the `Makefile`. An `#include` in it names a header of the lab or of the system, written out; no `#line`, no assembly, no attributes
that choose a section or a function before the tests run. `LICENSE` and `LICENSE-text` say what you may do with all of this%s.
]], tonumber(name:match("^%d+")), facts.title or name, table.concat(list, " and "), facts.hours or "a few", table.concat(rows, "\n"), table.concat(list, " and "), table.concat(may, ", "),
  io.open("build/labs/" .. name .. "/NOTICES", "rb") and "; `NOTICES` has the notices of what else is in `lib/lab.a`" or ""))
