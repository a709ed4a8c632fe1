/* cage.h -- a program that is run apart: what it may use, and what became of it */
#ifndef INCIPIT_COURSE_CAGE_H
#define INCIPIT_COURSE_CAGE_H
#include <stdbool.h>
#include <stddef.h>

enum cage_end { CAGE_EXITED, CAGE_SIGNALLED, CAGE_TIME, CAGE_OUTPUT, CAGE_NOT_RUN };

/* output: at most that many bytes are kept, the rest ends the program; closed: system calls but those of arithmetic, memory and
   writing to the output end the program as well, and no file can be opened; readable: if not null, all that a program that is not
   closed may read besides its directory, where alone it may write; paths, a null is the end */
struct cage { unsigned seconds; size_t memory, output; bool closed; const char *directory; const char *const *readable; };

/* out ends with a 0 and is freed by the caller; code: the exit status or the signal.  What the system could do: apart, a closed program
   had namespaces of its own, with an empty root and no other process; fenced, the kernel kept it from files (Landlock) */
struct cage_result { enum cage_end end; int code; double seconds; char *out; size_t n; bool apart, fenced; };

/* runs argv[0], a path, with nothing to read; standard output and, if it is not closed, standard error are kept.  Whatever it
   started is ended with it.  For tests, words in the environment's CAGE_WITHOUT, namespaces and landlock, say what to do without */
struct cage_result cage_run(const struct cage *c, char *const argv[]);

/* what became of it, as the end of a sentence: "was ended by signal 11 (Segmentation fault)" */
void cage_words(const struct cage_result *r, char *words, size_t size);
#endif
