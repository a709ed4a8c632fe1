/* model.c -- made from workshop/20-inside.w; change it there */

#include "model/model.h"

/* <Ask for the window of a layer> */
uint32_t config_window(const struct model_config *c, uint32_t layer)
{
  bool near = c->window_listed
    ? c->windowed[layer / 8] >> layer % 8 & 1 : layer >= c->window_from;
  return near ? c->window : 0;
}

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
