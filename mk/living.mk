# living.mk -- the living figures: one page that a browser opens from the disk (docs/living.md)
.PHONY: living living-pictures living-mutants
living: build/living.html ## the living figures, build/living.html (wants what make wasm wants)
build/living.html: tools/living.lua $(wildcard living/*) build/living.wasm $(BUILD)/incipit build/sections.tsv
	@texlua tools/living.lua $(BUILD)/incipit build/living.wasm $@
living-pictures: build/living.html ## the pictures of docs/living again (needs Chromium)
	@PICTURES=docs/living BUILD='$(BUILD)' sh tests/checks/living_page.sh
living-mutants: build/living.html ## plants faults in the page of the living figures; each must be found
	@PYTHONDONTWRITEBYTECODE=1 python3 tests/checks/living_page_mutants.py $(BUILD)/incipit $${CHROMIUM:-chromium}
