# man3.awk -- the manual page incipit(3) from incipit.h: what stands above each declaration is its text, a comment <in brackets> a heading.
BEGIN {
  print ".TH INCIPIT 3 2026-01-01 \"incipit\" \"Library functions\""
  print ".SH NAME\nincipit \\- what follows a prompt, one token at a time"
  print ".SH SYNOPSIS\n.nf\n#include <incipit.h>\n.sp\ncc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs incipit)\n.fi"
}
function quoted(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); sub(/^[.']/, "\\\\\\&&", s); return s }
function text_of(c) { gsub(/\/\*|\*\//, "", c); gsub(/[ \t]+/, " ", c); sub(/^ /, "", c); sub(/ $/, "", c); return quoted(c) }
{ l = $0; sub(/^  /, "", l) }
!begun && l !~ /<What/ { next }
/^#/ { next }
l ~ /^\/\* </ { begun = 1; sub(/^\/\* </, "", l); sub(/> \*\/$/, "", l); print ".SH " toupper(quoted(l)); next }
l ~ /^$/ { next }
code == "" && (comment != "" || l ~ /^\/\*/) && !closed { comment = comment " " l; if (l ~ /\*\/$/) closed = 1; next }
{
  sub(/^INCIPIT_API /, "", l)
  code = code quoted(l) "\n"
  n = gsub(/{/, "{", l); depth += n - gsub(/}/, "}", l)
  if (depth == 0 && l ~ /;( *\/\*.*\*\/)?$/) {
    printf ".PP\n.nf\n.B\n%s.fi\n.RS 4\n%s\n.RE\n", code, text_of(comment)
    code = comment = ""; closed = 0
  }
}
END {
  print ".SH EXAMPLES\nPrograms that are complete are installed in share/doc/incipit/examples.\n.SH SEE ALSO\n.BR incipit (1)"
}
