/* cmd_pull.c -- incipit pull: what is fetched is listed first; then it comes, file by file, and goes on where it stopped.

   A folder is a model when its config.json is there, and that comes last; so does the first of several GGUF files. So an older one is
   removed before anything else in the store is replaced, and a pull that is stopped leaves no model that is half of one version and half of another. In a folder of the user's (--dir)
   nothing is replaced or removed. Two at once in one folder would write into the same part: the folder is locked, which costs no file and
   ends with the process. */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "gguf/parts.h"
#include "ground/timing.h"
#include "families/config.h"
#include "templates/conversations.h"
#include "command.h"
#include "hub.h"

/* 998 bytes, 1.4 kB, 988.1 MB, 1.503 GB */
static const char *size_text(uint64_t bytes, char text[24])
{
  double x = (double) bytes;
  if (bytes < 1000) snprintf(text, 24, "%" PRIu64 " bytes", bytes);
  else if (x < 1e6) snprintf(text, 24, "%.1f kB", x / 1e3);
  else if (x < 1e9) snprintf(text, 24, "%.1f MB", x / 1e6);
  else snprintf(text, 24, "%.3f GB", x / 1e9);
  return text;
}

/* ---- what was fetched: pull --list */

/* a folder of the store, and what is in it */
struct shelf {
  const struct console *c;
  struct json_writer *j; /* null: for the screen */
  char store[PATH_CAP], folder[PATH_CAP], name[2 * HUB_WORD + HUB_REVISION];
  size_t shown;
};

static bool is_seen(const char *name)
{
  return name[0] != '.';
}

static void show_model(struct shelf *s, const char *file, const char *path, uint64_t bytes, bool whole)
{
  char name[sizeof s->name + HUB_FILE + 1], size[24];
  snprintf(name, sizeof name, "%s%s%s", s->name, file[0] != '\0' ? ":" : "", file);
  s->shown++;
  if (s->j == NULL) {
    fprintf(s->c->out, "%s  %s%s\n", name, size_text(bytes, size), whole ? "" : ", not whole: the same pull goes on");
    return;
  }
  writer_open(s->j, '{');
  put_words_as(s->j, "model", name);
  put_words_as(s->j, "path", path);
  put_count_as(s->j, "bytes", bytes);
  put_word_as(s->j, "whole", whole ? "true" : "false");
  writer_close(s->j, '}');
}

/* A model in several files is one line: under the first of those that are here, with the bytes of all. */
static bool take_parts(const struct shelf *s, const char *name, uint64_t *bytes, bool *whole)
{
  char part[HUB_FILE + 20], path[PATH_CAP];
  unsigned no = 1, of = 1;
  size_t stem = gguf_part_named(name, &no, &of);
  *bytes = 0, *whole = of <= GGUF_MAX_PARTS;
  for (unsigned i = 1; i <= of && (i <= no || *whole); i++) {
    struct stat about;
    snprintf(part, sizeof part, "%.*s-%05u-of-%05u.gguf", (int) stem, name, i, of);
    bool here = path_join(path, s->folder, stem > 0 ? part : name, NULL) && stat(path, &about) == 0;
    if (here && i < no) return false;
    if (here) *bytes += (uint64_t) about.st_size;
    *whole = *whole && here;
  }
  return true;
}

static void show_gguf(void *ctx, const char *name)
{
  struct shelf *s = ctx;
  char path[PATH_CAP];
  uint64_t bytes;
  bool whole;
  if (path_join(path, s->folder, name, NULL) && take_parts(s, name, &bytes, &whole)) show_model(s, name, path, bytes, whole);
}

/* the folder as a model, if it is one; what is not whole; and its GGUF files */
static void show_folder(struct shelf *s)
{
  char path[PATH_CAP];
  uint64_t whole = 0, part = 0;
  DIR *d = opendir(s->folder);
  for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL; ) {
    struct stat about;
    size_t n = strlen(e->d_name);
    if (!path_join(path, s->folder, e->d_name, NULL) || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) continue;
    if (n > 5 && strcmp(e->d_name + n - 5, ".part") == 0) part += (uint64_t) about.st_size;
    else if (n < 5 || strcmp(e->d_name + n - 5, ".gguf") != 0) whole += (uint64_t) about.st_size;
  }
  if (d != NULL) closedir(d);
  bool is_model = path_find(path, s->folder, "config.json", F_OK);
  if (is_model || part > 0) show_model(s, "", s->folder, is_model ? whole : part, is_model);
  hub_each_gguf(s->folder, show_gguf, s);
}

/* calls see for each folder in a folder, by name */
static void each_folder(const char *folder, void (*see)(struct shelf *s, const char *name), struct shelf *s)
{
  struct dirent **list = NULL;
  int n = scandir(folder, &list, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    if (is_seen(list[i]->d_name)) see(s, list[i]->d_name);
    free(list[i]);
  }
  free(list);
}

static void see_model(struct shelf *s, const char *name)
{
  char owner[PATH_CAP];
  size_t n = strcspn(s->name, "/");
  memcpy(owner, s->folder, sizeof owner);
  if (!path_join(s->folder, owner, name, NULL)) return;
  snprintf(s->name + n, sizeof s->name - n, "/%s", name);
  for (char *at = s->name + n + 1; *at != '\0'; at++)
    if (*at == '+') *at = '/';
  show_folder(s);
  memcpy(s->folder, owner, sizeof owner);
}

static void see_owner(struct shelf *s, const char *name)
{
  snprintf(s->name, sizeof s->name, "%.*s", HUB_WORD, name);
  if (path_join(s->folder, s->store, name, NULL)) each_folder(s->folder, see_model, s);
}

static int list_models(const struct console *c, const struct command_line *w)
{
  struct json_writer j = { c->out, '\0' };
  struct shelf s = { .c = c, .j = w->of[OPTION_JSON].given ? &j : NULL };
  struct error why;
  char words[PATH_CAP + 60];
  if (!hub_store(s.store, &why)) return console_fail(c, &why);
  if (s.j != NULL) writer_open(&j, '{');
  if (s.j != NULL) put_words_as(&j, "store", s.store), put_open_as(&j, "models", '[');
  each_folder(s.store, see_owner, &s);
  if (s.j != NULL) {
    writer_close(&j, ']');
    writer_close(&j, '}');
    writer_end(&j);
    return STATUS_DONE;
  }
  snprintf(words, sizeof words, s.shown > 0 ? "they are in %s, a folder each; rm -r removes one" : "nothing was fetched yet; it would be in %s",
    s.store);
  session_hint(c, w, words);
  return STATUS_DONE;
}

#ifdef INCIPIT_CURL
/* ---- fetching */

struct pull {
  const struct console *c;
  const struct command_line *w;
  struct hub_name n;
  struct hub_listing l;
  struct hub_net *h;
  struct waiting wait;
  char folder[PATH_CAP];
  int lock;
  bool *here; /* of the listing's files */
  const struct hub_file *now; /* of which the wait tells */
  double began;
  uint64_t first, fetched;
  struct error why;
};

static uint64_t bytes_of(const struct pull *p, bool missing)
{
  uint64_t n = 0;
  for (size_t i = 0; i < p->l.n; i++)
    if (p->l.file[i].chosen && !(missing && p->here[i])) n += p->l.file[i].bytes - (missing ? hub_begun(p->folder, &p->l.file[i]) : 0);
  return n;
}

/* where the model will be: a folder, or a file in it */
static bool model_path(const struct pull *p, char path[PATH_CAP], struct error *why)
{
  if (p->l.single != NULL) return path_join(path, p->folder, p->l.single->name, why);
  memcpy(path, p->folder, PATH_CAP);
  return true;
}

static void show_list(const struct pull *p)
{
  char size[24], begun[24];
  FILE *out = p->c->out;
  fprintf(out, "%s at %.10s\n", p->n.repo, p->l.commit);
  for (size_t i = 0; i < p->l.n; i++) {
    const struct hub_file *f = &p->l.file[i];
    uint64_t has = hub_begun(p->folder, f);
    if (!f->chosen) continue;
    fprintf(out, "  %-40s %10s", f->name, size_text(f->bytes, size));
    if (p->here[i]) fprintf(out, "  is here");
    else if (has > 0) fprintf(out, "  %s are here", size_text(has, begun));
    fprintf(out, "\n");
  }
  fprintf(out, "together %s, to be fetched %s\n", size_text(bytes_of(p, false), size), size_text(bytes_of(p, true), begun));
}

static void put_result(const struct pull *p, const char *path)
{
  struct json_writer j = { p->c->out, '\0' };
  writer_open(&j, '{');
  put_words_as(&j, "model", p->n.repo);
  put_words_as(&j, "revision", p->n.revision[0] != '\0' ? p->n.revision : "main");
  put_words_as(&j, "commit", p->l.commit);
  put_words_as(&j, "path", path);
  put_open_as(&j, "files", '[');
  for (size_t i = 0; i < p->l.n; i++) {
    const struct hub_file *f = &p->l.file[i];
    if (!f->chosen) continue;
    writer_open(&j, '{');
    put_words_as(&j, "name", f->name);
    put_count_as(&j, "bytes", f->bytes);
    put_words_as(&j, f->kind == SUM_SHA256 ? "sha256" : "git_blob", f->sum);
    put_word_as(&j, "was_here", p->here[i] ? "true" : "false");
    writer_close(&j, '}');
  }
  writer_close(&j, ']');
  put_count_as(&j, "bytes", bytes_of(p, false));
  put_count_as(&j, "fetched_bytes", p->fetched);
  writer_close(&j, '}');
  writer_end(&j);
}

/* bytes of the file that came earlier are not counted as fast */
static void fetching_words(void *ctx, size_t done, size_t all, char text[WAITING_WORDS])
{
  struct pull *p = ctx;
  char has[24], of[24], rate[24];
  double seconds = timing_seconds() - p->began;
  if (all == 0 || seconds <= 0) return;
  if (done < p->first) snprintf(text, WAITING_WORDS, "checking %.30s: %s of %s", p->now->name, size_text(done, has), size_text(all, of));
  else snprintf(text, WAITING_WORDS, "%.30s: %s of %s, %s/s", p->now->name, size_text(done, has), size_text(all, of),
    size_text((uint64_t) ((double) (done - p->first) / seconds), rate));
}

static void begin_wait(struct pull *p, const struct hub_file *f, uint64_t first)
{
  p->now = f;
  p->first = first;
  p->began = timing_seconds();
  waiting_begin(&p->wait, fetching_words, p);
}

/* ---- the folder */

/* the folders on the way to path, which itself is one as well if whole is true */
static bool make_folders(const char *path, bool whole, struct error *why)
{
  char part[PATH_CAP];
  struct stat about;
  memcpy(part, path, strlen(path) + 1);
  for (char *at = part + 1; ; at++) {
    if (*at != '/' && !(*at == '\0' && whole)) {
      if (*at == '\0') return true;
      continue;
    }
    bool last = *at == '\0';
    *at = '\0';
    /* the reason is that of mkdir: that there is no such folder was clear */
    int reason = mkdir(part, 0777) != 0 ? errno : 0;
    if (reason != 0 && (stat(part, &about) != 0 || !S_ISDIR(about.st_mode)))
      return error_say(why, "%s: this folder cannot be made: %s", part, strerror(reason));
    if (last) return true;
    *at = '/';
  }
}

static bool lock_folder(struct pull *p)
{
  p->lock = open(p->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (p->lock >= 0 && flock(p->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return error_say(&p->why, "%s: another incipit fetches into this folder; wanted: to wait until it has", p->folder);
  return p->lock >= 0 || error_say(&p->why, "%s: cannot be opened: %s", p->folder, strerror(errno));
}

/* To find out at the end that the disk is full costs hours. */
static bool check_room(struct pull *p)
{
  struct statvfs disk;
  char wants[24], has[24];
  uint64_t wanted = bytes_of(p, true);
  if (statvfs(p->folder, &disk) != 0) return true;
  double free_bytes = (double) disk.f_bavail * (double) disk.f_frsize;
  return (double) wanted <= free_bytes || error_say(&p->why, "%s: the disk has room for %s; wanted: %s", p->folder,
    size_text((uint64_t) free_bytes, has), size_text(wanted, wants));
}

/* nothing of a user's own folder is replaced */
static bool check_own_folder(struct pull *p)
{
  char path[PATH_CAP];
  for (size_t i = 0; i < p->l.n; i++)
    if (p->l.file[i].chosen && !p->here[i] && path_find(path, p->folder, p->l.file[i].name, F_OK))
      return error_say(&p->why, "%s: this is another file than the hub's, and is not replaced; wanted: a folder without it", path);
  return true;
}

/* What -m finds the model by: the settings of a folder, the first of several files. Settings are small, and fetched again; a file that
   is right is kept. */
static void retire_last(struct pull *p)
{
  char path[PATH_CAP];
  size_t n = 0, last = 0;
  for (size_t i = 0; i < p->l.n; i++)
    if (p->l.file[i].chosen) n++, last = i;
  if (n < 2 || (p->l.single != NULL && p->here[last]) || !path_join(path, p->folder, p->l.file[last].name, NULL)) return;
  unlink(path);
  p->here[last] = false;
}

static bool prepare_folder(struct pull *p)
{
  char path[PATH_CAP];
  if (!make_folders(p->folder, true, &p->why) || !lock_folder(p) || !check_room(p)) return false;
  if (p->w->of[OPTION_DIR].given && !check_own_folder(p)) return false;
  if (!p->w->of[OPTION_DIR].given) retire_last(p);
  return p->l.single == NULL || (model_path(p, path, &p->why) && make_folders(path, false, &p->why));
}

/* ---- from the question to the last file */

static int ask(struct pull *p)
{
  struct memory *m = p->c->memory;
  struct bytes answer = { NULL, 0, 0 };
  char words[WAITING_WORDS];
  snprintf(words, sizeof words, "asking %.60s", hub_net_endpoint(p->h));
  waiting_say(&p->wait, words);
  int status = hub_ask(p->h, &p->n, &answer, &p->why);
  waiting_end(&p->wait);
  if (status == STATUS_DONE && (!hub_listing_read(m, p->n.repo, (const char *) answer.byte, answer.n, &p->l, &p->why)
      || !hub_choose(&p->l, &p->n, &p->why))) status = STATUS_FAILED;
  bytes_free(m, &answer);
  return status;
}

/* what is here already, byte for byte */
static int look(struct pull *p)
{
  const struct option_value *dir = &p->w->of[OPTION_DIR];
  bool ok = dir->given ? path_beside(p->folder, "", dir->text, &p->why) : hub_place(p->folder, &p->n, &p->why);
  p->here = memory_alloc(p->c->memory, MEMORY_OTHER, p->l.n, sizeof *p->here, &p->why);
  if (!ok || p->here == NULL) return STATUS_FAILED;
  for (size_t i = 0; i < p->l.n; i++) {
    if (!p->l.file[i].chosen) continue;
    begin_wait(p, &p->l.file[i], UINT64_MAX);
    p->here[i] = hub_is_here(&p->wait, p->folder, &p->l.file[i]);
    waiting_end(&p->wait);
    if (progress_cancelled(&p->wait.told)) return STATUS_CANCELLED;
  }
  return STATUS_DONE;
}

/* A file of which all bytes have come lacks its name as long as another incipit is at it, or was stopped just then. */
static bool all_here(const struct pull *p)
{
  for (size_t i = 0; i < p->l.n; i++)
    if (p->l.file[i].chosen && !p->here[i]) return false;
  return true;
}

static int fetch_all(struct pull *p)
{
  int status = all_here(p) || prepare_folder(p) ? STATUS_DONE : STATUS_FAILED;
  for (size_t i = 0; status == STATUS_DONE && i < p->l.n; i++) {
    const struct hub_file *f = &p->l.file[i];
    if (!f->chosen || p->here[i]) continue;
    begin_wait(p, f, hub_begun(p->folder, f));
    status = hub_fetch(p->h, &p->n, p->l.commit, p->folder, f, &p->fetched, &p->why);
    waiting_end(&p->wait);
  }
  return status;
}

/* What -m finds it by, and what it is good for. Whoever has fetched a model that cannot be run, an encoder or one in a strange type,
   is told so now, and one that knows no turns is not offered for talks. */
static void hint_at_use(const struct pull *p, const char *path)
{
  char words[PATH_CAP + 80], name[sizeof p->n + 2];
  struct model_config config;
  struct error why;
  bool runs = config_open(&config, p->c->memory, path, &why), talks = runs && chat_template_given(path);
  if (runs) config_close(p->c->memory, &config);
  const char *at = p->n.revision[0] != '\0' ? "@" : "", *file = p->l.single != NULL ? strrchr(path, '/') + 1 : "";
  snprintf(name, sizeof name, "%s%s%s%s%s", p->n.repo, at, p->n.revision, file[0] != '\0' ? ":" : "", file);
  const char *as = p->w->of[OPTION_DIR].given ? path : name;
  if (!runs) snprintf(words, sizeof words, "it cannot be run: %s", why.text);
  else if (talks) snprintf(words, sizeof words, "incipit chat -m %s talks with it", as);
  else snprintf(words, sizeof words, "incipit generate -m %s continues a text; it has no template for talks", as);
  session_hint(p->c, p->w, words);
}

static int pull(struct pull *p)
{
  char path[PATH_CAP];
  bool dry = p->w->of[OPTION_DRY_RUN].given, json = p->w->of[OPTION_JSON].given;
  p->h = hub_net_open(p->c->memory, &p->wait, &p->why);
  if (p->h == NULL) return STATUS_FAILED;
  if (hub_net_hint(p->h) != NULL) session_hint(p->c, p->w, hub_net_hint(p->h));
  if (p->c->hold != NULL) p->c->hold();
  int status = ask(p);
  if (status == STATUS_DONE) status = look(p);
  if (status != STATUS_DONE) return status;
  if (!json) show_list(p);
  if (!json) console_flush(p->c);
  if (!dry) status = fetch_all(p);
  if (status != STATUS_DONE || !model_path(p, path, &p->why)) return status != STATUS_DONE ? status : STATUS_FAILED;
  if (json) put_result(p, path);
  else if (!dry) fprintf(p->c->out, "kept in %s\n", path);
  if (!dry) hint_at_use(p, path);
  return STATUS_DONE;
}

static int run_pull(const struct console *c, const struct command_line *w, const struct hub_name *n)
{
  struct pull *p = memory_alloc(c->memory, MEMORY_OTHER, 1, sizeof *p, NULL);
  struct error why;
  if (p == NULL) return error_say(&why, "there is no memory to fetch with"), console_fail(c, &why);
  *p = (struct pull) { .c = c, .w = w, .n = *n, .lock = -1 };
  waiting_open(&p->wait, c, w);
  int status = pull(p);
  waiting_end(&p->wait);
  if (status == STATUS_FAILED || (status == STATUS_CANCELLED && p->why.text[0] != '\0')) console_fail(c, &p->why);
  if (p->lock >= 0) close(p->lock);
  memory_free(c->memory, p->here);
  hub_listing_free(c->memory, &p->l);
  hub_net_close(p->h);
  memory_free(c->memory, p);
  return status;
}
#else
/* Without libcurl all else is built, and this is what is left of fetching; --list asks nobody, and works. */
static int run_pull(const struct console *c, const struct command_line *w, const struct hub_name *n)
{
  struct error why;
  (void) w;
  (void) n;
  error_say(&why, "this program was built without libcurl; wanted: the library (libcurl4-openssl-dev), and make again");
  return console_fail(c, &why);
}
#endif

int cmd_pull(const struct console *c, const struct command_line *w)
{
  struct hub_name n;
  struct error why;
  const struct option_value *revision = &w->of[OPTION_REVISION];
  if (w->of[OPTION_LIST].given) return list_models(c, w);
  if (!hub_name_parse(w->operand, &n, &why)) return console_usage_error(c, &why);
  if (revision->given && n.revision[0] != '\0') {
    error_say(&why, "--revision contradicts `%s'", w->operand);
    return console_usage_error(c, &why);
  }
  if (revision->given) snprintf(n.revision, sizeof n.revision, "%s", revision->text);
  return run_pull(c, w, &n);
}
