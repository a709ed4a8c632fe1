/* tally.h -- put before the modules of chapter 2 in the build that counts: every multiply-add is
   told one by one, with the file that is compiled (so the table) and the worker where it is known;
   and hardly any work is too small to be divided. */
#ifndef INCIPIT_TALLY_H
#define INCIPIT_TALLY_H
#include <stdint.h>
void tally_count(const char *file, const char *what, unsigned worker, uint64_t amount);
#define TALLY(what, worker, amount) tally_count(__BASE_FILE__, what, worker, (uint64_t) (amount))
#define WORTH_DIVIDING 16
#endif
