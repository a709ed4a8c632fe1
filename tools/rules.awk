# rules.awk -- awk -f tools/rules.awk book.list > build/rules.mk: from the one table, what the Makefile cannot say with a pattern: lists of
# sources and programs, which objects each program is made of, which program prints which numbers and data, and what is woven and
# typeset from which web. All recipes are in the Makefile and in mk/. It is run after tangling, as the table does not know the files.
function ls(pattern) { return lines("ls " pattern " 2>/dev/null") }
function exists(f,   line, is) { is = (getline line < f) >= 0; close(f); return is }
function lines(command,   l, list) {
  list = ""
  while ((command | getline l) > 0) list = list " " l
  close(command)
  return substr(list, 2)
}
# the objects of a list of sources, wherever these are
function objects(list,   i, n, f, o) {
  n = split(list, f, " "); o = ""
  for (i = 1; i <= n; i++) { sub(/^(build\/)?[a-z]+\//, "", f[i]); sub(/\.c$/, ".o", f[i]); o = o " $(BUILD)/obj/" f[i] }
  return substr(o, 2)
}
# what a program is made of: its module, what that needs, and what those need; in the order of the table
function take(m,   list, i, k) {
  if (m == "" || m == "-" || m in taken) return
  taken[m] = 1; k = split(needs[m], list, ",")
  for (i = 1; i <= k; i++) take(list[i])
}
function made_of(m,   i, k, list, out) {
  split("", taken); take(m); k = split(besides[m], list, ",")
  for (i = 1; i <= k; i++) take(list[i])
  out = ""
  for (i = 1; i <= n; i++) if (order[i] in taken && sources[order[i]] != "") out = out " " sources[order[i]]
  return substr(out, 2)
}
function put(name, list) { print name " := " list }
/^#/ || NF == 0 { next }
{
  m = $4; order[++n] = m; web[m] = $1 "/" $3 ".w"; number[m] = ($1 == "chapters" ? "" : $1 == "workshop" ? "W" : "L") $2; folder[m] = $1
  split($5, part, ";"); needs[m] = part[1]; besides[m] = part[2]
  if ($1 != "laboratory") sources[m] = ls("tangled/" m "/*.c unwoven/" m "/*.c")
}
END {
  print "# made by tools/rules.awk from book.list and what is in tangled/, unwoven/ and build/tangled/"
  for (i = 1; i <= n; i++) all = all " " sources[order[i]]
  fixture = ls("tangled/model/toy.c unwoven/model/toy.c"); kit = ls("build/tangled/laboratory/kit*.c")
  put("SOURCES_C", all)
  put("FIXTURE", objects(fixture)); put("KIT", objects(kit))
  k = split(all, f, " ")
  for (i = 1; i <= k; i++) if (f[i] != fixture) engine = engine " " f[i]
  put("OBJECTS", objects(engine) "$(if $(CUDA), $(BUILD)/obj/cuda/kernels.o)")
  library = " " made_of("library") " "; sub(" " fixture " ", " ", library)
  put("LIBRARY_SOURCES", library); put("LIBRARY_OBJECTS", objects(library))
  # the programs of the chapters, and those of the laboratory where there is one
  for (i = 1; i <= n; i++) {
    m = order[i]; name = m; sub(/\//, "-", name)
    if (folder[m] == "laboratory") { if (m != "laboratory/kit" && exists("build/tangled/" m ".c")) { experiments = experiments " " m; print "$(BUILD)/bin/" m ": $(KIT) $(FIXTURE) " objects(made_of(m)) } }
    else if (exists("tangled/checkpoints/" name ".c")) { programs = programs " " name; print "$(BUILD)/bin/" name ": " objects(made_of(m)) }
  }
  put("CHECKPOINTS", programs); put("LABORATORY", experiments)
  # numbers and data come from the laboratory of a chapter or, where it has none, from its own program
  k = split(experiments " " programs, list, " ")
  for (i = 1; i <= k; i++) { name = list[i]; sub(/^laboratory\//, "", name); if (!(name in from)) { from[name] = list[i]; if (name != "ledger") values = values " build/values/" name ".val" } }
  put("VALUES", values " build/values/ledger.val")
  for (name in from) if (name != "ledger") print "build/values/" name ".val: build/sums/" from[name]
  k = split(lines("grep -oh 'build/data/[A-Za-z0-9._-]*\\.csv' figures/*.tex 2>/dev/null | sort -u"), list, " ")
  for (i = 1; i <= k; i++) {
    if (list[i] == "build/data/modules.csv") continue
    name = list[i]; sub(/^build\/data\//, "", name); sub(/\..*/, "", name)
    data = data " " list[i]
    if (name in from && list[i] != "build/data/ledger.verdicts.csv") print list[i] ": build/sums/" from[name]
  }
  put("DATA", data)
  k = split(programs, list, " ")
  for (i = 1; i <= k; i++) outputs = outputs " build/out/" list[i] ".txt"
  put("OUTPUTS", outputs " " lines("grep -oh 'build/out/laboratory/[a-z-]*\\.txt' chapters/*.w workshop/*.w laboratory/*.w | sort -u"))
  # what is woven, by volume: NUMBER=build/woven/MODULE for the tools that go by printed numbers
  for (i = 1; i <= n; i++) {
    m = order[i]
    print "build/woven/" m ".tex: " web[m]
    print "sheet-" number[m] ": MODULE := " m
    woven[folder[m]] = woven[folder[m]] " build/woven/" m ".tex"; shown[folder[m]] = shown[folder[m]] " " number[m] "=build/woven/" m
  }
  for (d in woven) { put("WOVEN_" d, woven[d]); put("NUMBERED_" d, shown[d]) }
  put("NUMBERED", lines("awk '!/^#/ && NF { print ($1 == \"chapters\" ? \"\" : $1 == \"workshop\" ? \"W\" : \"L\") $2 \"=build/woven/\" $4 }' book.list"))
  # the course: a lab is what course/NN-name.ch cuts out of a chapter
  k = split(ls("course/*.ch"), list, " ")
  for (i = 1; i <= k; i++) {
    name = list[i]; sub(/^course\//, "", name); sub(/\.ch$/, "", name); labs = labs " " name
    print "build/labs/" name ".tar.gz: " list[i] " " ls("course/" name "/*") " " lines("sed -n 's/.*change file for \\(chapters[^ ]*\\.w\\).*/\\1/p' " list[i])
  }
  put("LABS", labs)
}
