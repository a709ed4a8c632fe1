/* open.c -- the settings of a model, wherever they are: in a directory, or among the keys of a file.

   The two readers fill one structure and know nothing of each other; this file stands above both. What
   the path is, its first bytes say, and not its name. */

#include "families/gguf_settings.h"

bool config_open_with(struct model_config *c, struct memory *m,
  const char *directory, struct config_options *o, struct error *why)
{
  struct config_options none = { .n_ignore = 0 };
  if (o == NULL) o = &none;
  return gguf_recognizes(directory) ? gguf_settings_open(c, m, directory, o, why)
    : config_read_directory(c, m, directory, o, why);
}

bool config_open(struct model_config *c, struct memory *m, const char *directory,
  struct error *why)
{
  return config_open_with(c, m, directory, NULL, why);
}
