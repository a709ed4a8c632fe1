# Incipit.  make help lists what can be made.  book.list has one line for each web; tools/rules.awk makes lists and dependences of it,
# build/rules.mk; the recipes are here (the command, the library), in mk/book.mk (what is printed), mk/tests.mk, mk/course.mk (the labs)
# and mk/again.mk (what is measured or trained again).
WEBS     := $(shell awk '!/^\#/ && NF && $$1 != "unwoven" { print $$1 "/" $$3 ".w" }' book.list)
CC       ?= cc
AR       ?= ar
OBJCOPY  ?= objcopy
TANGLED  ?= tangled
OPT      ?= -O2 -g
WARN     := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror=switch
ROOTS    := $(TANGLED) unwoven build/tangled
CFLAGS   := -std=c11 $(OPT) -ffp-contract=off $(WARN) '-ffile-prefix-map=$(CURDIR)=.' $(addprefix -I,$(ROOTS) program) $(EXTRA_CFLAGS)
needed    = $(shell pkg-config --libs jansson libpcre2-8 libutf8proc $(1) 2>/dev/null || echo -ljansson -lpcre2-8 -lutf8proc $(2)) -pthread -lm
# the server wants libmicrohttpd; without it all else is built, and serve says so
HTTP     := $(shell pkg-config --libs libmicrohttpd 2>/dev/null)
# and pull wants libcurl, in the same way
CURL     := $(shell pkg-config --libs libcurl 2>/dev/null)
LIBS      = $(call needed,libedit,-ledit)
ENGINE_LIBS = $(call needed)
SHARED   ?= ../shared
PREFIX   ?= /usr/local
BUILD    ?= build
# make CUDA=1: the kernels of chapter 14 for NVIDIA's devices as well, in a build of their own
ifneq (,$(CUDA))
BUILD    := build/cuda
NVCC     ?= $(firstword $(shell command -v nvcc) /usr/local/cuda/bin/nvcc)
CUDA_LIB ?= $(abspath $(dir $(NVCC))/../lib64)
CUDA_FLAGS := -std=c++17 -O3 -fmad=false -Werror all-warnings -Xptxas -warn-spills \
  -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]
CFLAGS   += -DINCIPIT_CUDA
LIBS     += -L$(CUDA_LIB) -lcudart_static -lstdc++ -ldl -lrt
endif
export SOURCE_DATE_EPOCH ?= 1767225600
export FORCE_SOURCE_DATE = 1
export LC_ALL = C.UTF-8
export max_print_line = 10000
export TEXMFVAR = $(CURDIR)/build/texmf
export TEXMFHOME = $(CURDIR)/build/texmf
export BUILD CC SHARED
# what would be made as it is keeps its date, and nothing is drawn, set or read again for it
if_changed = @if cmp -s $(1).new $(1); then rm $(1).new; else mv $(1).new $(1); fi

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all help tangle debug checkpoints incipit library amalgamation install uninstall dist clean
all: $(if $(CUDA),$(BUILD)/incipit,checkpoints book)

help: ## this list
	@grep -hE '^[a-zA-Z_-]+(-[%N]*)?:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | awk -F'\t' '{printf "  %-18s %s\n", $$1, $$2}'
	@echo '  checkpoint-NN      chapter NN from the modules that it needs alone, compiled and run'

# ---- tangle: the webs -> tangled/MODULE/*.c, *.h and tangled/checkpoints/MODULE.c, committed, readable; unwoven/MODULE has the rest of
# a module, ordinary C; the experiments of the laboratory are made below build/
TOOLS    := tools/tangle.sh tools/expand.lua tools/ctokens.lua
STAMPS   := $(patsubst %.w,build/tangled/%.stamp,$(shell grep -l '^@[c<]' $(WEBS)))
tangle: $(STAMPS) ## bring tangled/ up to date
build/tangled/%.stamp: %.w chapters/types.w $(TOOLS)
	@mkdir -p $(@D)
	@tools/tangle.sh $<
	@touch $@
# which sources there are is known after tangling: make begins again when they are others. What an older build knew of a source that
# went elsewhere goes with it
build/rules.mk: tools/rules.awk book.list $(STAMPS) $(wildcard figures/*.tex course/*.ch)
	@awk -f $< book.list > $@.new
	$(call if_changed,$@)
	@for d in $(BUILD)/obj/*/*.d $(BUILD)/program/*.d $(BUILD)/tally/*/*.d $(BUILD)/tests/*.d; do \
	  [ ! -f $$d ] || [ -f $$(sed -n '1{$$!N;s/\\\n//;s/^[^:]*: *\([^ ]*\).*/\1/p}' $$d) ] || rm -f $$d $${d%.d}.o; done
ifeq (,$(filter clean help,$(MAKECMDGOALS)))
include build/rules.mk
endif
debug: tangle ## everything at -O0 in build/debug, with the lines of the chapters: gdb shows the .w
	@for w in $(STAMPS:build/tangled/%.stamp=%.w); do LINES_KEPT=1 TANGLED=build/debug/tangled tools/tangle.sh $$w; done
	$(MAKE) BUILD=build/debug TANGLED=build/debug/tangled OPT='-O0 -g3' checkpoints

# ---- objects: all modules in an archive for programs and tests of our own. They go into a shared library as well: position-independent,
# and what a program does not use can be left out of it
PIC     := -fPIC -fno-semantic-interposition -ffunction-sections -fdata-sections
define compiled
@mkdir -p $(@D)
$(CC) $(CFLAGS) $(PIC) -MMD -MP -c $< -o $@
endef
# bodies that are inlined once for every type: where each variable of each copy is kept would take a third of the compiler's time and
# memory, so these objects know lines alone; make debug asks for -g3 and gets it
$(BUILD)/obj/kernels/%.o $(BUILD)/tally/kernels/%.o: CFLAGS += $(if $(filter -g,$(OPT)),-g1)
$(BUILD)/obj/%.o: $(TANGLED)/%.c
	$(compiled)
$(BUILD)/obj/%.o: unwoven/%.c
	$(compiled)
$(BUILD)/obj/%.o: build/tangled/%.c
	$(compiled)
$(BUILD)/obj/cuda/kernels.o: $(TANGLED)/cuda/kernels.cu $(wildcard $(TANGLED)/cuda/*.h $(TANGLED)/cuda/*.inc unwoven/cuda/* $(TANGLED)/functions/*)
	@mkdir -p $(@D)
	$(NVCC) $(CUDA_FLAGS) $(addprefix -I,$(ROOTS)) -c $< -o $@
$(BUILD)/libmodules.a: $(OBJECTS)
	rm -f $@; $(AR) rcsD $@ $^
-include $(wildcard $(BUILD)/obj/*/*.d $(BUILD)/program/*.d $(BUILD)/tally/*/*.d $(BUILD)/tests/*.d)

# ---- one program a chapter, and its experiments: linked with what it uses of the library, and again when a module that it needs has
# changed; it runs again when its code has changed, not its comments. What the programs share is linked to them and is not in the library
define linked
@mkdir -p $(@D)
$(CC) $(CFLAGS) $< $(filter $(FIXTURE) $(KIT) $(BUILD)/libprogram.a,$^) $(BUILD)/libmodules.a -o $@ $(LIBS) $(if $(filter $(BUILD)/libprogram.a,$^),$(HTTP) $(CURL))
endef
$(BUILD)/bin/%: $(BUILD)/obj/checkpoints/%.o | $(BUILD)/libmodules.a
	$(linked)
$(BUILD)/bin/laboratory/%: $(BUILD)/obj/laboratory/%.o | $(BUILD)/libmodules.a
	$(linked)
# the chapter about the command calls it as a test does
$(BUILD)/bin/command $(BUILD)/bin/server: $(BUILD)/libprogram.a
$(BUILD)/sums/%: $(BUILD)/bin/%
	@mkdir -p $(@D)
	@strip -o $@.bin $<; sha256sum < $@.bin > $@.new; rm $@.bin; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
checkpoints: $(patsubst %,$(BUILD)/bin/%,$(CHECKPOINTS) $(LABORATORY)) incipit ## every chapter's program, and the experiments where there is CWEB
checkpoint-%: tangle
	@tests/checks/alone.sh $* show

# ---- the command: program/ is written by hand, one flat folder; its objects are an archive for the tests, and no part of the library
PROGRAM := $(patsubst program/%.c,$(BUILD)/program/%.o,$(filter-out program/main.c,$(sort $(wildcard program/*.c)))) $(BUILD)/program/page.o
$(BUILD)/program/%.o: program/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(if $(HTTP),-DINCIPIT_HTTP) $(if $(CURL),-DINCIPIT_CURL) -MMD -MP -c $< -o $@
# the page of incipit serve is an array in it
$(BUILD)/program/page.c: program/page.html tools/page.sh
	@mkdir -p $(@D)
	@sh tools/page.sh $< > $@
$(BUILD)/program/page.o: $(BUILD)/program/page.c
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/libprogram.a: $(PROGRAM)
	rm -f $@; $(AR) rcsD $@ $^
$(BUILD)/incipit: program/main.c $(BUILD)/libprogram.a $(BUILD)/libmodules.a build/buildid.tex
	$(CC) $(CFLAGS) -DINCIPIT_BUILD="\"$$(sed 's/.*{\(.*\)}.*/\1/' build/buildid.tex)\"" \
	  $< $(BUILD)/libprogram.a $(BUILD)/libmodules.a -o $@ $(LIBS) $(HTTP) $(CURL)
incipit: $(BUILD)/incipit build/sections.tsv ## the command, build/incipit
# where a label of the book stands, for incipit verify, which is installed without the tools that weave
build/sections.tsv: book.list $(WEBS) tools/sections.awk
	@mkdir -p $(@D)
	@awk -f tools/sections.awk book.list > $@

# ---- the library for others: the modules that incipit.h needs, of whose names only those of incipit.h can be seen from outside
LIBRARY ?= $(BUILD)/library
HEADER  := tangled/library/incipit.h
VERSION := $(shell sed -n 's/^\#define INCIPIT_VERSION "\(.*\)"/\1/p' $(HEADER))
ENGINE  := $(filter-out %/library/place.o,$(LIBRARY_OBJECTS)) $(LIBRARY)/place.o
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
	$(CC) $(CFLAGS) -shared -Wl,-soname,libincipit.so.$(firstword $(subst ., ,$(VERSION))) \
	  -Wl,--version-script=$(LIBRARY)/version.map -Wl,--gc-sections -Wl,-z,defs $(ENGINE) -o $@ $(ENGINE_LIBS)
$(LIBRARY)/incipit.3: $(HEADER) tools/man3.awk
	awk -f tools/man3.awk $(HEADER) > $@
LIBRARIES := $(LIBRARY)/libincipit.a $(LIBRARY)/libincipit.so $(LIBRARY)/incipit.3
library: $(LIBRARIES) ## libincipit.a, libincipit.so and incipit(3), in build/library
# all of it as one file and one header
$(LIBRARY)/amalgamation/incipit.c: $(HEADER) tools/amalgamate.lua tools/ctokens.lua $(LIBRARY_SOURCES) LICENSE
	@mkdir -p $(@D)
	texlua tools/amalgamate.lua $(@D) $(filter-out tangled/library/place.c,$(LIBRARY_SOURCES)) tangled/library/place.c
amalgamation: $(LIBRARY)/amalgamation/incipit.c ## the library as incipit.c and incipit.h, in build/library/amalgamation
install: incipit $(LIBRARIES) $(patsubst %,$(BUILD)/bin/%,training $(LABORATORY)) ## all of it, models and examples too (PREFIX, DESTDIR)
	@LIBRARY='$(LIBRARY)' VERSION='$(VERSION)' ENGINE_LIBS='$(ENGINE_LIBS)' PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' sh tools/install.sh
uninstall: ## removes what install has put there, and nothing else (PREFIX, DESTDIR)
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' sh tools/install.sh remove

# ---- archives, the same bytes everywhere
TAR := tar --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime=@$(SOURCE_DATE_EPOCH) --format=gnu
dist: $(LIBRARY)/amalgamation/incipit.c build/buildid.tex ## build/incipit-ID.tar.gz, the library in one file, and the living figures if make living has made them
	@id=$$(sed 's/.*{\(.*\)}.*/\1/' build/buildid.tex); one=build/incipit-$(VERSION)-amalgamation.tar.gz; cp LICENSE $(LIBRARY)/amalgamation/; \
	git ls-files -z | LC_ALL=C sort -z | $(TAR) --null -T - --transform "s|^|incipit-$$id/|" -cf - | gzip -9n > build/incipit-$$id.tar.gz; \
	$(TAR) -C $(LIBRARY)/amalgamation --transform 's|^|incipit-$(VERSION)/|' -cf - LICENSE incipit.c incipit.h | gzip -9n > $$one; \
	page=build/incipit-$(VERSION)-living.html; if [ -f build/living.html ]; then cp build/living.html $$page; else page=; fi; \
	sha256sum build/incipit-$$id.tar.gz $$one $$page
clean: ## removes build/
	rm -rf build

include mk/book.mk mk/tests.mk mk/course.mk mk/again.mk mk/wasm.mk mk/living.mk
