# wasm.mk -- the engine for a browser: build/living.wasm. It wants clang-19, lld-19, wasi-libc and libclang-rt-19-dev-wasm32
# (./setup --wasm); nothing else does.
.PHONY: wasm check-wasm wasm-mutants measure-wasm measured-wasm
WASM_CC ?= clang-19
WASM_LD ?= wasm-ld-19
WASM    := build/wasm
# what the engine is made of: its modules, as they are, but for the cutter of texts, which is wasm/split.c, and what reads files of models
WASM_MODULES := ground lookups tokens functions model kernels tokenizer loop cache sampling search living
WASM_SOURCES := $(filter-out %/lookups/split.c %/model/toy.c %/living/files.c %/ground/new_file.c unwoven/kernels/avx% unwoven/kernels/neon% unwoven/kernels/vnni.c, \
  $(foreach m,$(WASM_MODULES),$(wildcard tangled/$(m)/*.c unwoven/$(m)/*.c))) $(filter-out wasm/snapshot.c wasm/try_%,$(wildcard wasm/*.c)) $(WASM)/made/built_in.c $(WASM)/made/kinds.c
WASM_OBJECTS := $(patsubst %.c,$(WASM)/obj/%.o,$(WASM_SOURCES:$(WASM)/%=%))
WASM_FLAGS := --target=wasm32-wasi -std=c11 -O2 -ffp-contract=off -msimd128 -Wall -Wextra -Wpedantic -Wshadow -Wno-unused-function -Wno-c23-extensions -D_GNU_SOURCE \
  -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_GETPID -DINCIPIT_SIMD128 -ffunction-sections -fdata-sections '-ffile-prefix-map=$(CURDIR)=.' -Iwasm/include -Iwasm -Itangled -Iunwoven
define wasm_compiled
@mkdir -p $(@D)
$(WASM_CC) $(WASM_FLAGS) -MMD -MP -c $< -o $@
endef
$(WASM)/obj/made/%.o: $(WASM)/made/%.c
	$(wasm_compiled)
$(WASM)/obj/%.o: %.c
	$(wasm_compiled)
-include $(WASM_OBJECTS:.o=.d)
# the model and its tokenizer, as the engine here has opened them
$(WASM)/snapshot: wasm/snapshot.c wasm/kinds.h $(BUILD)/libmodules.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $< $(BUILD)/libmodules.a -o $@ $(ENGINE_LIBS)
$(WASM)/made/built_in.c: $(WASM)/snapshot $(wildcard models/pocket/*.json models/pocket/*.safetensors)
	@mkdir -p $(@D)
	$< models/pocket $@ $(@D)/weights.bin $(@D)/kinds.c
$(WASM)/made/weights.bin $(WASM)/made/kinds.c: $(WASM)/made/built_in.c ;
# linked by wasm-ld and not by the compiler, which would run wasm-opt where it is installed: then the bytes would depend on it
WASM_LINK := $(WASM_LD) --no-entry --gc-sections --strip-all -z stack-size=1048576
WASM_LIBS  = -L/usr/lib/wasm32-wasi -lc -lm -lwasi-emulated-mman -lwasi-emulated-getpid $$($(WASM_CC) --target=wasm32-wasi -print-libgcc-file-name)
# fmaf and what a page calls come first; of the others what is used
WASM_FIRST := $(WASM)/obj/wasm/fmaf.o $(WASM)/obj/wasm/exports.o
WASM_USED  := /usr/lib/wasm32-wasi/crt1-reactor.o --start-lib $(filter-out $(WASM_FIRST),$(WASM_OBJECTS)) --end-lib
build/living.wasm $(WASM)/living.wasm: $(WASM_OBJECTS)
	$(WASM_LINK) $(WASM_FIRST) $(WASM_USED) $(WASM_LIBS) -o $@
wasm: build/living.wasm ## the engine for a browser, build/living.wasm (wants clang-19, lld-19, wasi-libc: ./setup --wasm)
	@sha256sum $<; gzip -9nc $< | wc -c
# the same C for this machine, and what the checks try
$(WASM)/try_living: wasm/try_living.c wasm/exports.c wasm/exports.h $(BUILD)/libmodules.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) wasm/try_living.c wasm/exports.c $(BUILD)/libmodules.a -o $@ $(ENGINE_LIBS)
WASM_PROGRAM = $(WASM_LD) --gc-sections --strip-all -z stack-size=1048576 /usr/lib/wasm32-wasi/crt1-command.o
$(WASM)/try_fmaf.wasm: $(WASM)/obj/wasm/try_fmaf.o $(WASM)/obj/wasm/fmaf.o
	$(WASM_PROGRAM) $^ $(WASM_LIBS) -o $@
$(WASM)/try_libc.wasm: $(WASM)/obj/wasm/try_fmaf.o
	$(WASM_PROGRAM) $^ $(WASM_LIBS) -o $@
# the cutter of texts beside PCRE2's
$(WASM)/try_split: wasm/try_split.c wasm/split.c $(WASM)/made/kinds.c $(BUILD)/libmodules.a
	$(CC) $(CFLAGS) -Iwasm wasm/try_split.c $(WASM)/made/kinds.c $(BUILD)/libmodules.a -o $@ $(ENGINE_LIBS)
check-wasm: $(BUILD)/incipit ## the engine for a browser, bit for bit, in node and in Chromium; its fmaf; the same bytes twice
	@sh tests/checks/living.sh
wasm-mutants: $(BUILD)/incipit ## plants faults in what only a browser gets; each must be found
	@sh tests/checks/living.sh mutants
measure-wasm: check-wasm measured-wasm ## what the engine costs in node and here, and what the check has found, into figures/data/living*.csv
measured-wasm: $(WASM)/try_clock build/living.wasm
	@node wasm/measure.mjs build/living.wasm $(WASM) build/living.csv build/living.clock.csv && mv build/living.csv build/living.clock.csv figures/data
$(WASM)/try_clock: wasm/try_clock.c wasm/exports.c wasm/exports.h $(BUILD)/libmodules.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) wasm/try_clock.c wasm/exports.c $(BUILD)/libmodules.a -o $@ $(ENGINE_LIBS)
# the functions of numbers, here and there
$(WASM)/try_numbers: wasm/try_numbers.c $(BUILD)/libmodules.a
	$(CC) $(CFLAGS) $< $(BUILD)/libmodules.a -o $@ $(ENGINE_LIBS)
$(WASM)/try_numbers.wasm: $(WASM)/obj/wasm/try_numbers.o $(WASM_OBJECTS)
	$(WASM_PROGRAM) $< --start-lib $(WASM_OBJECTS) --end-lib $(WASM_LIBS) -o $@
