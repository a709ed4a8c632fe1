/* published.c -- the published shapes, and what a published model has otherwise than its family.

   The numbers are those of the settings that were published with the weights; a test compares the sums
   with the published numbers of weights. */

#include <string.h>
#include "accounts/accounts.h"
#include "accounts/switched.h"
#include "families/config.h"

static const struct named_shape shapes[] = {
#include "accounts/shapes.inc"
};

const struct named_shape *named_shape_at(size_t i)
{ return i < sizeof shapes / sizeof *shapes ? &shapes[i] : NULL; }

/* The halves of the smaller Falcon share one norm; Phi-4-mini turns three quarters of a head, where Phi-3
   turns all of it; and the shared expert of the first sparse Qwen is as wide as four of the others. */
static const struct { const char *name; int setting; double value; } differs[] =
  { {"falcon-7b", SETTING_shared_norm, 1}, {"phi4-mini", SETTING_rotary, 96},
  {"qwen1.5-moe-a2.7b", SETTING_d_shared, 5632} };

void later_shape_mend(const char *name, struct model_config *c)
{
  if (c->rotary_part > 0) c->rotary = (uint32_t) (c->head_dim * c->rotary_part);
  if (c->window > 0 && c->window_pattern > 0) config_mark_windows(c);
  for (size_t i = 0; i < sizeof differs / sizeof *differs; i++)
    if (strcmp(name, differs[i].name) == 0)
      setting_put(&config_setting[differs[i].setting], c, differs[i].value);
}
