/* model.c -- the table of settings, and two questions that are asked of them again and again.

   The rows of settings.inc become entries here. With one number for every kind of setting, those
   who list, write or compare settings need no case for each. */

#include <stddef.h>
#include "model/model.h"

/* the words of a row as truth values, and the greatest count that a file may give */
enum { MOST = 0x7fffffff, setting_hidden = SETTING_HIDDEN,
  setting_shown = SETTING_SHOWN, setting_set = SETTING_SHOWN_IF_SET, setting_other = 0,
  setting_same = 1, setting_free = 0, setting_sized = 1, setting_host = 0,
  setting_device = 1 };
#define SETTING(kind, name, min, max, shown, same, sized, device) \
  { #name, SETTING_##kind, offsetof(struct model_config, name), min, max, \
    (enum setting_listed) setting_##shown, setting_##same, setting_##sized, setting_##device },
#define PART(type, name, length)
const struct setting config_setting[N_MODEL_SETTINGS] = {
#include "model/settings.inc"
};
#undef SETTING
#undef PART

double setting_value(const struct setting *s, const struct model_config *c)
{
  const char *at = (const char *) c + s->at;
  switch (s->kind) {
  case SETTING_COUNT: return *(const uint32_t *) (const void *) at;
  case SETTING_REAL: return *(const double *) (const void *) at;
  case SETTING_FLAG: return *(const bool *) at;
  case SETTING_CURVE: return *(const enum activation_kind *) (const void *) at;
  }
  return 0;
}

void setting_put(const struct setting *s, struct model_config *c, double x)
{
  void *at = (char *) c + s->at;
  switch (s->kind) {
  case SETTING_COUNT: *(uint32_t *) at = (uint32_t) x; break;
  case SETTING_REAL: *(double *) at = x; break;
  case SETTING_FLAG: *(bool *) at = x != 0; break;
  case SETTING_CURVE: *(enum activation_kind *) at = (enum activation_kind) x;
  }
}

/* A device that lacks a switch would leave it out, and nothing in the result would show it. */
bool kernels_check_settings(const struct kernels *k, const struct model_config *c,
  const char *path, struct error *why)
{
  for (int i = 0; i < N_MODEL_SETTINGS && !k->memory->is_host; i++)
    if (!config_setting[i].device && setting_value(&config_setting[i], c) != 0)
      return error_say(why, "%s: has a setting that kernels %s do not know, %s;"
        " wanted: the host's kernels", path, k->name, config_setting[i].name);
  return true;
}

bool setting_is_listed(const struct setting *s, const struct model_config *c)
{
  return s->listed == SETTING_SHOWN
    || (s->listed == SETTING_SHOWN_IF_SET && setting_value(s, c) != 0);
}

uint32_t config_rotary(const struct model_config *c)
{ return c->rotary == 0 ? c->head_dim : c->rotary; }
bool config_turns(const struct model_config *c, uint32_t layer)
{ return !c->some_unturned || (c->unturned[layer / 8] >> layer % 8 & 1) == 0; }
bool config_turns_locally(const struct model_config *c, uint32_t layer)
{ return c->rope.local_theta > 0 && config_window(c, layer) > 0; }

bool config_sparse(const struct model_config *c, uint32_t layer)
{ return c->n_experts > 0 && (!c->some_dense || (c->dense[layer / 8] >> layer % 8 & 1) == 0); }
uint32_t config_sparse_layers(const struct model_config *c)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->n_layers && c->n_experts > 0; i++) n += config_sparse(c, i);
  return n;
}

uint32_t config_widest(const struct model_config *c)
{
  uint32_t most = config_sparse_layers(c) < c->n_layers ? c->d_inner : 0;
  if (c->n_experts > 0 && c->d_expert > most) most = c->d_expert;
  return c->n_experts > 0 && c->d_shared > most ? c->d_shared : most;
}

uint32_t config_window(const struct model_config *c, uint32_t layer)
{
  bool near = c->window_listed
    ? c->windowed[layer / 8] >> layer % 8 & 1 : layer >= c->window_from;
  return near ? c->window : 0;
}

/* If memory is short you can ask for a window in a model that was made without one. The caller
   passes a copy of the settings, because the model itself is not changed: others may be reading
   it, and the window belongs to one store. With sinks a text may go on without end, since its
   positions are not renumbered; a table of learned positions has an end, so it gets none. */
bool config_set_window(struct model_config *c, uint32_t window, uint32_t sinks,
  struct error *why)
{
  if (sinks > 0 && window == 0)
    return error_say(why, "%u sinks without a window; wanted: a window, or no sinks", sinks);
  if (sinks > 0 && c->learned_positions)
    return error_say(why, "%u sinks for a model whose positions are learned;"
      " wanted: none, or a model that turns its keys", sinks);
  c->window = window, c->sinks = sinks;
  c->window_from = 0, c->window_listed = false;
  return true;
}
