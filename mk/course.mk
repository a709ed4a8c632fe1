# course.mk -- the labs, each in build/labs: handout, skeleton and tests for the student, and the key with which it is graded
.PHONY: course labs kill-matrix bench-course
course: labs build/labs/guide.pdf ## the labs and the teacher's guide, build/labs/guide.pdf
	@echo "build/labs: $(words $(LABS)) labs, each as NAME.tar.gz for the student and NAME.key for incipit-grade; guide.pdf for the teacher"
labs: $(LABS:%=build/labs/%.tar.gz) build/labs/incipit-record ## each lab in build/labs
GRADER := $(wildcard course/*.[ch]) course/student.mk course/notices.txt $(wildcard tools/lab* tools/handout.*)
$(LABS:%=build/labs/%.tar.gz): build/labs/%.tar.gz: $(GRADER) handout.tex $(BUILD)/libmodules.a build/labs/incipit-grade $(SET) build/figures.pdf
	@sh tools/lab.sh $* && sh tools/handout.sh $*
	@$(TAR) -C build/labs --sort=name -cf - $* | gzip -9n > $@
	@echo $@
build/labs/incipit-grade: course/grade.c course/look.c course/transcript.c course/cage.c $(wildcard course/*.h)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -g $(WARN) $(filter %.c,$^) -o $@ -ljansson -lm
build/labs/incipit-record: course/record.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -g $(WARN) $< -o $@ -ljansson
lab-%:
	@l=$$(ls course | sed -n 's/^\($*-.*\)\.ch$$/\1/p'); [ -n "$$l" ] || { echo "there is no lab $*"; exit 1; }; \
	$(MAKE) --no-print-directory build/labs/$$l.tar.gz
build/labs/guide-kills.tex: course/kills.tsv course/speed.txt tools/guide.lua $(wildcard course/*.ch course/*/lab course/*/tests.tsv)
	@mkdir -p $(@D)
	@texlua tools/guide.lua build/labs $(LABS)
build/labs/guide.pdf: course/guide.tex build/labs/guide-kills.tex $(SET)
	@for pass in first second; do \
	$(latex) -output-directory=build/labs course/guide.tex > /dev/null || { grep -A3 '^!' build/labs/guide.log; exit 1; }; done
kill-matrix: $(BUILD)/libmodules.a build/labs/incipit-grade ## which test of each lab finds which wrong answer: course/kills.tsv
	@EVERY=1 sh tests/checks/course.sh
bench-course: labs ## how many hand-ins a minute are graded
	@sh bench/course.sh
