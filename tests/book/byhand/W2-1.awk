# a header's length, two tensors, and where their bytes are
function same(name, printed, computed) { if (printed + 0 != computed) { print name " " printed ", computed " computed; wrong = 1 } }
function hex(s) { return 16 * (index("0123456789abcdef", substr(s, 1, 1)) - 1) + index("0123456789abcdef", substr(s, 2, 1)) - 1 }
{ all = all $0 " " }
/^a & / { split($0, a, / *& */) }
/^b & / { split($0, b, / *& */) }
END {
  s = substr(all, index(all, "lowest byte first: ") + 19); first = hex(substr(s, 1, 2)); sub(/.*in decimal /, "", s); n = s + 0; same("length", n, first)
  s = substr(all, index(all, "The header is the next ") + 23); same("header", s + 0, n)
  s = substr(all, index(all, "begin at byte ") + 14); same("eight", s + 0, 8); sub(/^8\+/, "", s); same("n", s + 0, n); sub(/^[0-9]+=/, "", s); data = s + 0; same("data", data, 8 + n)
  gsub(/[^0-9,]/, "", a[2]); a[2] = substr(a[2], 3); sub(/^,/, "", a[2]); split(a[2], shape, ","); size = shape[1] * shape[2] * 2
  gsub(/[^0-9,]/, "", b[2]); b[2] = substr(b[2], 3); sub(/^,/, "", b[2]); four = b[2] * 4
  same("a from", a[3], 0); same("a to", a[4], size); same("b from", b[3], size); same("b to", b[4], size + four)
  s = substr(all, index(all, "2 bytes take ") + 13); same("thirty", s + 0, size); s = substr(all, index(all, "4 bytes take ") + 13); same("four", s + 0, four)
  s = substr(all, index(all, "take 16, and ") + 13); same("thirty", s + 0, size); sub(/^[0-9]+\+/, "", s); same("sixteen", s + 0, four); sub(/^[0-9]+=/, "", s); same("sum", s + 0, size + four)
  s = substr(all, index(all, "file must therefore have ") + 25); same("data", s + 0, data); sub(/^[0-9]+\+/, "", s); same("all", s + 0, size + four); sub(/^[0-9]+=/, "", s); same("file", s + 0, data + size + four)
  s = substr(all, index(all, "b begins at byte ") + 17); same("data", s + 0, data); sub(/^[0-9]+\+/, "", s); same("thirty", s + 0, size); sub(/^[0-9]+=/, "", s); same("place", s + 0, data + size); same("odd", (s % 4 != 0), 1)
  exit wrong
}
