/* jsonfile.h -- made from workshop/02-safetensors.w; change it there */

#ifndef INCIPIT_JSONFILE_H
#define INCIPIT_JSONFILE_H
#include <jansson.h>
#include "ground/ground.h"

/* bytes */
enum { SETTINGS_MOST = 1 << 20, INDEX_MOST = 16 << 20 };

/* the value in a file, to be released with json_decref; strict: duplicate keys, bad
   UTF-8, more than most bytes are errors; null and a sentence */
json_t *json_read(const char *path, size_t most, struct error *why);

/* the value as one would type it, cut to fit into room, for an error's "found";
   returns room */
const char *json_excerpt(json_t *value, char room[64]);
#endif
