# book.mk -- what the programs print, the figures, the three volumes

# ---- numbers of the prose, data of the figures, checkpoint boxes; build/rules.mk says which program prints which
.PHONY: values book laboratory figures html spreads lint letters
values: $(VALUES) ## the numbers that the prose quotes, printed by the programs
PRINTS  := $(wildcard models/*/* models/*.grammar)
the_program = $(patsubst build/sums/%,build/bin/%,$(filter build/sums/%,$^))
$(filter-out build/values/ledger.val,$(VALUES)): $(wildcard figures/data/*.csv) $(PRINTS)
	@mkdir -p $(@D)
	$(the_program) values > $@
# the ledger judges what all the others print; a row that does not come out as it says stops the build
JUDGED  := build/values/ledger.val build/data/ledger.verdicts.csv build/claims.tsv
build/judge: tools/judge.c $(BUILD)/libprogram.a $(BUILD)/libmodules.a
	$(CC) $(CFLAGS) $^ -o $@ $(LIBS) $(HTTP) $(CURL)
$(JUDGED): build/judge $(filter-out build/values/ledger.val,$(VALUES)) $(wildcard ledger/*.tsv)
	@mkdir -p $(@D)
	@build/judge $(if $(filter %.val,$@),values,$(if $(filter %.csv,$@),verdicts,judged)) > $@.new
	$(call if_changed,$@)
# the command that compiles a chapter's program by hand stands under its output
build/alone/%.txt: tools/ccline.sh tools/needs.sh book.list build/rules.mk
	@mkdir -p $(@D)
	@tools/ccline.sh $* > $@.new
	$(call if_changed,$@)
build/data/modules.csv: tools/edges.lua tools/book.lua book.list $(STAMPS)
	@mkdir -p $(@D)
	@texlua tools/edges.lua csv > $@.new
	$(call if_changed,$@)
# what the preface shows of the command
build/out/trace.txt: build/incipit $(wildcard models/pocket/*)
	@mkdir -p $(@D)
	@(echo '$$ build/incipit trace "The cat sat" -n 4 --top 2'; build/incipit trace "The cat sat" -n 4 --top 2) > $@.new
	$(call if_changed,$@)
build/out/%.txt: build/sums/% $(PRINTS)
	@mkdir -p $(@D)
	@(echo '$$ build/bin/$*'; build/bin/$*) > $@
$(filter-out $(JUDGED),$(DATA)): $(PRINTS)
	@mkdir -p $(@D)
	$(the_program) $(word 2,$(subst ., ,$(notdir $@))) > $@

# ---- weave: cweave for the text, ctwill only for the table of definitions (.aux)
SOURCES  := Makefile $(wildcard mk/*) book.list book.tex workshop.tex laboratory.tex chapter.tex figures.tex $(sort $(WEBS) \
  $(wildcard program/* chapters/*.tex workshop/*.tex laboratory/*.tex macros/* figures/*.tex figures/data/*.csv tools/*.*))
build/woven/%.tex: chapters/types.w tools/fixutf8.lua tools/weave.sh
	@mkdir -p $(@D)
	@tools/weave.sh $(filter-out chapters/types.w,$(filter %.w,$^)) $*
# each volume has an index of subjects (.cws) and one of names (.cwi); the subjects of the book are looked up in the workshop, too
WOVEN    := $(WOVEN_chapters) $(WOVEN_workshop) $(WOVEN_laboratory)
build/incipit.cwi: INDEXED = $(NUMBERED_chapters) -- $(NUMBERED_workshop)
build/workshop.cwi: INDEXED = $(NUMBERED_workshop) --
build/laboratory.cwi: INDEXED = $(NUMBERED_laboratory) --
build/%.cwi: $(WOVEN) tools/cwindex.lua tools/scope.lua tools/see.lua chapters/see.tsv
	@texlua tools/cwindex.lua build/$*.cws $@ $(INDEXED)
build/labels.tex: $(WOVEN) tools/labels.lua
	@texlua tools/labels.lua $(NUMBERED) > $@
build/book.cwm: $(WOVEN) tools/cwmargins.lua tools/scope.lua
	@texlua tools/cwmargins.lua $@ $(NUMBERED)
build/buildid.tex: $(SOURCES)
	@mkdir -p $(@D)
	@printf '\\def\\buildid{%s}\n' "$$(cat $(SOURCES) | sha256sum | cut -c1-16)" > $@
build/values.tex: $(VALUES)
	@printf '\\incipitvalues{%s}\n' $^ > $@
build/order.tex: book.list
	@mkdir -p $(@D)
	@awk '!/^#/ && NF && $$1 != "unwoven" { print $$1, $$2, $$4 }' book.list | sort -k1,1 -k2,2n | \
	  awk '{ printf "\\bookfile{%s}{%s}{%s}\n", $$1, $$2, $$3 }' > $@

# the table of families, from the reader's own and from the tests
build/families.tex: tools/families.lua tangled/families/families.c unwoven/families/rows.inc $(wildcard tests/checks/*.sh tests/golden/*/config.json tests/golden/families/*/config.json)
	@mkdir -p $(@D)
	@texlua tools/families.lua tex > $@.new && mv $@.new $@

# ---- all figures in one run, one a page; only when a figure or its data changed
latex    := TEXINPUTS=macros:.: lualatex -interaction=batchmode -halt-on-error
FIGURES  := $(patsubst figures/%.tex,%,$(sort $(wildcard figures/*.tex)))
figures: build/figures.pdf
build/figures.pdf: figures.tex course/kills.tsv $(wildcard figures/*.tex figures/data/*.csv figures/data/*.png) $(DATA) build/data/modules.csv build/values.tex \
    macros/incipitfig.sty macros/incipit.lua macros/incipit.sty
	@printf '\\figurepage{%s}\n' $(FIGURES) > build/figures.list
	$(latex) -output-directory=build figures.tex >/dev/null || { grep -A3 '^!' build/figures.log; exit 1; }
	@! grep -E 'Missing character' build/figures.log

letters: build/claims.tsv $(VALUES) ## the letters of chapter 16, as files that could be sent
	@texlua tools/letters.lua build/letters

# ---- typeset: three volumes of one set of webs; what a reader would see as a fault stops the build
PRINTED  := $(VALUES) build/claims.tsv $(DATA) $(OUTPUTS) build/out/trace.txt $(CHECKPOINTS:%=build/alone/%.txt) build/figures.pdf
SET       = $(sort $(wildcard macros/*)) build/claims.tsv build/book.cwm build/buildid.tex build/order.tex build/labels.tex build/values.tex build/families.tex
book: lint build/incipit.pdf build/workshop.pdf ## build/incipit.pdf and build/workshop.pdf
laboratory: lint build/laboratory.pdf build/laboratory/index.html ## the experiments, as build/laboratory.pdf and as pages for a browser
build/incipit.pdf: TEXT = book.tex
build/incipit.pdf: book.tex $(wildcard chapters/*.tex) $(WOVEN_chapters)
build/workshop.pdf: TEXT = workshop.tex
build/workshop.pdf: workshop.tex $(wildcard workshop/*.tex) $(WOVEN_workshop)
build/laboratory.pdf: TEXT = laboratory.tex
build/laboratory.pdf: laboratory.tex $(wildcard laboratory/*.tex) $(WOVEN_laboratory) build/labs/guide-kills.tex
build/incipit.pdf build/workshop.pdf build/laboratory.pdf: build/%.pdf: build/%.cwi $(SET) $(PRINTED) $(wildcard models/*.grammar)
	TEXINPUTS=macros:.: latexmk -norc -lualatex -silent -jobname=$* -interaction=nonstopmode -halt-on-error -outdir=build $(TEXT) \
	  >build/$*.out 2>&1 || { grep -A4 '^!' build/$*.log; rm -f build/$*.aux build/$*.out build/$*.toc $@; exit 1; }
	@texlua tools/logcheck.lua build/$*.log build/woven || { mv $@ build/$*-faulty.pdf; exit 1; }
	@texlua tools/labels.lua check build/$*.aux < build/labels.tex
# the laboratory for a browser: the same webs, numbers, claims and pictures
build/laboratory/index.html: tools/html.lua tools/html.css tools/html.js tools/book.lua book.list macros/incipit.lua laboratory/front.tex $(WEBS) \
    build/labels.tex build/book.cwm build/values.tex build/claims.tsv build/figures.pdf $(DATA)
	@texlua tools/html.lua build/laboratory
html: build/laboratory/index.html ## the pages of the laboratory alone, in seconds
# one web alone, in seconds and with the numbers and figures of the last build: as chapter-03, or sheet-W3 and sheet-L3; set twice the
# first time, since the notes of the margin have their places from the run before
chapter-%:
	@$(MAKE) --no-print-directory sheet-$$(echo $* | sed 's/^0*\(.\)/\1/')
sheet-%: $(SET)
	@[ -n "$(MODULE)" ] || { echo "book.list has no web $*"; exit 1; }; \
	for pass in $$([ -f build/sheet-$*.aux ] || echo first) second; do \
	$(latex) -output-directory=build -jobname=sheet-$* "\\def\\onlymodule{$(MODULE)}\\input{chapter}" > /dev/null || \
	  { grep -A3 '^!' build/sheet-$*.log; exit 1; }; done; \
	echo build/sheet-$*.pdf
spreads: build/incipit.pdf
	tools/spreads.sh build/incipit.pdf build/spreads
laboratory-%: checkpoints ## as laboratory-03: every number that the laboratory of a chapter prints
	@build/bin/laboratory/$$(awk -v n=$* '$$1 == "chapters" && $$2 == n + 0 { print $$4 }' book.list) values
lint: build/values.tex ## digits in prose, docstrings, flow, lengths of demonstrations, includes
	@texlua tools/digits.lua $(WEBS)
	@texlua tools/docs.lua $(sort $(wildcard tangled/*/*.h unwoven/*/*.h program/*.h))
	@texlua tools/flow.lua $(sort $(wildcard tangled/*/*.[ch] tangled/*/*.inc unwoven/*/*.[ch] unwoven/*/*.inc program/*.[ch]))
	@texlua tools/lengths.lua 150 $(CHECKPOINTS:%=tangled/checkpoints/%.c)
	@texlua tools/edges.lua
	@for n in $$(sed -n 's/^ *\(\#define \)*\([A-Z0-9_]*\)\( =\)* [0-9][0-9]*,*\( .*\)*$$/\2/p' unwoven/ground/tuning.h); do \
	  grep -q "CHOICE($$n," bench/tune.c || { echo "bench/tune.c does not time $$n"; exit 1; }; done
