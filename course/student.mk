# make: compiles.  make test: the public tests.  make test-NAME: one of them.  make case-NAME-3: what its case 3 prints, yours on the left.
CC     = cc
CFLAGS = -std=c11 -O2 -g -ffp-contract=off -Wall -Wextra -Werror=switch -Iinclude
YOURS  = @YOURS@

tests/run: $(YOURS:%.c=%.o) tests/tests.o tests/kit.o lib/lab.a
	$(CC) -o $@ $^ @LIBRARIES@
%.o: %.c
	$(CC) $(CFLAGS) -c $< -o $@
$(YOURS:%.c=%.o): @FILES@
tests/try: tests/try.c tests/transcript.c tests/cage.c
	$(CC) $(CFLAGS) -o $@ $^ -lm
test: tests/run tests/try
	@tests/try
test-%: tests/run tests/try
	@tests/try $*
# the word before the last dash is the test, what follows it the case
case-%: tests/run
	@name=$$(echo $* | sed 's/-[0-9]*$$//'); n=$$(echo $* | sed 's/.*-//'); from=tests/public/$$name.txt; \
	[ -f $$from ] || { echo "no public test is called $$name"; exit 1; }; \
	grep -q "^size $$n$$" $$from || { echo "the test $$name has no case $$n"; exit 1; }; \
	(ulimit -t 20; tests/run $$name $$(sed -n 's/^end //p' $$from) $$n > tests/case.txt); \
	awk -v n=$$n '/^size / { on = $$2 == n } on && !/^end /' $$from > tests/wanted.txt; \
	grep -v '^end ' tests/case.txt | diff --side-by-side -W 150 - tests/wanted.txt || true
clean:
	rm -f *.o tests/*.o tests/run tests/try tests/case.txt tests/wanted.txt
.PHONY: test clean
