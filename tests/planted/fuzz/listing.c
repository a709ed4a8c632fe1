/* listing.c -- a name of a model, as it is typed, and what the hub answers about it. Whatever the answer says, what is chosen has a
 * name below a folder of ours, a size and a sum. */
#include "fuzz.h"
#include "hub.h"

static bool is_below(const char *name)
{
  if (name[0] == '/' || name[0] == '\0' || name[0] == '.' || strlen(name) >= HUB_FILE) return false;
  for (const char *at = name; *at != '\0'; at++)
    if (*at <= ' ' || *at >= 0x7f || *at == '\\' || (*at == '/' && (at[1] == '/' || at[1] == '.' || at[1] == '\0'))) return false;
  return true;
}
static void check_file(const struct hub_file *f)
{
  must(is_below(f->name) && hub_file_fits(f->name) && f->bytes <= HUB_MAX_BYTES);
  must(strlen(f->sum) == (f->kind == SUM_SHA256 ? 64u : 40u) && strspn(f->sum, "0123456789abcdef") == strlen(f->sum));
}
static void check_chosen(const struct hub_listing *l)
{
  size_t n = 0;
  for (size_t i = 0; i < l->n; i++) {
    n += l->file[i].chosen;
    must(strcmp(l->file[i].name, "config.json") != 0 || i + 1 == l->n);
  }
  must(n > 0 && (l->single == NULL || l->single->chosen));
  for (size_t i = 0; i < l->n; i++) must(l->single == NULL || &l->file[i] <= l->single || !l->file[i].chosen);
}
FUZZ(listing)
{
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  struct hub_listing l;
  struct hub_name name = { .repo = "org/name" };
  const uint8_t *part;
  char typed[600];
  size_t all = size, n = next_part(&data, &size, &part);
  snprintf(typed, sizeof typed, "%.*s", (int) (n < 599 ? n : 599), (const char *) part);
  if (hub_name_parse(typed, &name, &why)) {
    must(is_below(name.repo) && (name.file[0] == '\0' || is_below(name.file)) && strchr(name.repo, '/') == strrchr(name.repo, '/'));
    must(name.revision[0] == '\0' || (hub_revision_fits(name.revision) && is_below(name.revision)));
  }
  else must(why.text[0] != '\0' && strchr(why.text, '\n') == NULL);
  why.text[0] = '\0';
  if (!hub_listing_read(&m, "org/name", (const char *) data, size, &l, &why)) must(why.text[0] != '\0' && strchr(why.text, '\n') == NULL);
  else {
    for (size_t i = 0; i < l.n; i++) check_file(&l.file[i]);
    if (hub_choose(&l, &name, &why)) check_chosen(&l);
    else must(why.text[0] != '\0' && strchr(why.text, '\n') == NULL);
    hub_listing_free(&m, &l);
  }
  cheap(&m, all);
  must(m.all.live == 0);
  return 0;
}
