/* jsonfile.h -- made from workshop/02-safetensors.w; change it there */

#ifndef INCIPIT_JSONFILE_H
#define INCIPIT_JSONFILE_H
#include <jansson.h>
#include "ground/ground.h"

/* bytes */
enum { JSONFILE_MAX_SETTINGS = 1 << 20, JSONFILE_MAX_INDEX = 16 << 20 };

/* the value in a file, to be released with json_decref; strict: duplicate keys, bad
   UTF-8, more than max bytes are errors; null and a sentence */
json_t *jsonfile_read(const char *path, size_t max, struct error *why);

/* what jansson found wrong with n bytes of text, in its words or in better ones */
const char *jsonfile_trouble(const json_error_t *found, const char *text, size_t n);

/* the value as one would type it, cut to fit into buffer, for an error's "found";
   returns buffer */
const char *jsonfile_excerpt(json_t *value, char buffer[64]);
#endif
