/* jsonfile.h -- files of JSON, read whole by the library jansson, and as strictly as the
   headers of tensors.

   UTF-8 throughout, and no key twice: most readers take the last of two and some the first, so
   such a file is two models, and which one you get depends on your tools. It is a header of
   its own so that only what parses JSON includes jansson's. */

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
