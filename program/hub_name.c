/* hub_name.c -- the names of models on the hub, and the store of those that were fetched.

   A name becomes a part of an address and a folder's name, so it is plain: letters, digits, points, dashes and underlines, nothing that
   begins with a point. The store is a folder with a folder for each ORG and in it one for each NAME; whoever wants to have the room back
   removes a folder. A model is found there only when it is whole: files get their names when their sums are right, and config.json, without
   which a folder is no model, comes last. */

#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "gguf/parts.h"
#include "environment.h"
#include "hub.h"

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

/* a word of a name, which ends at end: not too long, of letters as above, and no folder that is hidden or above */
static bool is_word(const char *text, size_t n)
{
  return n > 0 && n < HUB_WORD && strspn(text, letters) >= n && *text != '.' && *text != '-';
}

/* refs/pr/1 is one, too; the folder's name has a plus for each slash */
bool hub_revision_fits(const char *text)
{
  size_t n = strlen(text);
  if (n == 0 || n >= HUB_REVISION) return false;
  for (const char *at = text; ; at++) {
    size_t k = strcspn(at, "/");
    if (!is_word(at, k)) return false;
    at += k;
    if (*at == '\0') return true;
  }
}

/* What a shell or a terminal would take for something else is not among the letters of a file; each part of its path is a name that is seen. */
bool hub_file_fits(const char *text)
{
  static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=@,()";
  if (strlen(text) >= HUB_FILE) return false;
  for (const char *at = text; ; at++) {
    size_t n = strspn(at, more);
    if (n == 0 || *at == '.' || *at == '-') return false;
    at += n;
    if (*at != '/') return *at == '\0';
  }
}

/* What stands behind the host of an address that was copied from a browser, or of a name as ollama has it; null if this is none. */
static const char *behind_host(const char *text)
{
  static const char *const host[] = { "huggingface.co/", "www.huggingface.co/", "hf.co/" };
  bool address = strncmp(text, "https://", 8) == 0 || strncmp(text, "http://", 7) == 0;
  if (address) text = strstr(text, "//") + 2;
  for (size_t i = 0; i < sizeof host / sizeof *host; i++)
    if (strncmp(text, host[i], strlen(host[i])) == 0) return text + strlen(host[i]);
  return address ? text + strcspn(text, "/") + (strchr(text, '/') != NULL) : NULL;
}

/* The two words of an address of a model are the first two behind the host; what follows is a page, or a file. */
static bool is_address(const char *text, struct error *why)
{
  const char *rest = behind_host(text);
  if (rest == NULL) return false;
  size_t owner = strcspn(rest, "/"), name = rest[owner] == '/' ? strcspn(rest + owner + 1, "/?#@:") : 0;
  if (name == 0) return false;
  error_say(why, "`%.150s' is an address; wanted: the name within it, %.*s", text, (int) (owner + 1 + name < 150 ? owner + 1 + name : 150), rest);
  return true;
}

bool hub_name_parse(const char *text, struct hub_name *n, struct error *why)
{
  memset(n, 0, sizeof *n);
  size_t owner = strcspn(text, "/"), all = strcspn(text, "@:"), revision = 0;
  const char *at = text + all;
  bool ok = owner < all && is_word(text, owner) && is_word(text + owner + 1, all - owner - 1);
  if (ok && *at == '@') {
    revision = strcspn(++at, ":");
    ok = revision < sizeof n->revision;
    if (ok) memcpy(n->revision, at, revision);
    ok = ok && hub_revision_fits(n->revision);
    at += revision;
  }
  if (ok) memcpy(n->repo, text, all);
  if (ok && *at == ':') {
    ok = hub_file_fits(at + 1);
    if (ok) memcpy(n->file, at + 1, strlen(at + 1));
  }
  if (!ok && is_address(text, why)) return false;
  return ok || error_say(why, "`%.200s' is no name of a model; wanted: ORG/NAME, ORG/NAME:FILE or ORG/NAME@REVISION", text);
}

/* A relative path in XDG_CACHE_HOME is to be ignored: the specification says so. */
bool hub_store(char path[PATH_CAP], struct error *why)
{
  const char *cache = environment_get(VARIABLE_CACHE), *home = environment_get(VARIABLE_HOME);
  if (cache != NULL && *cache == '/') return path_join(path, cache, "incipit", why);
  if (home == NULL) return error_say(why, "neither XDG_CACHE_HOME nor HOME says where models are kept; wanted: --dir DIR");
  return path_join(path, home, ".cache/incipit", why);
}

bool hub_place(char path[PATH_CAP], const struct hub_name *n, struct error *why)
{
  char store[PATH_CAP], name[2 * HUB_WORD + HUB_REVISION + 1];
  bool main_one = n->revision[0] == '\0' || strcmp(n->revision, "main") == 0;
  int k = snprintf(name, sizeof name, "%s", n->repo);
  if (!main_one) snprintf(name + k, sizeof name - (size_t) k, "@%s", n->revision);
  for (char *at = name + k; *at != '\0'; at++)
    if (*at == '/') *at = '+';
  return hub_store(store, why) && path_join(path, store, name, why);
}

/* ---- one of several GGUF files */

static bool ends_with(const char *text, const char *end)
{
  size_t n = strlen(text), k = strlen(end);
  return n >= k && strcasecmp(text + n - k, end) == 0;
}

static const char *last_part(const char *name)
{
  const char *slash = strrchr(name, '/');
  return slash != NULL ? slash + 1 : name;
}

/* Q4_0 is a word of x-Q4_0.gguf and not of x-Q4_0_4_4.gguf: it ends at a point or a dash, and begins after one, or after an underline */
static bool has_word(const char *name, const char *word)
{
  size_t n = strlen(word), stem = strlen(name) - strlen(".gguf");
  for (size_t i = 0; i + n <= stem; i++)
    if (strncasecmp(name + i, word, n) == 0 && (i == 0 || strchr("._-", name[i - 1]) != NULL)
        && (i + n == stem || strchr(".-", name[i + n]) != NULL)) return true;
  return false;
}

/* Beside a model there may be a file for its eyes, or of what was measured when it was quantized. */
static bool is_model(const char *name)
{
  return ends_with(name, ".gguf") && strncasecmp(name, "mmproj", 6) != 0 && strncasecmp(name, "imatrix", 7) != 0;
}

/* A model in several files is one model, and its first file stands for it; another is meant only by its whole name. */
void hub_pick_offer(struct hub_pick *p, const char *name)
{
  const char *last = last_part(name);
  unsigned no = 1, of = 1;
  gguf_part_named(last, &no, &of);
  if (!is_model(last) || (no > 1 && strcmp(name, p->wanted) != 0 && strcmp(last, p->wanted) != 0)) return;
  bool exact = strcmp(name, p->wanted) == 0 || strcmp(last, p->wanted) == 0;
  bool fits = exact || p->wanted[0] == '\0' || has_word(last, p->wanted);
  size_t used = strlen(p->list);
  p->all++;
  if (exact && p->exact++ == 0) snprintf(p->the, sizeof p->the, "%s", name);
  if (fits && p->fits++ == 0) snprintf(p->one, sizeof p->one, "%s", name);
  if (fits) snprintf(p->list + used, sizeof p->list - used, "%s%s", used > 0 ? ", " : "", last);
}

const char *hub_pick_end(const struct hub_pick *p, const char *of, struct error *why)
{
  if (p->exact == 1) return p->the;
  if (p->exact == 0 && p->fits == 1) return p->one;
  if (p->fits == 0) error_say(why, "%s has no GGUF file `%s'; wanted: the name of one of its %zu, or a word of it, as Q4_K_M", of, p->wanted, p->all);
  else if (p->wanted[0] == '\0') error_say(why, "%s has %zu GGUF files: %s; wanted: one of them, as %s:%s", of, p->fits, p->list, of, last_part(p->one));
  else error_say(why, "`%s' fits %zu GGUF files of %s: %s; wanted: one by its name", p->wanted, p->fits, of, p->list);
  return NULL;
}

/* ---- the store */

static void see_folder(const char *folder, const char *below, void (*see)(void *ctx, const char *name), void *ctx)
{
  char path[PATH_CAP], name[HUB_FILE];
  DIR *d = opendir(folder);
  for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL; ) {
    struct stat about;
    if (e->d_name[0] == '.' || (size_t) snprintf(name, sizeof name, "%s%s", below, e->d_name) >= sizeof name) continue;
    if (!path_join(path, folder, e->d_name, NULL) || stat(path, &about) != 0) continue;
    if (S_ISREG(about.st_mode) && ends_with(name, ".gguf")) see(ctx, name);
    if (!S_ISDIR(about.st_mode) || below[0] != '\0') continue;
    snprintf(name, sizeof name, "%.*s/", HUB_FILE - 2, e->d_name);
    see_folder(path, name, see, ctx);
  }
  if (d != NULL) closedir(d);
}

void hub_each_gguf(const char *folder, void (*see)(void *ctx, const char *name), void *ctx)
{
  see_folder(folder, "", see, ctx);
}

static void offer(void *ctx, const char *name)
{
  hub_pick_offer(ctx, name);
}

enum hub_found hub_find(char path[PATH_CAP], const struct hub_name *n, struct error *why)
{
  char folder[PATH_CAP], config[PATH_CAP];
  struct hub_pick pick = { .wanted = n->file };
  if (!hub_place(folder, n, NULL)) return HUB_ABSENT;
  if (n->file[0] == '\0' && path_find(config, folder, "config.json", F_OK)) {
    memcpy(path, folder, PATH_CAP);
    return HUB_FOUND;
  }
  hub_each_gguf(folder, offer, &pick);
  if (pick.fits == 0) return HUB_ABSENT;
  const char *name = hub_pick_end(&pick, n->repo, why);
  return name != NULL && path_join(path, folder, name, why) ? HUB_FOUND : HUB_UNCLEAR;
}

/* Is it the path of something that was mistyped rather than a name? There is a folder of its first part, or it ends as a file does. */
static bool is_mistyped(const char *text, const struct hub_name *n)
{
  char owner[HUB_WORD];
  snprintf(owner, sizeof owner, "%.*s", (int) strcspn(n->repo, "/"), n->repo);
  return access(owner, F_OK) == 0 || (n->file[0] == '\0' && ends_with(text, ".gguf"));
}

bool hub_resolve(const char **text, char room[PATH_CAP], struct error *why)
{
  struct hub_name n;
  if (*text == NULL || access(*text, F_OK) == 0) return true;
  if (!hub_name_parse(*text, &n, NULL)) return !is_address(*text, why);
  switch (hub_find(room, &n, why)) {
  case HUB_FOUND: *text = room; return true;
  case HUB_UNCLEAR: return false;
  case HUB_ABSENT: break;
  }
  return is_mistyped(*text, &n) || error_say(why, "%s: there is no such file or directory, and this model was not fetched; nothing is"
    " downloaded unasked: incipit pull %s fetches it", *text, *text);
}
