# tests.mk -- the suites and checks, and the proofs that they find what they should
.PHONY: check tested check-all check-fast check-book amalgamated sanitize cross mutants exercises values-live reproduce byhand soak fuzz fuzz-proof

# ---- tests
SUITES := $(sort $(patsubst tests/suites/%.c,%,$(wildcard tests/suites/check_*.c)))
TESTED := $(SUITES:%=$(BUILD)/tests/%) $(BUILD)/tests/siege $(BUILD)/incipit $(BUILD)/limit
# what only the plain build has: the library, and what is printed
PLAIN  := $(if $(filter build,$(BUILD)),$(LIBRARIES) $(LIBRARY)/amalgamation/incipit.c $(OUTPUTS) $(VALUES) build/claims.tsv \
  $(if $(wildcard build/figures.pdf),build/labels.tex build/book.cwm build/values.tex $(DATA)))
tested: $(TESTED) checkpoints $(PLAIN)
# what is tested is made by all processors, unless make was told how many jobs
check: ## every test
	@$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$$(nproc 2>/dev/null || echo 2)) tested
	@CHECKPOINTS='$(CHECKPOINTS)' tests/run.sh $(SUITES)
# check-fast leaves out the suite that trains, which is a fifth of all of them, every chapter alone, the siege, and what run.sh says
FAST := $(filter-out check_training,$(SUITES))
check-fast: $(FAST:%=$(BUILD)/tests/%) incipit $(BUILD)/limit $(BUILD)/bin/laboratory/stopping ## what takes two minutes
	@FAST=1 tests/run.sh $(FAST)
check-all: check ## and the long ones: every planted fault, every wrong answer of the labs, every key, kernels by all compilers (hours)
	$(MAKE) mutants kill-matrix values-live fuzz-proof matrix amalgamated
	sh tests/checks/verify.sh whole
amalgamated: $(BUILD)/incipit $(LIBRARY)/amalgamation/incipit.c ## the library in one file, by the cc line in it, letter by letter
	@sh tests/checks/amalgamation.sh
check-book: ## what a typo may break: the books as they are printed, by themselves
	@BOOK=1 tests/run.sh
check-%: $(BUILD)/tests/check_% incipit $(BUILD)/limit ## one suite, as check-tokens, with what it says
	@CK_DEFAULT_TIMEOUT=300 $(BUILD)/limit 3600 $<
# the experiments on stopping are what their suite interrupts
check-stopping: $(BUILD)/bin/laboratory/stopping
$(BUILD)/limit: tests/checks/limit.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 $(WARN) $< -o $@
$(BUILD)/tests/%: tests/suites/%.c $(BUILD)/libprogram.a $(BUILD)/libmodules.a $(BUILD)/tests/oracle.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Wno-conversion -Wno-missing-field-initializers -MMD -MP -MF $@.d $< $(filter $(BUILD)/tally/% %/fibers.o,$^) \
	  $(BUILD)/tests/oracle.o $(BUILD)/libprogram.a $(BUILD)/libmodules.a -o $@ $$(pkg-config --cflags --libs check) $(LIBS) $(HTTP) $(CURL)
# the oracle sees no header of ours; chapter 2 once more, counting every multiply-add one by one, dividing even the smallest work
$(BUILD)/tests/oracle.o: tests/suites/oracle.c tests/suites/oracle.h
	@mkdir -p $(@D)
	$(CC) $(filter-out -I% -Wconversion,$(CFLAGS)) -c $< -o $@
# (the kernels of blocks, whose counts no test adds up, are the library's, but for those in plain C, which divide the smallest work here)
TALLIED := $(filter-out %/vnni.o %/avx2_blocks.o %/avx512_blocks.o %/neon_blocks.o, \
  $(filter $(addprefix $(BUILD)/obj/,model/% families/loader.o functions/% kernels/%),$(OBJECTS) $(FIXTURE)))
# (what a counting kernel lacks in speed is less than what it takes to compile it as the library is)
define tallied
@mkdir -p $(@D)
$(CC) $(filter-out -g -O2,$(CFLAGS)) -O1 -include tests/suites/tally.h -MMD -MP -c $< -o $@
endef
$(BUILD)/tally/%.o: tangled/%.c tests/suites/tally.h
	$(tallied)
$(BUILD)/tally/%.o: unwoven/%.c tests/suites/tally.h
	$(tallied)
$(BUILD)/tests/check_tally: $(TALLIED:$(BUILD)/obj/%=$(BUILD)/tally/%) tests/suites/check_kernels.c
# chapter 14's device with threads that really wait
$(BUILD)/tests/fibers.o: tangled/cuda/host.c tests/suites/fibers.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Itests/suites '-DKERNEL_WORDS="fibers.h"' -MMD -MP -c $< -o $@
$(BUILD)/tests/check_warps: $(BUILD)/tests/fibers.o tests/suites/check_device.c

sanitize: export CK_TIMEOUT_MULTIPLIER := 6
sanitize: ## the tests under AddressSanitizer and UBSan, then ThreadSanitizer
	$(MAKE) BUILD=build/asan OPT='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all' check
	$(MAKE) BUILD=build/tsan OPT='-O1 -g -fsanitize=thread' check
cross: $(BUILD)/libmodules.a $(BUILD)/incipit ## compiled for ARM and tested in an emulator: wants gcc-aarch64-linux-gnu, qemu-user
	@sh tests/checks/cross.sh

# ---- proofs: what the tests find
ARCHIVES := $(BUILD)/libprogram.a $(BUILD)/libmodules.a
mutants: $(TESTED) $(BUILD)/bin/laboratory/stopping ## plants faults, one at a time; each must be found
	@LIBS='$(LIBS) $(HTTP) $(CURL)' texlua tests/planted/mutants.lua $(sort $(wildcard tests/planted/mutants/*.txt))
exercises: checkpoints $(ARCHIVES) $(BUILD)/limit ## model answers pass, wrong ones and skeletons fail
	@sh tests/planted/exercises.sh
exercise-%: checkpoints $(ARCHIVES) $(BUILD)/limit
	@sh tests/planted/exercises.sh $* $(ANSWER)
values-live: values $(ARCHIVES) $(BUILD)/limit ## every key notices a wrong engine, or says why not
	@tests/planted/live.sh $(filter-out ledger,$(patsubst build/values/%.val,%,$(VALUES)))
reproduce: ## two clones in different folders give the same bytes
	@tests/checks/reproduce.sh
byhand: ## the boxes Worked by hand, recomputed from the numbers in them
	@STRICT=1 tests/book/byhand.sh
soak: $(BUILD)/incipit ## ten thousand requests to the server, with all faults at once; N=... for another number
	@BUILD='$(BUILD)' sh tests/checks/soak.sh $(or $(N),10000) 3600
fuzz: $(ARCHIVES) ## campaigns: ten minutes (IDLE) without a new edge, twenty (MOST) at most for each TARGET; KEEP=1 keeps corpus and log
	@LIBS='$(LIBS) $(HTTP) $(CURL)' TARGET='$(TARGET)' tests/planted/fuzz.sh campaign $(or $(MOST),1200) $(or $(IDLE),600)
fuzz-proof: $(ARCHIVES) ## a fault planted in each parser is found within a minute
	@LIBS='$(LIBS) $(HTTP) $(CURL)' tests/planted/fuzz.sh proof
