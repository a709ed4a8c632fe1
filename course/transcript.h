/* transcript.h -- what a test printed, compared with what it should have printed */
#ifndef INCIPIT_COURSE_TRANSCRIPT_H
#define INCIPIT_COURSE_TRANSCRIPT_H
#include "cage.h"

/* whether a program's transcript is as wanted.  If it is not, feedback says what differed first and in which case; detail false: not
   what was wanted there, for a case that is to stay secret */
bool transcript_agrees(const char *wanted, const struct cage_result *r, bool detail, char *feedback, size_t size);
#endif
