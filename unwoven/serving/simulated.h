/* simulated.h -- the rules of chapter 12's scheduler on counts alone; simulator.c calls them, never the other way. */
#ifndef INCIPIT_SERVING_SIMULATED_H
#define INCIPIT_SERVING_SIMULATED_H
#include "serving/simulator.h"

/* no text: the end of the line */
static const uint32_t NO_TEXT = UINT32_MAX;

/* an empty line, all pages free, and room for a plan; errors: memory, a text that could never fit */
bool simulated_open(struct memory *m, struct simulation *s, struct error *why);
/* returns the room for the plan */
void simulated_close(struct memory *m, struct simulation *s);

/* text i comes, and is the last of the line */
void simulated_join(struct simulation *s, uint32_t i);

/* lets texts in and plans a pass, as scheduler_step does before it computes; how many texts have rows in it */
size_t simulated_plan(struct simulation *s);

/* the pass is over at this time: rows are stored, tokens written, and texts that are complete leave */
void simulated_advance(struct simulation *s, uint64_t now);
#endif
