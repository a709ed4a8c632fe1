/* prefix_file.h -- the pages of an index of prefixes in a file, so that a server need not read its system prompt
   again when it is started again. */
#ifndef INCIPIT_PREFIX_FILE_H
#define INCIPIT_PREFIX_FILE_H
#include "serving/prefix.h"

/* what rows depend on besides tokens, summed up by the caller: the model, and whatever setting changes a row */
enum { PREFIX_KEY = 32 };

/* writes all entries to a new file, which then takes the place of path; errors: memory, and those of the file */
bool prefix_save(const struct prefix_index *x, const char *path, const unsigned char key[PREFIX_KEY], struct error *why);

/* enters what a file has into an empty index, as far as there are pages, the most recently used first. The cache has no
   sequence with rows. Errors: the file cannot be read, is no such file, is damaged, or has another key, or pages of another
   size; then the index is as it was */
bool prefix_load(struct prefix_index *x, const char *path, const unsigned char key[PREFIX_KEY], struct error *why);
#endif
