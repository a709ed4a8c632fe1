/* inside.h -- what the files of the scheduler call in each other. open.c calls scheduler.c (chapter 12), never the
   other way. */
#ifndef INCIPIT_SERVING_INSIDE_H
#define INCIPIT_SERVING_INSIDE_H
#include "serving/scheduler.h"

/* takes a request out of the line, and gives back its slot and its rows; its text stays */
void request_leave(struct scheduler *s, struct request *r);
#endif
