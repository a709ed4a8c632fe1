/* settings.h -- the settings of a model: one table, with a row for each number and switch.

   The switches tell GPT-2 from Llama and its kin: LayerNorm or RMSNorm, a learned vector for each
   position or rotations, a gate in the MLP or none, a bias here and there. The pass asks these
   switches and never for the name of a family.
   What else must know a setting? Its reader must know its bounds; a listing prints it; a file that
   we write must say it, and is read again to see whether it does; the formula for a model's memory
   may count it; a device may be unable to compute it. If each of these had its own list, a new
   setting would be missing from one of them, and nobody would notice until a model wrote nonsense.
   So settings.inc has the rows, and even the structure is made of them. */

#ifndef INCIPIT_SETTINGS_H
#define INCIPIT_SETTINGS_H
#include "model/kernel.h"
#include "model/rope.h"

/* the advice of a model's maker on how to choose tokens, which chapter 7 follows; what is not
   given has the value that does nothing */
struct sampling_defaults {
  bool do_sample;
  double temperature, top_p, min_p, typical_p, repetition_penalty;
  uint32_t top_k, no_repeat_ngram_size;
};

/* the most end tokens that settings may name, and the most layers whose windows may
   be listed */
enum { CONFIG_MAX_EOS = 16, CONFIG_MAX_LISTED = 1024 };

/* the most experts that a layer may have */
enum { EXPERTS_MOST = 1024 };

/* a setting that changes nothing, and why we think so */
struct ignored_field { const char *file, *field, *reason; };

/* The rows are included three times: here each becomes a member of the structure, below a number
   of its own, and in model.c an entry of the table. SETTING is one number or switch, PART is
   anything else, which the code that reads and writes it knows by name. */

/* positions, widths, numbers of things */
typedef uint32_t setting_COUNT;

/* a factor, or a small number beside a sum */
typedef double setting_REAL;

/* a switch */
typedef bool setting_FLAG;

/* which function the MLP applies */
typedef enum activation_kind setting_CURVE;
#define SETTING(kind, name, ...) setting_##kind name;
#define PART(type, name, length) type name length;

/* the settings of a model; positions, widths and counts are numbers of elements */
struct model_config {
#include "model/settings.inc"
};
#undef SETTING
#undef PART

/* uint32_t, double, bool, enum activation_kind */
enum setting_kind { SETTING_COUNT, SETTING_REAL, SETTING_FLAG, SETTING_CURVE };
#define SETTING(kind, name, ...) SETTING_##name,
#define PART(type, name, length)

/* the numbers of the rows */
enum { /* SETTING_d_model for d_model */
#include "model/settings.inc"
  N_MODEL_SETTINGS };
#undef SETTING
#undef PART

/* whether a listing shows a setting: never, always, or only if it is not zero */
enum setting_listed { SETTING_HIDDEN, SETTING_SHOWN, SETTING_SHOWN_IF_SET };

/* whether a listing shows it; whether a file must keep it; whether the number of
   weights depends on it; whether a device's kernels know it */
struct setting {
  const char *name;
  enum setting_kind kind;
  size_t at; /* in struct model_config */
  double min, max;
  enum setting_listed listed;
  bool same, sized, device;
};

/* one for each number and switch */
extern const struct setting config_setting[N_MODEL_SETTINGS];

/* what c has there; of a switch 0 or 1 */
double setting_value(const struct setting *s, const struct model_config *c);

/* puts x, which is within the bounds, there */
void setting_put(const struct setting *s, struct model_config *c, double x);

/* whether k knows every setting that is not zero; a host's kernels know all. Error:
   the first that it does not know, by name */
bool kernels_check_settings(const struct kernels *k, const struct model_config *c,
  const char *path, struct error *why);

/* whether a listing of c has a line for it */
bool setting_is_listed(const struct setting *s, const struct model_config *c);

/* how many numbers of each head are turned; with learned positions as many as a head has */
uint32_t config_rotary(const struct model_config *c);

/* whether layer turns queries and keys; of a model with rotations */
bool config_turns(const struct model_config *c, uint32_t layer);

/* whether layer turns them by the second base: a window, in a model that has one for windows */
bool config_turns_locally(const struct model_config *c, uint32_t layer);

/* whether layer has experts */
bool config_sparse(const struct model_config *c, uint32_t layer);

/* how many layers have experts */
uint32_t config_sparse_layers(const struct model_config *c);

/* the width of the widest MLP, expert or not */
uint32_t config_widest(const struct model_config *c);

/* positions that a row sees in layer, itself included; 0: all */
uint32_t config_window(const struct model_config *c, uint32_t layer);

/* makes all layers see the last window positions, 0: all, and the first sinks;
   errors: sinks without a window, or in a model with learned positions (Xiao and
   others 2023) */
bool config_set_window(struct model_config *c, uint32_t window, uint32_t sinks,
  struct error *why);
#endif
