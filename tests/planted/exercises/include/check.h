/* check.h -- what tests/suites/suite.h needs of Check to be compiled where Check is not: no exercise runs a suite */
#ifndef INCIPIT_NO_CHECK_H
#define INCIPIT_NO_CHECK_H
typedef struct Suite Suite;
typedef struct SRunner SRunner;
enum { CK_ENV };
SRunner *srunner_create(Suite *);
void srunner_set_tap(SRunner *, const char *), srunner_run_all(SRunner *, int), srunner_free(SRunner *);
int srunner_ntests_failed(SRunner *);
#endif
