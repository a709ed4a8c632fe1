/* config.c -- config.json, and after it generation_config.json. */
#include "fuzz.h"
#include "families/config.h"

FUZZ(config)
{
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  struct model_config c;
  const uint8_t *part;
  size_t all = size, n = next_part(&data, &size, &part);
  scratch_file("config.json", part, n);
  if (size > 0)
    scratch_file("generation_config.json", data, size);
  else
    scratch_drop("generation_config.json");
  bool opened = config_open(&c, &m, scratch(), &why);
  cheap(&m, all);
  if (!opened)
    must(why.text[0] != '\0' && strchr(why.text, '\n') == NULL);
  else {
    must(c.n_eos <= CONFIG_MAX_EOS && c.vocab_size > 0 && c.n_layers > 0 && c.n_heads > 0
      && c.n_kv_heads > 0 && c.n_heads % c.n_kv_heads == 0 && c.head_dim > 0 && c.d_model > 0);
    for (uint32_t i = 0; i < c.n_eos; i++) must(c.eos[i] < UINT32_MAX);
    for (size_t i = 0; i < c.n_ignored; i++) must(strlen(c.ignored[i].field) > 0 || 1);
    config_close(&m, &c);
  }
  must(m.all.live == 0);
  return 0;
}
