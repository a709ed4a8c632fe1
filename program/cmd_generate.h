/* cmd_generate.h -- the counters of a run by name, as generate --stats, --json and trace print
   them. */
#ifndef INCIPIT_CMD_GENERATE_H
#define INCIPIT_CMD_GENERATE_H
#include "decode_setup.h"
#include "json.h"
#include "model/counters.h"

/* counter i < N_COUNTERS, and its name */
uint64_t counters_at(const struct counters *c, int i, const char **name);

/* writes an object with all of them */
void counters_put(struct json_writer *j, const struct counters *c);
#endif
