# Incipit.  make help lists what can be made.
CHAPTERS := $(filter $(patsubst chapters/%.w,%,$(wildcard chapters/*.w)),ground kernels safetensors families lookups tokens tokenizer sentencepiece tokenizer-json templates model loop constraints cache phases accounts sampling stopping search corpus packing gradients training evaluation json command measures chat probe heads hostile)
CC       ?= cc
AR       ?= ar
TANGLED  ?= tangled
OPT      ?= -O2 -g
WARN     := -Wall -Wextra -Wpedantic -Wconversion -Wshadow
CFLAGS   := -std=c11 $(OPT) -ffp-contract=off $(WARN) '-ffile-prefix-map=$(CURDIR)=.' -I$(TANGLED) $(EXTRA_CFLAGS)
LIBS      = $(shell pkg-config --libs jansson libpcre2-8 libutf8proc libedit 2>/dev/null || echo -ljansson -lpcre2-8 -lutf8proc -ledit) -pthread -lm
SHARED   ?= ../shared
PREFIX   ?= /usr/local
BUILD    ?= build
export SOURCE_DATE_EPOCH ?= 1767225600
export FORCE_SOURCE_DATE = 1
export LC_ALL = C.UTF-8
export max_print_line = 10000
export TEXMFVAR = $(CURDIR)/build/texmf
export TEXMFHOME = $(CURDIR)/build/texmf
export SHARED

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all help tangle values book figures spreads check checkpoints clean lint dist sanitize
all: checkpoints book

help: ## this list
	@grep -hE '^[a-zA-Z_-]+(-[%N]*)?:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | awk -F'\t' '{printf "  %-18s %s\n", $$1, $$2}'
	@echo '  checkpoint-NN      chapter NN from its own and earlier chapters alone, compiled and run'

# ---- tangle: chapters/X.w -> tangled/X/*.c, *.h, committed, readable
STAMPS := $(CHAPTERS:%=build/tangled/%.stamp)
tangle: $(STAMPS) ## bring tangled/ up to date (FORCE=1 after an odd commit)
build/tangled/%.stamp: chapters/%.w chapters/types.w tools/tangle.sh tools/plain.lua
	@mkdir -p $(@D)
	@tools/tangle.sh $< tangled/$*
	@touch $@
# which modules there are is known after tangling: make reads this file again when it has changed
build/modules.mk: $(STAMPS)
	@echo MODULES := $$(ls $(CHAPTERS:%=tangled/%/[a-z]*.c) 2>/dev/null) > $@
ifeq (,$(filter clean help,$(MAKECMDGOALS)))
include build/modules.mk
endif

# ---- the library, and one program a chapter from its own and earlier chapters
OBJECTS := $(MODULES:tangled/%.c=$(BUILD)/obj/%.o)
$(BUILD)/obj/%.o: $(TANGLED)/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@
-include $(wildcard $(BUILD)/obj/*/*.d $(BUILD)/tally/*/*.d $(BUILD)/tests/*.d)
$(BUILD)/libincipit.a: $(OBJECTS)
	rm -f $@; $(AR) rcsD $@ $^

define program
SEEN += $(1)
$(BUILD)/bin/$(1): $(BUILD)/obj/$(1)/$(1).o $(filter $(foreach c,$(SEEN) $(1),$(BUILD)/obj/$(c)/%),$(OBJECTS))
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $$^ -o $$@ $$(LIBS)
endef
SEEN :=
$(foreach c,$(CHAPTERS),$(eval $(call program,$(c))))
checkpoints: $(CHAPTERS:%=$(BUILD)/bin/%) ## every chapter's program

# ---- what the programs print: numbers of the prose, data of the figures, checkpoint boxes
VALUES  := $(CHAPTERS:%=build/values/%.val)
OUTPUTS := $(CHAPTERS:%=build/out/%.txt)
DATA    := $(sort $(shell grep -oh 'build/data/[A-Za-z0-9._-]*\.csv' figures/*.tex 2>/dev/null))
values: $(VALUES) ## the numbers that the prose quotes, printed by the programs
build/values/%.val: build/bin/% $(wildcard figures/data/*.csv models/*/*)
	@mkdir -p $(@D)
	$< values > $@
build/out/%.txt: build/bin/% $(wildcard models/*/*)
	@mkdir -p $(@D)
	@(echo '$$ $<'; $<) > $@
define data
$(1): $(wildcard models/*/*) build/bin/$(firstword $(subst ., ,$(notdir $(1))))
	@mkdir -p $$(@D)
	build/bin/$(firstword $(subst ., ,$(notdir $(1)))) $(word 2,$(subst ., ,$(notdir $(1)))) > $$@
endef
$(foreach d,$(DATA),$(eval $(call data,$(d))))

# ---- weave: cweave for the text, ctwill only for the table of definitions (.aux)
LETTERS := A1=A A2=B A3=C A4=D A5=E A6=F A7=G A8=H A9=I A10=J A11=K A12=L A13=M A14=N A15=O A16=P A17=Q A18=R A19=S A20=T A21=U
chapter_number = $(or $(patsubst $(firstword $(subst -, ,$(1)))=%,%,$(filter $(firstword $(subst -, ,$(1)))=%,$(LETTERS))),$(patsubst 0%,%,$(firstword $(subst -, ,$(1)))))
NUMBERED := $(foreach c,$(CHAPTERS),$(call chapter_number,$(c))=build/woven/$(c))
WOVEN    := $(CHAPTERS:%=build/woven/%.tex)
SOURCES  := Makefile book.tex figures.tex $(sort $(wildcard chapters/*.w chapters/*.tex macros/* figures/*.tex figures/data/*.csv tools/*.* tools/digits/*))
build/woven/%.tex: chapters/%.w chapters/types.w tools/fixutf8.lua tools/weave.sh
	@mkdir -p $(@D)
	@tools/weave.sh $<
build/book.cwi: $(WOVEN) tools/cwindex.lua
	@texlua tools/cwindex.lua build/book.cwi build/book.cwn $(NUMBERED)
build/book.cwm: $(WOVEN) tools/cwmargins.lua
	@texlua tools/cwmargins.lua $@ $(NUMBERED)
build/buildid.tex: $(SOURCES)
	@mkdir -p $(@D)
	@printf '\\def\\buildid{%s}\n' "$$(cat $(SOURCES) | sha256sum | cut -c1-16)" > $@
build/values.tex: $(VALUES)
	@printf '\\incipitvalues{%s}\n' $^ > $@
	@printf '$(foreach c,$(CHAPTERS),\\cwebchapternumber{$(c)}{$(call chapter_number,$(c))})\n' >> $@

# ---- all figures in one run, one a page; only when a figure or its data changed
FIGURES  := $(patsubst figures/%.tex,%,$(sort $(wildcard figures/*.tex)))
figures: build/figures.pdf
build/figures.pdf: figures.tex $(wildcard figures/*.tex figures/data/*.csv) $(DATA) build/values.tex \
    macros/incipitfig.sty macros/incipit.lua macros/incipit.sty
	@printf '\\figurepage{%s}\n' $(FIGURES) > build/figures.list
	TEXINPUTS=macros:.: lualatex -interaction=batchmode -halt-on-error -output-directory=build figures.tex >/dev/null || { grep -A3 '^!' build/figures.log; exit 1; }
	@! grep -E 'Missing character' build/figures.log

# ---- typeset; any of these words in the log stops the build
BAD := Missing character|undefined|UNDEFINED|multiply defined|Overfull|destination with the same
book: lint build/incipit.pdf ## build/incipit.pdf
	@texlua tools/logcheck.lua build/incipit.log build/woven
build/incipit.pdf: $(SOURCES) build/book.cwi build/book.cwm $(VALUES) $(DATA) $(OUTPUTS) build/buildid.tex build/figures.pdf
	TEXINPUTS=macros:.: latexmk -norc -lualatex -silent -jobname=incipit -interaction=nonstopmode -halt-on-error -outdir=build book.tex >build/latexmk.out 2>&1 || { grep -A4 '^!' build/incipit.log; rm -f build/incipit.aux build/incipit.out build/incipit.toc; exit 1; }
spreads: build/incipit.pdf
	tools/spreads.sh build/incipit.pdf build/spreads
lint: build/values.tex ## digits in prose, docstrings, sections
	@texlua tools/digits.lua 'cat tools/digits/*.tsv' $(CHAPTERS:%=chapters/%.w)
	@texlua tools/docs.lua $(sort $(wildcard tangled/*/*.h))

# ---- tests
SUITES := $(sort $(patsubst tests/%.c,%,$(wildcard tests/check_*.c)))
TESTED := $(SUITES:%=$(BUILD)/tests/%) $(BUILD)/incipit $(BUILD)/limit
check: $(TESTED) $(CHAPTERS:%=$(BUILD)/bin/%) $(if $(filter build,$(BUILD)),$(OUTPUTS) $(VALUES)) ## every test
	@BUILD=$(BUILD) CHAPTERS='$(CHAPTERS)' CC='$(CC)' tests/run.sh $(SUITES)
check-fast: $(TESTED) $(BUILD)/bin/stopping ## all suites and what is cheap beside them: two minutes
	@FAST=1 BUILD=$(BUILD) CC='$(CC)' tests/run.sh $(SUITES)
# the program of chapter 8 is what its suite interrupts
check-%: $(BUILD)/tests/check_% $(BUILD)/incipit $(BUILD)/limit ## one suite, as check-tokens, with what it says
	@BUILD=$(BUILD) CK_DEFAULT_TIMEOUT=300 $(BUILD)/limit 3600 $<
check-stopping: $(BUILD)/bin/stopping
.PHONY: check-fast
$(BUILD)/limit: tests/limit.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 $(WARN) $< -o $@
$(BUILD)/tests/%: tests/%.c tests/suite.h tests/tokens.h $(BUILD)/libincipit.a $(BUILD)/tests/oracle.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Wno-conversion -MMD -MP -MF $@.d $< $(filter $(BUILD)/tally/%,$^) $(BUILD)/tests/oracle.o $(BUILD)/libincipit.a -o $@ $$(pkg-config --cflags --libs check) $(LIBS)
# the oracle sees no header of ours; chapter 2 once more, counting every multiply-add one by one, dividing even the smallest work
$(BUILD)/tests/oracle.o: tests/oracle.c tests/oracle.h
	@mkdir -p $(@D)
	$(CC) $(filter-out -Itangled -Wconversion,$(CFLAGS)) -c $< -o $@
TALLIED := $(patsubst tangled/%.c,$(BUILD)/tally/%.o,$(filter tangled/model/% tangled/families/model.c tangled/kernels/%,$(MODULES)))
$(BUILD)/tally/%.o: tangled/%.c tests/tally.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -include tests/tally.h -MMD -MP -c $< -o $@
$(BUILD)/tests/check_tally: $(TALLIED) tests/check_kernels.c
checkpoint-%: tangle
	@tests/alone.sh $* show

sanitize: export CK_TIMEOUT_MULTIPLIER := 6
sanitize: ## the tests under AddressSanitizer and UBSan, then ThreadSanitizer
	$(MAKE) BUILD=build/asan OPT='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all' check
	$(MAKE) BUILD=build/tsan OPT='-O1 -g -fsanitize=thread' check

clean: ## removes build/
	rm -rf build

# ---- proofs
mutants: $(TESTED) $(BUILD)/bin/stopping ## plants faults, one at a time; each must be found
	@CC='$(CC)' BUILD=$(BUILD) LIBS='$(LIBS)' texlua tests/mutants.lua $(sort $(wildcard tests/mutants/*.txt))
reproduce: ## two clones in different folders give the same bytes
	@tests/reproduce.sh
.PHONY: reproduce
byhand: ## the boxes Worked by hand, recomputed from the numbers in them
	@STRICT=1 tests/byhand.sh
coverage: ## every clause of the plan with its witness (after make check)
	@texlua tests/coverage.lua coverage.tsv
dist: ## build/incipit-ID.tar.gz, the same bytes everywhere
	@mkdir -p build
	@id=$$(cat $(SOURCES) | sha256sum | cut -c1-16); \
	git ls-files -z | LC_ALL=C sort -z | tar --null -T - --transform "s|^|incipit-$$id/|" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime=@$(SOURCE_DATE_EPOCH) --format=gnu -cf - | gzip -9n > build/incipit-$$id.tar.gz; \
	sha256sum build/incipit-$$id.tar.gz
.PHONY: mutants coverage dist byhand
exercises: checkpoints $(BUILD)/libincipit.a $(BUILD)/limit ## model answers pass, wrong ones and skeletons fail
	@CC='$(CC)' sh tests/exercises.sh
exercise-%: checkpoints $(BUILD)/libincipit.a $(BUILD)/limit
	@CC='$(CC)' sh tests/exercises.sh $* $(ANSWER)
debug: tangle ## everything at -O0 in build/debug, with the lines of the chapters: gdb shows the .w
	@for c in $(CHAPTERS); do LINES_KEPT=1 tools/tangle.sh chapters/$$c.w build/debug/tangled/$$c; done
	$(MAKE) BUILD=build/debug TANGLED=build/debug/tangled OPT='-O0 -g3' checkpoints
.PHONY: exercises debug
values-live: values $(BUILD)/libincipit.a $(BUILD)/limit ## every key notices a wrong engine, or says why not
	@CC='$(CC)' tests/live.sh $(CHAPTERS)
.PHONY: values-live

# ---- the command, installed or not
$(BUILD)/incipit: $(TANGLED)/checkpoints/probe.c $(BUILD)/libincipit.a build/buildid.tex
	$(CC) $(CFLAGS) -DINCIPIT_BUILD="\"$$(sed 's/.*{\(.*\)}.*/\1/' build/buildid.tex)\"" $< $(BUILD)/libincipit.a -o $@ $(LIBS)
checkpoints: $(BUILD)/incipit
all check: $(BUILD)/incipit
incipit: $(BUILD)/incipit ## the command, build/incipit
install: $(BUILD)/incipit ## command, library, headers, pkg-config, man page, completion, models (PREFIX, DESTDIR)
	@BUILD='$(BUILD)' PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' CHAPTERS='$(CHAPTERS)' sh tools/install.sh
fuzz: $(BUILD)/libincipit.a ## campaigns of libFuzzer: ten minutes (IDLE) without a new edge, twenty (MOST) at most for each TARGET; KEEP=1 keeps corpus and log
	@BUILD='$(BUILD)' LIBS='$(LIBS)' TARGET='$(TARGET)' tests/fuzz.sh campaign $(or $(MOST),1200) $(or $(IDLE),600)
fuzz-proof: $(BUILD)/libincipit.a ## a fault planted in each parser is found within a minute
	@BUILD='$(BUILD)' LIBS='$(LIBS)' tests/fuzz.sh proof
.PHONY: incipit install fuzz fuzz-proof
include tools/again.mk
