/* find_shape.c -- the settings of a published model, by the name of its shape.

   The table itself is in shapes.inc. A shape has the numbers in which models of a family differ;
   everything else is as its family has it, so the settings begin as those of the family. */

#include <stdio.h>
#include <string.h>
#include "accounts/accounts.h"
#include "accounts/switched.h"
#include "families/config.h"

static void shape_settings(const struct named_shape *s, struct model_config *c)
{
  size_t f = 0; /* it ends: the table names only families that there are */
  while (strcmp(config_family(f)->family, s->family) != 0) f++;
  *c = *config_family(f);
  c->vocab_size = s->vocab_size, c->n_positions = s->n_positions;
  c->d_model = s->d_model, c->d_inner = s->d_inner;
  c->n_layers = s->n_layers, c->n_heads = s->n_heads;
  c->n_kv_heads = s->n_kv_heads, c->head_dim = s->head_dim;
  c->window = s->window, c->window_from = 0;
  c->tied = s->tied;
  c->n_experts = s->n_experts, c->n_chosen = s->n_chosen;
  c->d_expert = s->d_expert;
  later_shape_mend(s->name, c);
}

/* If there is no such shape the message lists those that have room in it, since nobody can guess whether it
   is llama2-70b or llama-2-70b, and says where all are. */
bool named_shape_find(const char *name, struct model_config *c, struct error *why)
{
  char list[260] = "";
  size_t left = 0;
  for (size_t i = 0; named_shape_at(i) != NULL; i++) {
    const struct named_shape *s = named_shape_at(i);
    if (strcmp(s->name, name) == 0) {
      shape_settings(s, c);
      return true;
    }
    if (left > 0 || strlen(list) + strlen(s->name) + 3 > sizeof list) left++;
    else snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
      i > 0 ? ", " : "", s->name);
  }
  return error_say(why, "no shape is called `%.40s'; wanted: one of %s, or of %zu more, which --shape"
    " list shows", name, list, left);
}
