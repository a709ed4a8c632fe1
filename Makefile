# Incipit.  make help lists what can be made; book.list has one line for each web: folder, number, file, module, needs, title
BOOK     := $(shell awk '!/^\#/ && NF { print $$4 ":" $$1 "/" $$3 ".w:" $$2 }' book.list)
field     = $(word $(2),$(subst :, ,$(filter $(1):%,$(BOOK))))
MODULES  := $(foreach l,$(BOOK),$(firstword $(subst :, ,$(l))))
WEBS     := $(foreach m,$(MODULES),$(call field,$(m),2))
CC       ?= cc
AR       ?= ar
TANGLED  ?= tangled
OPT      ?= -O2 -g
WARN     := -Wall -Wextra -Wpedantic -Wconversion -Wshadow
CFLAGS   := -std=c11 $(OPT) -ffp-contract=off $(WARN) '-ffile-prefix-map=$(CURDIR)=.' -I$(TANGLED) -Iunwoven -Ibuild/tangled -Iprogram $(EXTRA_CFLAGS)
LIBS      = $(shell pkg-config --libs jansson libpcre2-8 libutf8proc libedit 2>/dev/null || echo -ljansson -lpcre2-8 -lutf8proc -ledit) -pthread -lm
SHARED   ?= ../shared
PREFIX   ?= /usr/local
BUILD    ?= build
# make CUDA=1: the kernels of chapter 14 for NVIDIA's devices as well, in a build of their own
ifneq (,$(CUDA))
BUILD    := build/cuda
NVCC     ?= $(firstword $(shell command -v nvcc) /usr/local/cuda/bin/nvcc)
CUDA_LIB ?= $(abspath $(dir $(NVCC))/../lib64)
CUDA_FLAGS := -std=c++17 -O3 -fmad=false -Werror all-warnings -Xptxas -warn-spills -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]
CFLAGS   += -DINCIPIT_CUDA
LIBS     += -L$(CUDA_LIB) -lcudart_static -lstdc++ -ldl -lrt
endif
export SOURCE_DATE_EPOCH ?= 1767225600
export FORCE_SOURCE_DATE = 1
export LC_ALL = C.UTF-8
export max_print_line = 10000
export TEXMFVAR = $(CURDIR)/build/texmf
export TEXMFHOME = $(CURDIR)/build/texmf
export SHARED

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all help tangle values book laboratory figures spreads check checkpoints clean lint dist sanitize
all: $(if $(CUDA),$(BUILD)/incipit,checkpoints book)

help: ## this list
	@grep -hE '^[a-zA-Z_-]+(-[%N]*)?:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | awk -F'\t' '{printf "  %-18s %s\n", $$1, $$2}'
	@echo '  checkpoint-NN      chapter NN from the modules that it needs alone, compiled and run'

# ---- tangle: the webs -> tangled/MODULE/*.c, *.h and tangled/checkpoints/MODULE.c, committed, readable; a web without code has none;
# unwoven/MODULE has the rest of a module, ordinary C; the experiments of the laboratory are made below build/
TOOLS    := tools/tangle.sh tools/expand.lua tools/ctokens.lua
PROSE    := $(shell grep -L '^@[c<]' $(WEBS))
CODED    := $(foreach m,$(MODULES),$(if $(filter $(PROSE),$(call field,$(m),2)),,$(m)))
STAMPS   := $(CODED:%=build/tangled/%.stamp)
tangle: $(STAMPS) ## bring tangled/ up to date
define tangled
build/tangled/$(1).stamp: $(call field,$(1),2) chapters/types.w $(TOOLS)
	@mkdir -p $$(@D)
	@tools/tangle.sh $$< $(1)
	@touch $$@
endef
$(foreach m,$(CODED),$(eval $(call tangled,$(m))))
# what would be made as it is keeps its date, and nothing is drawn, set or read again for it
if_changed = @if cmp -s $(1).new $(1); then rm $(1).new; else mv $(1).new $(1); fi
# which sources there are is known after tangling: make reads this file again when it has changed
build/sources.mk: $(STAMPS) book.list
	@{ echo SOURCES_C := $$(ls $(foreach d,tangled unwoven,$(patsubst %,$(d)/%/*.c,$(filter-out laboratory/%,$(MODULES)))) 2>/dev/null); \
	echo CHECKPOINTS := $$(cd tangled/checkpoints; ls *.c | sed 's/\.c$$//'); \
	echo LABORATORY := $$(for m in $(filter-out %/kit,$(filter laboratory/%,$(MODULES))); do [ ! -f build/tangled/$$m.c ] || echo $$m; done); } > $@.new
	$(call if_changed,$@)
	@for d in $(BUILD)/obj/*/*.d; do [ ! -f $$d ] || [ -f $$(sed -n '1s/^[^:]*: *\([^ ]*\).*/\1/p' $$d) ] || rm $$d; done # of a source that went elsewhere
ifeq (,$(filter clean help,$(MAKECMDGOALS)))
include build/sources.mk
endif

# ---- the command: program/ is written by hand, one flat folder; its objects are an archive for the tests, and no part of the library
PROGRAM := $(patsubst program/%.c,$(BUILD)/program/%.o,$(filter-out program/main.c,$(sort $(wildcard program/*.c))))
$(BUILD)/program/%.o: program/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/libprogram.a: $(PROGRAM)
	rm -f $@; $(AR) rcsD $@ $^

# ---- all modules in an archive for programs and tests of our own, and one program a chapter from its own and earlier chapters
# what the programs of the chapters and of the laboratory share is linked to them and is not in the library
object   = $(patsubst unwoven/%.c,$(BUILD)/obj/%.o,$(patsubst tangled/%.c,$(BUILD)/obj/%.o,$(1)))
FIXTURE := $(call object,$(filter %/model/toy.c,$(SOURCES_C)))
KIT     := $(patsubst build/tangled/%.c,$(BUILD)/obj/%.o,$(wildcard build/tangled/laboratory/kit*.c))
OBJECTS := $(filter-out $(FIXTURE),$(call object,$(SOURCES_C)))
ifneq (,$(CUDA))
OBJECTS += $(BUILD)/obj/cuda/kernels.o
$(BUILD)/obj/cuda/kernels.o: $(TANGLED)/cuda/kernels.cu $(wildcard $(TANGLED)/cuda/*.inc $(TANGLED)/cuda/*.h $(TANGLED)/functions/*)
	@mkdir -p $(@D)
	$(NVCC) $(CUDA_FLAGS) -I$(TANGLED) -c $< -o $@
endif
# they go into a shared library as well: position-independent, and what a program does not use can be left out of it
PIC     := -fPIC -fno-semantic-interposition -ffunction-sections -fdata-sections
define compiled
$(BUILD)/obj/%.o: $(1)/%.c
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $$(PIC) -MMD -MP -c $$< -o $$@
endef
$(foreach d,$(TANGLED) unwoven build/tangled,$(eval $(call compiled,$(d))))
-include $(wildcard $(BUILD)/obj/*/*.d $(BUILD)/program/*.d $(BUILD)/tally/*/*.d $(BUILD)/tests/*.d)
$(BUILD)/libmodules.a: $(OBJECTS)
	rm -f $@; $(AR) rcsD $@ $^

# a program is linked with what it uses of the library, and again when a module that it needs has changed;
# it runs again when its code has changed, not its comments
build/needs.mk: book.list tools/needs.sh
	@mkdir -p $(@D)
	@for m in $(sort $(MODULES) $(CHECKPOINTS)); do echo NEEDS_$$m := $$(tools/needs.sh $$m); done > $@
ifeq (,$(filter clean help,$(MAKECMDGOALS)))
include build/needs.mk
endif
define program
$(BUILD)/bin/$(1): $(BUILD)/obj/$(2).o $(filter $(addsuffix /%,$(addprefix $(BUILD)/obj/,$(NEEDS_$(1)))),$(OBJECTS) $(FIXTURE)) $(3) | $(BUILD)/libmodules.a
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $$< $$(filter $(FIXTURE) $(KIT) $(BUILD)/libprogram.a,$$^) $(BUILD)/libmodules.a -o $$@ $$(LIBS)
endef
$(foreach m,$(CHECKPOINTS),$(eval $(call program,$(m),checkpoints/$(m),)))
$(foreach m,$(LABORATORY),$(eval $(call program,$(m),$(m),$(KIT) $(FIXTURE))))
# the chapter about the command calls it as a test does
$(BUILD)/bin/command: $(BUILD)/libprogram.a
$(BUILD)/sums/%: $(BUILD)/bin/%
	@mkdir -p $(@D)
	@strip -o $@.bin $<; sha256sum < $@.bin > $@.new; rm $@.bin; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
checkpoints: $(patsubst %,$(BUILD)/bin/%,$(CHECKPOINTS) $(LABORATORY)) ## every chapter's program, and the experiments where there is CWEB

# ---- the library for others: the modules that incipit.h needs, of whose names only those of incipit.h can be seen from outside
LIBRARY ?= $(BUILD)/library
HEADER  := tangled/library/incipit.h
VERSION := $(shell sed -n 's/^\#define INCIPIT_VERSION "\(.*\)"/\1/p' $(HEADER))
ENGINE  := $(filter-out %/library/place.o,$(filter $(addsuffix /%,$(addprefix $(BUILD)/obj/,$(NEEDS_library))),$(OBJECTS))) $(LIBRARY)/place.o
ENGINE_LIBS = $(shell pkg-config --libs jansson libpcre2-8 libutf8proc 2>/dev/null || echo -ljansson -lpcre2-8 -lutf8proc) -pthread -lm
OBJCOPY ?= objcopy
# where the built-in model will be is known to one object, which is compiled again for another PREFIX
ifeq (,$(filter clean help,$(MAKECMDGOALS)))
$(shell mkdir -p $(LIBRARY); echo '$(PREFIX)' | cmp -s - $(LIBRARY)/prefix || echo '$(PREFIX)' > $(LIBRARY)/prefix)
endif
$(LIBRARY)/place.o: tangled/library/place.c $(LIBRARY)/prefix
	$(CC) $(CFLAGS) $(PIC) '-DINCIPIT_PREFIX="$(PREFIX)"' -c $< -o $@
$(LIBRARY)/keep.txt: $(HEADER)
	grep -v typedef $< | grep -o 'incipit_[a-z_]*(' | tr -d '(' | LC_ALL=C sort -u > $@
$(LIBRARY)/libincipit.a: $(ENGINE) $(LIBRARY)/keep.txt
	$(LD) -r $(ENGINE) -o $(LIBRARY)/incipit.o
	$(OBJCOPY) --keep-global-symbols=$(LIBRARY)/keep.txt $(LIBRARY)/incipit.o
	rm -f $@; $(AR) rcsD $@ $(LIBRARY)/incipit.o
$(LIBRARY)/libincipit.so: $(ENGINE) $(LIBRARY)/keep.txt
	{ echo '{ global:'; sed 's/$$/;/' $(LIBRARY)/keep.txt; echo 'local: *; };'; } > $(LIBRARY)/version.map
	$(CC) $(CFLAGS) -shared -Wl,-soname,libincipit.so.$(firstword $(subst ., ,$(VERSION))) -Wl,--version-script=$(LIBRARY)/version.map -Wl,--gc-sections -Wl,-z,defs $(ENGINE) -o $@ $(ENGINE_LIBS)
$(LIBRARY)/incipit.3: $(HEADER) tools/man3.awk
	awk -f tools/man3.awk $(HEADER) > $@
LIBRARIES := $(LIBRARY)/libincipit.a $(LIBRARY)/libincipit.so $(LIBRARY)/incipit.3
library: $(LIBRARIES) ## libincipit.a, libincipit.so and incipit(3), in build/library
.PHONY: library
# all of it as one file and one header
$(LIBRARY)/amalgamation/incipit.c: $(HEADER) tools/amalgamate.lua tools/ctokens.lua $(foreach d,tangled unwoven,$(filter $(addsuffix /%,$(addprefix $(d)/,$(NEEDS_library))),$(SOURCES_C))) LICENSE
	@mkdir -p $(@D)
	texlua tools/amalgamate.lua $(@D) $(foreach o,$(patsubst $(BUILD)/obj/%.o,%.c,$(filter $(BUILD)/obj/%,$(ENGINE))),$(filter %/$(o),$(SOURCES_C))) tangled/library/place.c
amalgamation: $(LIBRARY)/amalgamation/incipit.c ## the library as incipit.c and incipit.h, in build/library/amalgamation
.PHONY: amalgamation

# ---- what the programs print: numbers of the prose, data of the figures, checkpoint boxes
# numbers and data come from the laboratory of a chapter or, where it has none, from its own program
evidence = $(if $(filter laboratory/$(1),$(LABORATORY)),laboratory/$(1),$(1))
NAMED   := $(sort $(CHECKPOINTS) $(LABORATORY:laboratory/%=%))
VALUES  := $(NAMED:%=build/values/%.val)
OUTPUTS := $(CHECKPOINTS:%=build/out/%.txt) $(sort $(shell grep -oh 'build/out/laboratory/[a-z-]*\.txt' $(WEBS)))
DATA    := $(filter-out build/data/modules.csv,$(sort $(shell grep -oh 'build/data/[A-Za-z0-9._-]*\.csv' figures/*.tex 2>/dev/null)))
values: $(VALUES) ## the numbers that the prose quotes, printed by the programs
define values
build/values/$(1).val: build/sums/$(call evidence,$(1)) $(wildcard figures/data/*.csv models/*/* models/*.grammar)
	@mkdir -p $$(@D)
	build/bin/$(call evidence,$(1)) values > $$@
endef
$(foreach m,$(filter-out ledger,$(NAMED)),$(eval $(call values,$(m))))
# the ledger judges what all the others print; a row that does not come out as it says stops the build
JUDGED  := build/values/ledger.val build/data/ledger.verdicts.csv build/claims.tsv
build/judge: tools/judge.c $(BUILD)/libprogram.a $(BUILD)/libmodules.a
	$(CC) $(CFLAGS) $^ -o $@ $(LIBS)
$(JUDGED): build/judge $(filter-out build/values/ledger.val,$(VALUES)) $(wildcard ledger/*.tsv)
	@mkdir -p $(@D)
	@build/judge $(if $(filter %.val,$@),values,$(if $(filter %.csv,$@),verdicts,judged)) > $@.new
	$(call if_changed,$@)
# the command that compiles a chapter's program by hand stands under its output
build/alone/%.txt: tools/ccline.sh tools/needs.sh book.list build/sources.mk
	@mkdir -p $(@D)
	@tools/ccline.sh $* > $@.new
	$(call if_changed,$@)
build/data/modules.csv: tools/edges.lua tools/book.lua book.list $(STAMPS)
	@mkdir -p $(@D)
	@texlua tools/edges.lua csv > $@.new
	$(call if_changed,$@)
build/out/%.txt: build/sums/% $(wildcard models/*/* models/*.grammar)
	@mkdir -p $(@D)
	@(echo '$$ build/bin/$*'; build/bin/$*) > $@
define data
$(1): $(wildcard models/*/* models/*.grammar) build/sums/$(call evidence,$(firstword $(subst ., ,$(notdir $(1)))))
	@mkdir -p $$(@D)
	build/bin/$(call evidence,$(firstword $(subst ., ,$(notdir $(1))))) $(word 2,$(subst ., ,$(notdir $(1)))) > $$@
endef
$(foreach d,$(filter-out $(JUDGED),$(DATA)),$(eval $(call data,$(d))))

# ---- weave: cweave for the text, ctwill only for the table of definitions (.aux)
NUMBERED := $(shell awk '!/^\#/ && NF { print ($$1 == "chapters" ? "" : $$1 == "workshop" ? "W" : "L") $$2 "=build/woven/" $$4 }' book.list)
WOVEN    := $(MODULES:%=build/woven/%.tex)
SOURCES  := Makefile book.list book.tex workshop.tex laboratory.tex chapter.tex figures.tex $(sort $(WEBS) $(wildcard program/* chapters/*.tex workshop/*.tex laboratory/*.tex macros/* figures/*.tex figures/data/*.csv tools/*.* tools/digits/*))
define woven
build/woven/$(1).tex: $(call field,$(1),2) chapters/types.w tools/fixutf8.lua tools/weave.sh
	@mkdir -p $$(@D)
	@tools/weave.sh $$< $(1)
endef
$(foreach m,$(MODULES),$(eval $(call woven,$(m))))
# each volume has an index of subjects (.cws) and one of names (.cwi)
VOLUMES  := incipit workshop laboratory
folder_incipit := chapters
folder_workshop := workshop
folder_laboratory := laboratory
numbered  = $(shell awk '$$1 == "$(1)" { print ($$1 == "chapters" ? "" : $$1 == "workshop" ? "W" : "L") $$2 "=build/woven/" $$4 }' book.list)
# the subjects of the book are looked up in the workshop, too
build/%.cwi: $(WOVEN) tools/cwindex.lua tools/scope.lua tools/see.lua chapters/see.tsv
	@texlua tools/cwindex.lua build/$*.cws $@ $(call numbered,$(folder_$*)) -- $(if $(filter incipit,$*),$(call numbered,workshop))
# the same for incipit verify, which is installed without the tools that weave
build/sections.tsv: book.list $(WEBS) tools/sections.awk
	@mkdir -p $(@D)
	@awk -f tools/sections.awk book.list > $@
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
	@awk '!/^#/ && NF { print $$1, $$2, $$4 }' book.list | sort -k1,1 -k2,2n | awk '{ printf "\\bookfile{%s}{%s}{%s}\n", $$1, $$2, $$3 }' > $@

# ---- all figures in one run, one a page; only when a figure or its data changed
FIGURES  := $(patsubst figures/%.tex,%,$(sort $(wildcard figures/*.tex)))
figures: build/figures.pdf
build/figures.pdf: figures.tex course/kills.tsv $(wildcard figures/*.tex figures/data/*.csv) $(DATA) build/data/modules.csv build/values.tex \
    macros/incipitfig.sty macros/incipit.lua macros/incipit.sty
	@printf '\\figurepage{%s}\n' $(FIGURES) > build/figures.list
	TEXINPUTS=macros:.: lualatex -interaction=batchmode -halt-on-error -output-directory=build figures.tex >/dev/null || { grep -A3 '^!' build/figures.log; exit 1; }
	@! grep -E 'Missing character' build/figures.log

# ---- typeset: three volumes of one set of webs; what a reader would see as a fault stops the build
PRINTED  := $(VALUES) build/claims.tsv $(DATA) $(OUTPUTS) $(CHECKPOINTS:%=build/alone/%.txt) build/figures.pdf
SET       = $(sort $(wildcard macros/*)) build/claims.tsv build/book.cwm build/buildid.tex build/order.tex build/labels.tex build/values.tex
book: lint build/incipit.pdf build/workshop.pdf ## build/incipit.pdf and build/workshop.pdf
laboratory: lint build/laboratory.pdf build/laboratory/index.html ## build/laboratory.pdf, the experiments, and the same as pages with search, build/laboratory/index.html
define volume
build/$(1).pdf: $(2).tex $(wildcard $(folder_$(1))/*.tex models/*.grammar) $(foreach m,$(MODULES),$(if $(filter $(folder_$(1))/%,$(call field,$(m),2)),build/woven/$(m).tex)) build/$(1).cwi $$(SET) $(PRINTED)
	TEXINPUTS=macros:.: latexmk -norc -lualatex -silent -jobname=$(1) -interaction=nonstopmode -halt-on-error -outdir=build $(2).tex >build/$(1).out 2>&1 || { grep -A4 '^!' build/$(1).log; rm -f build/$(1).aux build/$(1).out build/$(1).toc $$@; exit 1; }
	@texlua tools/logcheck.lua build/$(1).log build/woven || { mv $$@ build/$(1)-faulty.pdf; exit 1; }
	@texlua tools/labels.lua check build/$(1).aux < build/labels.tex
endef
$(eval $(call volume,incipit,book))
$(eval $(call volume,workshop,workshop))
$(eval $(call volume,laboratory,laboratory))
# the laboratory for a browser: the same webs, numbers, claims and pictures
build/laboratory/index.html: tools/html.lua tools/html.css tools/html.js tools/book.lua book.list macros/incipit.lua laboratory/front.tex $(WEBS) \
    build/labels.tex build/book.cwm build/values.tex build/claims.tsv build/figures.pdf $(DATA)
	@texlua tools/html.lua build/laboratory
html: build/laboratory/index.html ## the pages of the laboratory alone, in seconds
.PHONY: html
# one web alone, in seconds and with the numbers and figures of the last build: as chapter-03, or sheet-W3 and sheet-L3; set twice the
# first time, since the notes of the margin have their places from the run before
chapter-%: sheet-%;
sheet-%: $(SET)
	@m=$$(awk -v n=$* '!/^#/ && NF { k = ($$1 == "chapters" ? "" : $$1 == "workshop" ? "W" : "L"); if (k $$2 == n || sprintf("%02d", $$2) == n && k == "") print $$4 }' book.list); \
	[ -n "$$m" ] || { echo "book.list has no web $*"; exit 1; }; \
	for pass in $$([ -f build/sheet-$*.aux ] || echo first) second; do \
	TEXINPUTS=macros:.: lualatex -interaction=batchmode -halt-on-error -output-directory=build -jobname=sheet-$* "\\def\\onlymodule{$$m}\\input{chapter}" > /dev/null || { grep -A3 '^!' build/sheet-$*.log; exit 1; }; done; \
	echo build/sheet-$*.pdf
# the course: a lab is what course/NN-name.ch cuts out of a chapter
LABS := $(patsubst course/%.ch,%,$(wildcard course/*.ch))
GRADER := $(wildcard course/*.[ch]) course/student.mk course/notices.txt $(wildcard tools/lab* tools/handout.*)
.PHONY: course labs kill-matrix bench-course
course: labs build/labs/guide.pdf ## the labs and the teacher's guide, build/labs/guide.pdf
	@echo "build/labs: $(words $(LABS)) labs, each as NAME.tar.gz for the student and NAME.key for incipit-grade; guide.pdf for the teacher"
labs: $(LABS:%=build/labs/%.tar.gz) build/labs/incipit-record ## each lab in build/labs: handout, skeleton and tests, and the key with which incipit-grade grades it
define lab
build/labs/$(1).tar.gz: course/$(1).ch $(wildcard course/$(1)/*) $(shell sed -n 's/.*change file for \(chapters[^ ]*\.w\).*/\1/p' course/$(1).ch) $(GRADER) handout.tex \
    $(BUILD)/libmodules.a build/labs/incipit-grade $$(SET) build/figures.pdf
	@sh tools/lab.sh $(1) && sh tools/handout.sh $(1)
	@tar -C build/labs --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime=@$(SOURCE_DATE_EPOCH) --format=gnu -cf - $(1) | gzip -9n > $$@
	@echo $$@
endef
$(foreach l,$(LABS),$(eval $(call lab,$(l))))
build/labs/incipit-grade: course/grade.c course/look.c course/transcript.c course/cage.c $(wildcard course/*.h)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -g $(WARN) $(filter %.c,$^) -o $@ -ljansson -lm
build/labs/incipit-record: course/record.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -g $(WARN) $< -o $@ -ljansson
lab-%:
	@l=$$(ls course | sed -n 's/^\($*-.*\)\.ch$$/\1/p'); [ -n "$$l" ] || { echo "there is no lab $*"; exit 1; }; $(MAKE) --no-print-directory build/labs/$$l.tar.gz
build/labs/guide-kills.tex: course/kills.tsv course/speed.txt tools/guide.lua $(wildcard course/*.ch course/*/lab course/*/tests.tsv)
	@mkdir -p $(@D)
	@texlua tools/guide.lua build/labs $(LABS)
build/laboratory.pdf: build/labs/guide-kills.tex
build/labs/guide.pdf: course/guide.tex build/labs/guide-kills.tex $(SET)
	@for pass in first second; do TEXINPUTS=macros:.: lualatex -interaction=batchmode -halt-on-error -output-directory=build/labs course/guide.tex > /dev/null || { grep -A3 '^!' build/labs/guide.log; exit 1; }; done
kill-matrix: $(BUILD)/libmodules.a build/labs/incipit-grade ## which test of each lab finds which wrong answer, and what becomes of cheats: course/kills.tsv
	@EVERY=1 sh tests/course.sh
bench-course: labs ## how many hand-ins a minute are graded
	@sh bench/course.sh
spreads: build/incipit.pdf
	tools/spreads.sh build/incipit.pdf build/spreads
bench-cuda: ## a device of NVIDIA beside its own copying, with the program of make CUDA=1
	@bench/cuda.py $(CUDA_BENCH)
bench-edit: ## how long a changed word takes to be seen, in its chapter alone and in its volume
	@bench/edit.sh
lint: build/values.tex ## digits in prose, docstrings, flow, lengths of demonstrations, includes
	@texlua tools/digits.lua 'cat tools/digits/*.tsv' $(WEBS)
	@texlua tools/docs.lua $(sort $(wildcard tangled/*/*.h unwoven/*/*.h program/*.h))
	@texlua tools/flow.lua $(sort $(wildcard tangled/*/*.[ch] tangled/*/*.inc unwoven/*/*.[ch] program/*.[ch]))
	@texlua tools/lengths.lua 150 $(CHECKPOINTS:%=tangled/checkpoints/%.c)
	@texlua tools/edges.lua
	@for n in $$(sed -n 's/^ *\(\#define \)*\([A-Z0-9_]*\)\( =\)* [0-9][0-9]*,*\( .*\)*$$/\2/p' $(TANGLED)/ground/tuning.h); do grep -q "CHOICE($$n," bench/tune.c || { echo "bench/tune.c does not time $$n"; exit 1; }; done

# ---- tests
SUITES := $(sort $(patsubst tests/%.c,%,$(wildcard tests/check_*.c)))
TESTED := $(SUITES:%=$(BUILD)/tests/%) $(BUILD)/tests/siege $(BUILD)/incipit $(BUILD)/limit
check: $(TESTED) $(if $(filter build,$(BUILD)),$(LIBRARIES) $(LIBRARY)/amalgamation/incipit.c) $(patsubst %,$(BUILD)/bin/%,$(CHECKPOINTS) $(LABORATORY)) $(if $(filter build,$(BUILD)),$(OUTPUTS) $(VALUES) build/claims.tsv $(if $(wildcard build/figures.pdf),build/labels.tex build/book.cwm build/values.tex $(DATA))) ## every test
	@BUILD=$(BUILD) CHECKPOINTS='$(CHECKPOINTS)' CC='$(CC)' tests/run.sh $(SUITES)
# check-fast leaves out the suite that trains, which is a fifth of all of them, every chapter alone, the siege, and what run.sh says
FAST := $(filter-out check_training,$(SUITES))
check-fast: $(FAST:%=$(BUILD)/tests/%) $(BUILD)/incipit $(BUILD)/limit $(BUILD)/bin/laboratory/stopping ## all suites but the training's and what is cheap beside them: two minutes
	@FAST=1 BUILD=$(BUILD) CC='$(CC)' tests/run.sh $(FAST)
# the experiments on stopping are what their suite interrupts
check-%: $(BUILD)/tests/check_% $(BUILD)/incipit $(BUILD)/limit ## one suite, as check-tokens, with what it says
	@BUILD=$(BUILD) CK_DEFAULT_TIMEOUT=300 $(BUILD)/limit 3600 $<
check-stopping: $(BUILD)/bin/laboratory/stopping
.PHONY: check-fast
$(BUILD)/limit: tests/limit.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 $(WARN) $< -o $@
$(BUILD)/tests/%: tests/%.c $(BUILD)/libprogram.a $(BUILD)/libmodules.a $(BUILD)/tests/oracle.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Wno-conversion -Wno-missing-field-initializers -MMD -MP -MF $@.d $< $(filter $(BUILD)/tally/% %/fibers.o,$^) $(BUILD)/tests/oracle.o $(BUILD)/libprogram.a $(BUILD)/libmodules.a -o $@ $$(pkg-config --cflags --libs check) $(LIBS)
# the oracle sees no header of ours; chapter 2 once more, counting every multiply-add one by one, dividing even the smallest work
$(BUILD)/tests/oracle.o: tests/oracle.c tests/oracle.h
	@mkdir -p $(@D)
	$(CC) $(filter-out -I% -Wconversion,$(CFLAGS)) -c $< -o $@
TALLIED := $(patsubst $(BUILD)/obj/%,$(BUILD)/tally/%,$(filter $(addprefix $(BUILD)/obj/,model/% families/loader.o functions/% kernels/%),$(call object,$(SOURCES_C))))
define tallied
$(BUILD)/tally/%.o: $(1)/%.c tests/tally.h
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) -include tests/tally.h -MMD -MP -c $$< -o $$@
endef
$(foreach d,tangled unwoven,$(eval $(call tallied,$(d))))
$(BUILD)/tests/check_tally: $(TALLIED) tests/check_kernels.c
# chapter 14's device with threads that really wait
$(BUILD)/tests/fibers.o: tangled/cuda/host.c tests/fibers.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Itests '-DKERNEL_WORDS="fibers.h"' -MMD -MP -c $< -o $@
$(BUILD)/tests/check_warps: $(BUILD)/tests/fibers.o tests/check_device.c
checkpoint-%: tangle
	@tests/alone.sh $* show
# (the lists of digits are not made by the rule below, though their names match it)
tools/digits/%.tsv: ;
laboratory-%: checkpoints ## as laboratory-03: every number that the laboratory of a chapter prints
	@build/bin/laboratory/$$(awk -v n=$* '$$1 == "chapters" && $$2 == n + 0 { print $$4 }' book.list) values

sanitize: export CK_TIMEOUT_MULTIPLIER := 6
sanitize: ## the tests under AddressSanitizer and UBSan, then ThreadSanitizer
	$(MAKE) BUILD=build/asan OPT='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all' check
	$(MAKE) BUILD=build/tsan OPT='-O1 -g -fsanitize=thread' check

cross: $(BUILD)/libmodules.a $(BUILD)/incipit ## the engine compiled for ARM and tested under an emulator: wants gcc-aarch64-linux-gnu and qemu-user
	@BUILD=$(BUILD) CC='$(CC)' sh tests/cross.sh
.PHONY: cross

clean: ## removes build/
	rm -rf build

# ---- proofs
mutants: $(TESTED) $(BUILD)/bin/laboratory/stopping ## plants faults, one at a time; each must be found
	@CC='$(CC)' BUILD=$(BUILD) LIBS='$(LIBS)' texlua tests/mutants.lua $(sort $(wildcard tests/mutants/*.txt))
reproduce: ## two clones in different folders give the same bytes
	@tests/reproduce.sh
.PHONY: reproduce
byhand: ## the boxes Worked by hand, recomputed from the numbers in them
	@STRICT=1 tests/byhand.sh
coverage: ## every clause of the plan with its witness (after make check)
	@texlua tests/coverage.lua coverage.tsv
dist: $(LIBRARY)/amalgamation/incipit.c ## build/incipit-ID.tar.gz and the library in one file, incipit-VERSION-amalgamation.tar.gz, the same bytes everywhere
	@mkdir -p build
	@id=$$(cat $(SOURCES) | sha256sum | cut -c1-16); \
	git ls-files -z | LC_ALL=C sort -z | tar --null -T - --transform "s|^|incipit-$$id/|" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime=@$(SOURCE_DATE_EPOCH) --format=gnu -cf - | gzip -9n > build/incipit-$$id.tar.gz; \
	cp LICENSE $(LIBRARY)/amalgamation/; \
	tar -C $(LIBRARY)/amalgamation --transform 's|^|incipit-$(VERSION)/|' --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime=@$(SOURCE_DATE_EPOCH) --format=gnu -cf - LICENSE incipit.c incipit.h | gzip -9n > build/incipit-$(VERSION)-amalgamation.tar.gz; \
	sha256sum build/incipit-$$id.tar.gz build/incipit-$(VERSION)-amalgamation.tar.gz
.PHONY: mutants coverage dist byhand
exercises: checkpoints $(BUILD)/libprogram.a $(BUILD)/libmodules.a $(BUILD)/limit ## model answers pass, wrong ones and skeletons fail
	@CC='$(CC)' sh tests/exercises.sh
exercise-%: checkpoints $(BUILD)/libprogram.a $(BUILD)/libmodules.a $(BUILD)/limit
	@CC='$(CC)' sh tests/exercises.sh $* $(ANSWER)
debug: tangle ## everything at -O0 in build/debug, with the lines of the chapters: gdb shows the .w
	@$(foreach m,$(CODED),LINES_KEPT=1 TANGLED=build/debug/tangled tools/tangle.sh $(call field,$(m),2) $(m);)
	$(MAKE) BUILD=build/debug TANGLED=build/debug/tangled OPT='-O0 -g3' checkpoints
.PHONY: exercises debug
values-live: values $(BUILD)/libprogram.a $(BUILD)/libmodules.a $(BUILD)/limit ## every key notices a wrong engine, or says why not
	@CC='$(CC)' tests/live.sh $(filter-out ledger,$(NAMED))
.PHONY: values-live

# ---- the command, installed or not
$(BUILD)/incipit: program/main.c $(BUILD)/libprogram.a $(BUILD)/libmodules.a build/buildid.tex
	$(CC) $(CFLAGS) -DINCIPIT_BUILD="\"$$(sed 's/.*{\(.*\)}.*/\1/' build/buildid.tex)\"" $< $(BUILD)/libprogram.a $(BUILD)/libmodules.a -o $@ $(LIBS)
checkpoints: $(BUILD)/incipit build/sections.tsv
all check: $(BUILD)/incipit build/sections.tsv
incipit: $(BUILD)/incipit build/sections.tsv ## the command, build/incipit
install: $(BUILD)/incipit build/sections.tsv $(LIBRARIES) $(patsubst %,$(BUILD)/bin/%,training $(LABORATORY)) ## command, libraries, incipit.h, pkg-config, man pages, completion, models, examples (PREFIX, DESTDIR)
	@BUILD='$(BUILD)' LIBRARY='$(LIBRARY)' VERSION='$(VERSION)' ENGINE_LIBS='$(ENGINE_LIBS)' PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' sh tools/install.sh
uninstall: ## removes what install has put there, and nothing else (PREFIX, DESTDIR)
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' sh tools/install.sh remove
fuzz: $(BUILD)/libprogram.a $(BUILD)/libmodules.a ## campaigns of libFuzzer: ten minutes (IDLE) without a new edge, twenty (MOST) at most for each TARGET; KEEP=1 keeps corpus and log
	@BUILD='$(BUILD)' LIBS='$(LIBS)' TARGET='$(TARGET)' tests/fuzz.sh campaign $(or $(MOST),1200) $(or $(IDLE),600)
fuzz-proof: $(BUILD)/libprogram.a $(BUILD)/libmodules.a ## a fault planted in each parser is found within a minute
	@BUILD='$(BUILD)' LIBS='$(LIBS)' tests/fuzz.sh proof
.PHONY: incipit install uninstall fuzz fuzz-proof
include tools/again.mk
