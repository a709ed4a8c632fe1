/* kit.h -- what the tests of a lab are written with.  A test calls the student's functions with inputs drawn from a seed and says
   what came out, line by line; this is its transcript.  The grader runs the same test with the reference's functions and compares
   the two transcripts: nothing that the student's process holds says what is right. */
#ifndef INCIPIT_COURSE_KIT_H
#define INCIPIT_COURSE_KIT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* a test, and how many sizes it has; run(1) is the smallest case */
struct lab_test { const char *name; unsigned sizes; void (*run)(unsigned size); };

/* the tests of the lab, which the driver defines; a null name is the end */
extern const struct lab_test lab_tests[];

/* what the case is, for the student who failed it; not compared */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* what came out: a word for what it is, and a value, which must be the reference's */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* a number that must be near the reference's: within 1e-4 of its size, or 1e-6 */
void say_near(const char *what, double value);

/* the same within 1e-10 of its size */
void say_close(const char *what, double value);

/* that something was refused, and why: what is compared, the sentence is shown to the student */
void say_why(const char *what, const char *sentence);

/* whether something was done, as "what yes" or "what no", and then with the sentence */
void say_done(const char *what, bool ok, const char *sentence);

/* a count that may be at most slack times the reference's: rows copied, bytes held; slack >= 1 */
void say_most(const char *what, double value, double slack);

/* a number that must be at least as large as the floor, which the test sets */
void say_least(const char *what, double value, double floor);

/* a float that must have the reference's bits */
void say_bits(const char *what, float value);

/* counts of work, by a number below COUNTERS: from zero on, which is a line of the transcript, so that nobody else can do it unseen; more of
   one; how many so far.  A hand-in may call none of these */
enum { COUNTERS = 8 };
void count_begin(void);
void count_more(unsigned what, uint64_t by);
uint64_t count_of(unsigned what);

/* a number below n, from the seed of the run; n > 0 */
uint32_t draw(uint32_t n);

/* a number from -1 to 1 */
float draw_float(void);
#endif
