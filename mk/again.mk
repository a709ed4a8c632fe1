# again.mk -- what is made again only when somebody asks for it: measured times, data from ../shared, the built-in model
.PHONY: measure spellings lossy published ulp matrix model model-check figures-live bench-cuda bench-edit
.PHONY: bench-kernels bench-constraints bench-tokens bench-sampling bench-real peers profile tune page-pictures

$(BUILD)/bench/%: bench/%.c $(BUILD)/libmodules.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -w $< $(BUILD)/libmodules.a -o $@ $(LIBS)
bench-kernels: $(BUILD)/bench/kernels ## linear layers beside probes of this machine, one thread
	@$< $(BENCH)
bench-sampling: $(BUILD)/bench/sampling ## what the choice of a token costs, one thread, as CSV
	@$< $(BENCH)
bench-real: $(BUILD)/bench/real ## random weights in published shapes (2.2 GB, removed again): ms to open, bytes
	@$< $(wildcard $(SHARED)/golden/tokenizers/llama3 $(SHARED)/golden/tokenizers/qwen3)
bench-tokens: $(BUILD)/bench/tokens ## how fast text becomes ids, beside other programs installed here (needs ../shared)
	@$${PYTHON:-python3} bench/tokens.py $< $(SHARED) figures/data/tokenizer.speeds.csv
bench-constraints: $(BUILD)/bench/constraints build/buildid.tex ## what a mask of 128256 pieces costs (needs ../shared)
	@$< $(SHARED)/data/llama3/tokenizer.bin $$(sed -n 's/.*{\([0-9a-f]*\)}.*/\1/p' build/buildid.tex) > build/masks.csv
	@mv build/masks.csv figures/data/constraints.masks.csv

peers: $(BUILD)/incipit $(BUILD)/bench/sampling ## other engines, got from the package registries and built, beside this one (hours; PEERS="--quick --rows 110M")
	@sh bench/peers.sh $(PEERS)
tune: $(BUILD)/libmodules.a ## what was chosen by the clock, each number beside others, and what this machine would choose (half an hour; TUNE="HINT ROWS_AHEAD")
	@BUILD='$(BUILD)' CC='$(CC)' sh bench/tune.sh $(TUNE)
profile: $(BUILD)/incipit ## where the time of some of those passes goes (needs perf and the models of make peers)
	@sh bench/profile.sh

measure: checkpoints build/buildid.tex ## takes every measured time again, on this machine
	@tools/measure.sh
spellings: $(BUILD)/incipit ## a hard sentence in four published vocabularies again (needs ../shared)
	@texlua tools/spellings.lua $(SHARED) > figures/data/tokens.spellings.csv
	@texlua tools/spellings.lua $(SHARED) letters > figures/data/tokens.letters.csv
	@texlua tools/wordcounts.lua $(SHARED) > figures/data/tokens.words.csv
lossy: $(BUILD)/bin/laboratory/accounts ## what a smaller cache costs a published model again (needs ../shared)
	@$< lossy $(SHARED)/golden/models/stories260K > $(BUILD)/lossy.csv
	@mv $(BUILD)/lossy.csv figures/data/accounts.lossy.csv
published: $(BUILD)/bin/laboratory/quantization ## what fewer bits cost a published model again (needs ../shared)
	@$< published $(SHARED)/golden/models/stories260K > $(BUILD)/published.csv
	@mv $(BUILD)/published.csv figures/data/quantization.stories.csv
ulp: tangle ## how far the functions are from the truth, on all floats (hours; can be interrupted)
	@CC='$(CC)' sh tests/checks/ulp.sh
matrix: tangle ## the kernels by gcc and clang, -O1 and -O3, contracting or not: the same bits
	@CC='$(CC)' sh tests/checks/matrix.sh
page-pictures: $(BUILD)/incipit ## the two pictures of the server's page again (needs Chromium)
	@PICTURES=figures/data BUILD='$(BUILD)' sh tests/checks/page.sh
figures-live: build/figures.pdf ## a figure whose data changes looks different
	@tests/book/figures.sh
model: build/bin/laboratory/run ## trains the built-in model and its sibling again: the same bytes, after an hour or so
	@mkdir -p work/model models/pocket models/draft
	$< train model work/model
	$< train draft work/model
	cd models && sha256sum -c SHA256SUMS
model-check: build/bin/laboratory/evaluation ## every promise of the built-in model with its figure: PASS or FAIL
	@$< check
	@cd models && sha256sum -c SHA256SUMS
bench-cuda: ## a device of NVIDIA beside its own copying, with the program of make CUDA=1
	@bench/cuda.py $(CUDA_BENCH)
bench-edit: ## how long a changed word takes to be seen, in its chapter alone and in its volume
	@bench/edit.sh
