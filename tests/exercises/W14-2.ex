==== check
set -e
# from ca to abc: the slips that the table counts, and the fewest of the same four kinds that would do
cat > $BUILD/ex.c <<'C'
#include "options.c"
int main(void) { printf("%u\n", edit_distance("ca", "abc")); return 0; }
C
${CC:-cc} -std=gnu11 -O2 -w -Itangled -Iprogram $BUILD/ex.c $BUILD/libprogram.a $BUILD/libmodules.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
cat > $BUILD/ex.lua <<'L'
-- the fewest slips, by trying: all words one slip away, then all words one slip from those
local seen, edge, n = { ca = true }, { "ca" }, 0
while not seen.abc do
  local far = {}
  local function reach(w) if not seen[w] and #w < 6 then seen[w] = true; far[#far + 1] = w end end
  for _, w in ipairs(edge) do
    for i = 0, #w do
      local a, b = w:sub(1, i), w:sub(i + 1)
      reach(a .. b:sub(2)); reach(a .. b:sub(2, 2) .. b:sub(1, 1) .. b:sub(3))
      for c in ("abc"):gmatch(".") do reach(a .. c .. b); if b ~= "" then reach(a .. c .. b:sub(2)) end end
    end
  end
  edge, n = far, n + 1
end
print(n)
L
[ "$(grep -v '^#' "$1" | tr -s ' \n' '  ' | sed 's/ *$//')" = "$($BUILD/ex) $(texlua $BUILD/ex.lua)" ]
==== answer
3 2
==== wrong
2 2
==== skeleton
# two numbers
