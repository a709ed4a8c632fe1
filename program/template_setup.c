/* template_setup.c -- --template, --chat-template, --tools and --kwarg. A name means a row of the table; a file, tools and variables
   are for a program that is run. The built-in model's files know no templates, but we have trained it ourselves, and know which one
   it has learnt. */

#include <jansson.h>
#include <string.h>
#include "safetensors/jsonfile.h"
#include "templates/calls.h"
#include "template_setup.h"

/* the variables of --kwarg; the last of two with one name counts, as with other options. Their JSON was read once, and was right */
static json_t *read_variables(const struct command_line *w)
{
  json_t *all = NULL;
  for (size_t i = 0; i < w->n_repeated; i++) {
    const char *text = w->repeated[i].text, *value = strchr(text, '=');
    if (w->repeated[i].which != OPTION_KWARG || value == NULL) continue;
    if (all == NULL) all = json_object();
    json_object_setn_new(all, text, (size_t) (value - text), json_loads(value + 1, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL));
  }
  return all;
}

/* a list of objects, as OpenAI's interface has them */
static bool read_tools(const struct command_line *w, json_t **tools, struct error *why)
{
  const char *path = w->of[OPTION_TOOLS].text;
  char buffer[64];
  *tools = NULL;
  if (!w->of[OPTION_TOOLS].given) return true;
  if ((*tools = jsonfile_read(path, JSONFILE_MAX_SETTINGS, why)) == NULL) return false;
  if (json_is_array(*tools) && json_array_size(*tools) > 0) return true;
  return error_found(why, path, "the file", jsonfile_excerpt(*tools, buffer), "a list of tools, each an object");
}

/* The model's own template is missing, or cannot be run: then another may be given. */
static void offer_another(struct error *why)
{
  struct error first = *why;
  error_say(why, "%s; --template NAME or --chat-template FILE gives one, and to continue a text none is needed", first.text);
}

const struct chat_template *template_setup_open(const struct session *o, const struct command_line *w, struct error *why)
{
  const struct option_value *of = w->of;
  struct template_settings with = { .file = of[OPTION_CHAT_TEMPLATE].given ? of[OPTION_CHAT_TEMPLATE].text : NULL };
  const struct chat_template *t = NULL;
  bool own = !of[OPTION_MODEL].given && with.file == NULL && !chat_template_given(o->path);
  if (of[OPTION_TEMPLATE].given) return chat_template_named(of[OPTION_TEMPLATE].text, why);
  if (own && (of[OPTION_TOOLS].given || of[OPTION_KWARG].given)) {
    error_say(why, "the built-in model has no template that could be given tools or variables");
    offer_another(why);
    return NULL;
  }
  if (own) return chat_template_named("pocket", why);
  with.variables = read_variables(w);
  bool told = read_tools(w, &with.tools, why);
  if (told) t = chat_template_open(o->m, o->path, &with, why);
  if (told && t == NULL && with.file == NULL) offer_another(why);
  json_decref(with.tools);
  json_decref(with.variables);
  return t;
}

bool template_setup_named(const struct session *o, const struct chat_template *by, struct ids *ends, struct ids *out, struct error *why)
{
  size_t kept = out->n, n;
  if (!conversations_calls(o->m, by, o->t, out, ends, why)) return false;
  for (n = kept; n < out->n; n++) {
    bool end = false;
    for (size_t i = 0; i < ends->n; i++) end = end || ends->id[i] == out->id[n];
    if (!end) out->id[kept++] = out->id[n];
  }
  out->n = kept;
  return true;
}
