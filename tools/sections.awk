# sections.awk -- awk -f sections.awk book.list: for every label of a section its printed number and the title above it, LABEL TAB NUMBER
# TAB TITLE, read off the webs, so that incipit verify can name a place of the book as the book does. A section of CWEB begins with
# @ and a blank (or * and a title that ends at its point); their numbers are those of build/labels.tex.
/^#/ || NF == 0 { next }
{
  web = $1 "/" $3 ".w"; chapter = ($1 == "chapters" ? "" : $1 == "workshop" ? "W" : "L") $2
  number = 0; title = ""
  while ((getline line < web) > 0) {
    if (line ~ /^@([ \t*]|$)/) {
      number++
      if (line ~ /^@\*/) {
        title = line
        sub(/^@\*(\*|[0-9])?[ \t]*/, "", title); sub(/[ \t]*\\label\{.*/, "", title); sub(/\.([ \t].*)?$/, "", title)
        gsub(/[|$]/, "", title); gsub(/\\(emph|texttt|\.)?\{/, "", title); gsub(/[{}]/, "", title); gsub(/~/, " ", title); gsub(/\\/, "", title); gsub(/---/, "-", title)
      }
    }
    rest = line
    while (number > 0 && match(rest, /\\label\{[^{}]*\}/)) {
      print substr(rest, RSTART + 7, RLENGTH - 8) "\t" chapter "." number "\t" title
      rest = substr(rest, RSTART + RLENGTH)
    }
  }
  close(web)
}
