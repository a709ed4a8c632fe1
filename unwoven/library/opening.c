/* opening.c -- what every call needs (sentences, sizes, arguments), and models. Each object has
   its own struct memory, because a struct memory may be used by one thread at a time. It is the
   object's first field, and the object's own block is counted in it: so while the object is
   being allocated the count is somewhere else, and it is copied out before the object is freed
   (library_new, library_delete). A model counts its users under a lock: the caller is one, each
   object opened with it another, and the last frees it. After opening, a model is only read,
   but for the lexicon (samplers.c). Arguments are checked before anything is changed. Each
   object is opened in the same way: it is allocated and gets its first user, the caller; its
   parts are opened within an attempt; and if that fails, the object is closed by its own
   function, which accepts that parts are null. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "library/library.h"
#include "families/loader.h"

/* Always false, so that a caller can return it; why may be null in every call of the header. A
   sentence that is too long is cut; those of the chapters always fit, for struct incipit_error
   is larger than struct error. */
bool library_fail(struct incipit_error *why, enum incipit_code code,
  const char *format, ...)
{
  va_list list;
  if (why == NULL) return false;
  why->code = (int) code;
  va_start(list, format);
  vsnprintf(why->text, sizeof why->text, format, list);
  va_end(list);
  return false;
}

bool library_given(const void *p, const char *call, const char *what,
  struct incipit_error *why)
{
  return p != NULL || library_fail(why, INCIPIT_MISUSE,
    "%s: %s is NULL; wanted: a pointer", call, what);
}

bool library_strings(const char *const *list, size_t n, const char *call,
  const char *what, struct incipit_error *why)
{
  if (n > 0 && !library_given(list, call, what, why)) return false;
  for (size_t i = 0; i < n; i++)
    if (list[i] == NULL) return library_fail(why, INCIPIT_MISUSE,
      "%s: %s[%zu] is NULL; wanted: a string", call, what, i);
  return true;
}

/* Was it memory? The chapters report a failure in words alone, so we compare how many requests
   have been refused before and after. A sampler that has a constraint charges two objects with
   what it allocates, itself and the constraint, so an attempt may look at two counts. */
static uint64_t refused_in(const struct attempt *a)
{ return a->m->all.refused + (a->also == NULL ? 0 : a->also->all.refused); }
struct attempt attempt_begin(const struct memory *m)
{
  struct attempt a = { .m = m, .refused = m->all.refused };
  return a;
}

/* a refused request comes before the caller's code: what failed for want of memory
   says nothing about the input */
bool attempt_end(const struct attempt *a, bool ok, enum incipit_code code,
  struct incipit_error *why)
{
  if (ok) return true;
  bool refused = refused_in(a) > a->refused;
  return library_fail(why, refused ? INCIPIT_MEMORY : code, "%s", a->why.text);
}

/* The count is copied in and out as bytes: these two functions know only the size of an object,
   and that it begins with a struct memory. */
void *library_new(size_t size, struct incipit_error *why)
{
  struct memory book = { .fail_at = 0 };
  struct attempt a = attempt_begin(&book);
  void *p = memory_alloc(&book, MEMORY_OTHER, 1, size, &a.why);
  if (attempt_end(&a, p != NULL, INCIPIT_MEMORY, why))
    memcpy(p, &book, sizeof book);
  return p;
}

void library_delete(void *object)
{
  struct memory book;
  memcpy(&book, object, sizeof book);
  memory_free(&book, object);
}

/* mine has the defaults, and what the caller has goes over it. A newer program gives
   more bytes than we know, and these must be 0, or it has asked for something that we
   would ignore. The bound keeps a size that was never set from reading far. */
bool library_options(void *mine, size_t size, const void *theirs, const char *call,
  struct incipit_error *why)
{
  size_t n;
  const unsigned char *byte = theirs;
  if (theirs == NULL) return true;
  memcpy(&n, theirs, sizeof n);
  if (n < size) return library_fail(why, INCIPIT_MISUSE, "%s: the size of the"
    " options is %zu; wanted: %zu, the sizeof of the structure",
    call, n, size);
  for (size_t i = size; i < n && n < 4096; i++)
    if (byte[i] != 0) return library_fail(why, INCIPIT_MISUSE, "%s: byte %zu of the"
      " options is set; wanted: 0, for this library knows only %zu", call, i, size);
  if (n >= 4096) return library_fail(why, INCIPIT_MISUSE,
    "%s: the size of the options is %zu; wanted: below 4096", call, n);
  memcpy(mine, theirs, size);
  memcpy(mine, &size, sizeof size);
  return true;
}

/* For a structure that the library fills in, with defaults or with a report. Its size is an
   argument; the function that fills it in clears what is larger than we know. */
bool library_size(const void *p, size_t size, size_t mine, const char *call,
  struct incipit_error *why)
{
  if (!library_given(p, call, "the structure", why)) return false;
  return (size >= mine && size < 4096) || library_fail(why, INCIPIT_MISUSE,
    "%s: the size is %zu; wanted: %zu, the sizeof of the structure", call, size, mine);
}

bool library_spells(const struct incipit_model *m, const char *call,
  struct incipit_error *why)
{
  if (!library_given(m, call, "the model", why)) return false;
  return m->t != NULL || library_fail(why, INCIPIT_INPUT,
    "%s: %s; wanted: a tokenizer, for this is about a text", call, m->unspelt.text);
}

/* An id that is too large comes from another model or from a variable that was never set, so
   the sentence says which one it was. */
bool library_ids(const struct incipit_model *m, const uint32_t *id, size_t n,
  const char *call, struct incipit_error *why)
{
  if (n > 0 && !library_given(id, call, "the list of ids", why)) return false;
  for (size_t i = 0; i < n; i++)
    if (id[i] >= m->lm->config.vocab_size) return library_fail(why, INCIPIT_MISUSE,
      "%s: id %zu of the list is %u; wanted: below %u, the size of the vocabulary",
      call, i, (unsigned) id[i], (unsigned) m->lm->config.vocab_size);
  return true;
}

/* A model without a tokenizer, or with one of a kind that we do not know, may be opened:
   functions that take ids work, and those that need text say what is missing. A tokenizer that
   exists but is broken is an error. For want of memory a tokenizer may seem to be missing, so
   refusals are looked at as well. */
static bool open_tokenizer(struct incipit_model *x, struct error *why)
{
  enum tokenizer_found found = tokenizer_try(&x->m, x->path, &x->t, &x->unspelt);
  size_t has = found == TOKENIZER_OPEN ? tokenizer_vocab_size(x->t) : 0;
  if (found == TOKENIZER_REFUSED || (x->t == NULL && x->m.all.refused > 0))
    return error_say(why, "%s", x->unspelt.text);
  return has <= x->lm->config.vocab_size || error_say(why, "%s: the tokenizer's"
    " largest id is %zu; wanted: less than %u, the vocab_size of the model",
    x->path, has - 1, (unsigned) x->lm->config.vocab_size);
}

/* Made for the fastest kernels and the usual activations. They belong to the model, so all its
   contexts share them; a context that was asked for other kernels or activations uses the
   weights in the file. */
static bool pack_weights(struct incipit_model *x, struct error *why)
{
  x->prepared = model_prepare(&x->m, kernels_find(NULL, why),
    ACTIVATIONS_DEFAULT, x->lm, why);
  return x->prepared != NULL;
}

/* The directory is the one that the caller has named, or that of the built-in model; a fault in
   it is an error of input. The environment is read when a model is opened, and nowhere else. */
static bool open_files(struct incipit_model *x, const char *directory,
  const struct incipit_model_options *o, struct error *why)
{
  const char *named = getenv("INCIPIT_MODEL");
  struct model_open_options want = { .fields = { .ignore = o->ignore_field,
    .n_ignore = o->n_ignore_field } };
  x->built_in = directory == NULL;
  if (directory == NULL)
    directory = named != NULL && *named != '\0' ? named : library_place();
  if (*directory == '\0')
    return error_say(why, "the directory has no name; wanted: that of a model");
  if (!path_beside(x->path, "", directory, why)) return false;
  x->lm = model_open_with(&x->m, x->path, &want, why);
  return x->lm != NULL && open_tokenizer(x, why)
    && (!o->packed || pack_weights(x, why));
}

/* users is 1 before anything can fail, so that closing a half-open model frees it */
struct incipit_model *incipit_model_open(const char *directory,
  const struct incipit_model_options *o, struct incipit_error *why)
{
  struct incipit_model_options mine = { .size = sizeof mine };
  if (!library_options(&mine, sizeof mine, o, __func__, why)
      || !library_strings(mine.ignore_field, mine.n_ignore_field, __func__,
        "ignore_field", why)) return NULL;
  struct incipit_model *x = library_new(sizeof *x, why);
  if (x == NULL) return NULL;
  pthread_mutex_init(&x->lock, NULL);
  x->users = 1;
  struct attempt a = attempt_begin(&x->m);
  struct float_modes modes;
  float_modes_begin(&modes);
  bool ok = open_files(x, directory, &mine, &a.why);
  float_modes_end(&modes);
  if (attempt_end(&a, ok, INCIPIT_INPUT, why)) return x;
  incipit_model_close(x);
  return NULL;
}

/* The caller is one user of the model, and each object that was opened with it is another; so
   an object, too, gives the model up by incipit_model_close. */
void library_hold(struct incipit_model *m)
{
  pthread_mutex_lock(&m->lock);
  m->users++;
  pthread_mutex_unlock(&m->lock);
}

/* The lock is left before the model is freed: the last user has it for itself. */
void incipit_model_close(struct incipit_model *m)
{
  if (m == NULL) return;
  pthread_mutex_lock(&m->lock);
  bool last = --m->users == 0;
  pthread_mutex_unlock(&m->lock);
  if (!last) return;
  lexicon_close(m->lexicon);
  tokenizer_close(&m->m, m->t);
  prepared_close(&m->m, m->prepared);
  model_close(&m->m, m->lm);
  pthread_mutex_destroy(&m->lock);
  library_delete(m);
}

/* These three have no argument for an error: for NULL they return 0 and false. */
uint32_t incipit_vocab_size(const struct incipit_model *m)
{ return m == NULL ? 0 : m->lm->config.vocab_size; }
uint32_t incipit_context_size(const struct incipit_model *m)
{ return m == NULL ? 0 : m->lm->config.n_positions; }
bool incipit_is_end(const struct incipit_model *m, uint32_t id)
{
  for (uint32_t i = 0; m != NULL && i < m->lm->config.n_eos; i++)
    if (m->lm->config.eos[i] == id) return true;
  return false;
}

/* Takes its memory from a struct memory that lives as long as the call, and not from the
   model's, because many threads may encode at once. */
bool incipit_encode(const struct incipit_model *m, const char *text, size_t n,
  bool add_special, bool parse_special, uint32_t *id, size_t cap, size_t *n_ids,
  struct incipit_error *why)
{
  struct memory book = { .fail_at = 0 };
  struct ids list = { NULL, 0, 0 };
  if (!library_spells(m, __func__, why)
      || !library_given(n_ids, __func__, "n_ids", why)
      || (n > 0 && !library_given(text, __func__, "the text", why))
      || (cap > 0 && !library_given(id, __func__, "the room for ids", why)))
    return false;
  struct attempt a = attempt_begin(&book);
  bool ok = tokenizer_encode(m->t, &book, n > 0 ? text : "", n, add_special,
    parse_special, &list, &a.why) && library_copy(&list, id, cap, n_ids);
  ids_free(&book, &list);
  return attempt_end(&a, ok, INCIPIT_INPUT, why);
}

/* As snprintf: the caller gets what fits, and the whole number even if not all fit. */
bool library_copy(const struct ids *list, uint32_t *id, size_t cap, size_t *n_ids)
{
  *n_ids = list->n;
  if (cap > list->n) cap = list->n;
  if (cap > 0) memcpy(id, list->id, cap * sizeof *id);
  return true;
}

/* Changes nothing in the model and needs no lock, as encoding. */
bool incipit_decode(const struct incipit_model *m, const uint32_t *id, size_t n,
  bool skip_special, char *text, size_t cap, size_t *n_bytes,
  struct incipit_error *why)
{
  struct memory book = { .fail_at = 0 };
  struct bytes out = { NULL, 0, 0 };
  if (!library_spells(m, __func__, why) || !library_ids(m, id, n, __func__, why)
      || !library_given(n_bytes, __func__, "n_bytes", why)
      || (cap > 0 && !library_given(text, __func__, "the room for bytes", why)))
    return false;
  struct attempt a = attempt_begin(&book);
  bool ok = tokenizer_decode(m->t, &book, id, n, skip_special, &out, &a.why);
  if (ok) *n_bytes = out.n;
  if (ok && out.n > 0 && cap > 0)
    memcpy(text, out.byte, cap < out.n ? cap : out.n);
  bytes_free(&book, &out);
  return attempt_end(&a, ok, INCIPIT_INPUT, why);
}

const char *incipit_version(void) { return INCIPIT_VERSION; }
