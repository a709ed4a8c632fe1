/* later_shapes.c -- the published shapes that chapter 6 does not print, and what a published model has
   otherwise than its family.

   The numbers are those of the settings that were published with the weights; a test compares the sums
   with the published numbers of weights. A line is as in chapter 6: vocabulary, context, the width and the
   width inside an MLP; layers, heads, heads of keys and values, the width of a head, the window; whether the
   head is the embedding; and how many experts there are, how many compute a row, and how wide each is. */

#include <string.h>
#include "accounts/accounts.h"
#include "accounts/switched.h"
#include "families/config.h"

static const struct named_shape later[] =
  { {"qwen3-0.6b", "qwen3", "Yang and others 2025", 151936, 40960, 1024, 3072,
    28, 16, 8, 128, 0, true, 0, 0, 0},
  {"qwen3-8b", "qwen3", "Yang and others 2025", 151936, 40960, 4096, 12288,
    36, 32, 8, 128, 0, false, 0, 0, 0},
  {"gemma-2b", "gemma", "its settings, 2024", 256000, 8192, 2048, 16384,
    18, 8, 1, 256, 0, true, 0, 0, 0},
  {"gemma2-2b", "gemma2", "its settings, 2024", 256000, 8192, 2304, 9216,
    26, 8, 4, 256, 4096, true, 0, 0, 0},
  {"gemma2-9b", "gemma2", "its settings, 2024", 256000, 8192, 3584, 14336,
    42, 16, 8, 256, 4096, true, 0, 0, 0},
  {"gemma3-270m", "gemma3_text", "its settings, 2025", 262144, 32768, 640, 2048,
    18, 4, 1, 256, 512, true, 0, 0, 0},
  {"gemma3-1b", "gemma3_text", "its settings, 2025", 262144, 32768, 1152, 6912,
    26, 4, 1, 256, 512, true, 0, 0, 0},
  {"phi-2", "phi", "its settings, 2023", 51200, 2048, 2560, 10240,
    32, 32, 32, 80, 0, false, 0, 0, 0},
  {"phi3-mini", "phi3", "its settings, 2024", 32064, 4096, 3072, 8192,
    32, 32, 32, 96, 2047, false, 0, 0, 0},
  {"phi4-mini", "phi3", "its settings, 2025", 200064, 131072, 3072, 8192,
    32, 24, 8, 128, 0, true, 0, 0, 0},
  {"smollm3-3b", "smollm3", "its settings, 2025", 128256, 65536, 2048, 11008,
    36, 16, 4, 128, 0, true, 0, 0, 0},
  {"granite-3.1-2b", "granite", "its settings, 2024", 49155, 131072, 2048, 8192,
    40, 32, 8, 64, 0, true, 0, 0, 0},
  {"ministral-8b", "ministral", "its settings, 2024", 131072, 32768, 4096, 12288,
    36, 32, 8, 128, 32768, false, 0, 0, 0},
  {"ministral3-3b", "ministral3", "its settings, 2025", 131072, 262144, 3072, 9216,
    26, 32, 8, 128, 0, true, 0, 0, 0},
  {"seed-oss-36b", "seed_oss", "its settings, 2025", 155136, 524288, 5120, 27648,
    64, 80, 8, 128, 0, false, 0, 0, 0},
  {"ernie4.5-0.3b", "ernie4_5", "its settings, 2025", 103424, 131072, 1024, 3072,
    18, 16, 2, 128, 0, true, 0, 0, 0},
  {"olmo2-7b", "olmo2", "its settings, 2024", 100352, 4096, 4096, 11008,
    32, 32, 32, 128, 0, false, 0, 0, 0},
  {"exaone4-32b", "exaone4", "its settings, 2025", 102400, 131072, 5120, 27392,
    64, 40, 8, 128, 4096, false, 0, 0, 0},
  {"pythia-1.4b", "gpt_neox", "its settings, 2023", 50304, 2048, 2048, 8192,
    24, 16, 16, 128, 0, false, 0, 0, 0},
  {"neox-20b", "gpt_neox", "its settings, 2022", 50432, 2048, 6144, 24576,
    44, 64, 64, 96, 0, false, 0, 0, 0},
  {"falcon-7b", "falcon", "its settings, 2023", 65024, 2048, 4544, 18176,
    32, 71, 1, 64, 0, true, 0, 0, 0},
  {"falcon-40b", "falcon", "its settings, 2023", 65024, 2048, 8192, 32768,
    60, 128, 8, 64, 0, true, 0, 0, 0},
  {"stablelm-3b", "stablelm", "its settings, 2023", 50304, 4096, 2560, 6912,
    32, 32, 32, 80, 0, false, 0, 0, 0},
  {"command-r-35b", "cohere", "its settings, 2024", 256000, 8192, 8192, 22528,
    40, 64, 64, 128, 0, true, 0, 0, 0},
  {"command-r7b", "cohere2", "its settings, 2024", 256000, 131072, 4096, 14336,
    32, 32, 8, 128, 4096, true, 0, 0, 0},
  {"qwen1.5-moe-a2.7b", "qwen2_moe", "its settings, 2024", 151936, 8192, 2048, 5632,
    24, 16, 16, 128, 0, false, 60, 4, 1408} };

const struct named_shape *later_shape_at(size_t i)
{ return i < sizeof later / sizeof *later ? &later[i] : NULL; }

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
