/* other_kinds.h -- what a model is whose family we do not run. */
#ifndef INCIPIT_OTHER_KINDS_H
#define INCIPIT_OTHER_KINDS_H

/* Behind a name that was refused, a few words on the reason, beginning with a comma; "" if we know of none. Of
   the names in config.json and in GGUF files; null is a name that nobody knows. */
const char *other_kind(const char *name);

/* and then the list of all families helps nobody */
#define OTHER_KIND_WANTED "a model that continues texts and keeps a cache, as llama or qwen3"
#endif
