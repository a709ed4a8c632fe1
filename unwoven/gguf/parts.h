/* parts.h -- a model in one GGUF file, or in several.

   Large models are published in parts, as NAME-00001-of-00004.gguf and so on. Each part is a whole file
   of the format, with a description and tensors; the first has the settings and the vocabulary as well.
   The keys split.no, split.count and split.tensors.count say which part a file is, of how many, and how
   many tensors all of them have. Nothing says of which model: that is what is checked. */

#ifndef INCIPIT_GGUF_PARTS_H
#define INCIPIT_GGUF_PARTS_H
#include "gguf/gguf.h"

/* the largest published models have fewer than a hundred */
enum { GGUF_MAX_PARTS = 1000 };

/* a file: its path, its bytes, and what they say; g points to both */
struct gguf_part { char *path; struct mapping map; struct gguf_file g; };

/* the n>0 files of a model, in their order; the settings are in the first */
struct gguf_parts { struct memory *m; struct gguf_part *part; size_t n; };

/* if a path ends as that of a part does, the length of what is before the ending, and which part of how
   many, counted from 1; else 0 */
size_t gguf_part_named(const char *path, unsigned *no, unsigned *of);

/* maps a file, or all of those that belong to it if it is a part, whichever, and checks each by itself
   and that they belong together; not checked: that no tensor is in two of them. False and a sentence, and
   then nothing is held */
bool gguf_parts_open(struct gguf_parts *p, struct memory *m, const char *path, struct error *why);

/* unmaps them, but for those whose path has been taken away and is null */
void gguf_parts_close(struct gguf_parts *p);
#endif
