/* charsmap.c -- a map of characters: the file's double array, and the strings behind it.

   The file has a length in four bytes, so many bytes of a double array, and strings with a zero after
   each. A unit of the array has 32 bits: in the lowest eight the byte that leads to it, in bit 8
   whether an entry ends there, in bits 10 to 30 where its children are, and in bit 9 whether that
   number counts by 256. The unit of an entry's value has bit 31, so it is nobody's child. Numbers in a
   file that a stranger made may lead anywhere: each is compared with the size of the array before it
   is followed, a walk ends after LONGEST bytes, and a string is no longer than that. So time and
   memory are bounded by the text. */

#include <string.h>
#include <utf8proc.h>
#include "tokenizer/inside.h"

enum { LONGEST = 255 };

/* The entry at the beginning of n bytes: its length and the place of its string. Of several
   the first one or the last one. */
static bool look_up(const struct charsmap *map, const unsigned char *text, size_t n,
  bool shortest, size_t *length, size_t *place)
{
  size_t at = map->unit[0] >> 10 << ((map->unit[0] & 512) >> 6);
  bool found = false;
  for (size_t i = 0; i < n && i < LONGEST && !(found && shortest); i++) {
    at ^= text[i];
    if (at >= map->n) break;
    uint32_t unit = map->unit[at];
    if ((unit & 0x800000ff) != text[i]) break;
    at ^= (size_t) (unit >> 10) << ((unit & 512) >> 6);
    if ((unit & 256) == 0) continue;
    size_t value = at < map->n ? map->unit[at] & 0x7fffffff : map->n_text;
    /* a string that begins inside a character is none */
    if (value >= map->n_text || (map->text[value] & 0xc0) == 0x80) continue;
    *length = i + 1, *place = value;
    found = true;
  }
  return found;
}

static bool push_string(const struct charsmap *map, struct memory *m, size_t place,
  struct bytes *out, struct error *why)
{
  const char *text = (const char *) map->text + place;
  return bytes_push(m, out, text, strlen(text), why);
}

/* a letter with its marks, and whatever else Unicode keeps together on a line */
static size_t cluster_length(const unsigned char *text, size_t n)
{
  enum utf8_state state;
  utf8proc_int32_t before = 0;
  size_t at = utf8_next(text, n, &state), step;
  utf8proc_int32_t c = (utf8proc_int32_t) utf8_point(text, at);
  while (at < n) {
    step = utf8_next(text + at, n - at, &state);
    utf8proc_int32_t next = (utf8proc_int32_t) utf8_point(text + at, step);
    if (utf8proc_grapheme_break_stateful(c, next, &before)) break;
    c = next, at += step;
  }
  return at;
}

/* Hugging Face's library asks for a whole cluster of less than six bytes, and replaces all
   of it even if the entry is shorter; otherwise it asks for each character. */
static bool apply_to_cluster(const struct charsmap *map, struct memory *m,
  const unsigned char *text, size_t n, struct bytes *out, struct error *why)
{
  enum utf8_state state;
  size_t length, place;
  if (n < 6 && look_up(map, text, n, true, &length, &place))
    return push_string(map, m, place, out, why);
  for (size_t at = 0, step; at < n; at += step) {
    step = utf8_next(text + at, n - at, &state);
    if (!(look_up(map, text + at, step, true, &length, &place)
      ? push_string(map, m, place, out, why)
      : bytes_push(m, out, text + at, step, why))) return false;
  }
  return true;
}

bool charsmap_apply(const struct charsmap *map, const struct tokenizer *t, struct memory *m,
  const unsigned char *text, size_t n, struct bytes *out, struct error *why)
{
  enum utf8_state state;
  for (size_t at = 0, step, place; at < n; at += step) {
    bool ok;
    if (map->by_clusters) {
      step = cluster_length(text + at, n - at);
      ok = apply_to_cluster(map, m, text + at, step, out, why);
    } else if (t->any_frozen && tokenizer_longest_added(t, 2, text + at, n - at, &step) != NULL)
      ok = bytes_push(m, out, text + at, step, why);
    else if (look_up(map, text + at, n - at, false, &step, &place))
      ok = push_string(map, m, place, out, why);
    else {
      step = utf8_next(text + at, n - at, &state);
      ok = bytes_push(m, out, text + at, step, why);
    }
    if (!ok) return false;
  }
  return true;
}

/* characters, each string with a zero, none longer than what is walked */
static bool strings_are_good(const unsigned char *text, size_t n)
{
  bool whole = n == 0;
  size_t from = 0;
  if (n > 0 && (text[n - 1] != 0 || utf8_run(text, n, &whole) != n)) return false;
  for (size_t i = 0; i < n; i++)
    if (text[i] == 0) from = i + 1;
    else if (i - from >= LONGEST) return false;
  return whole;
}

static bool check(const unsigned char *byte, size_t n, size_t *units, const char **wanted,
  struct error *why)
{
  size_t size = n < 4 ? 0 : byte[0] | (size_t) byte[1] << 8 | (size_t) byte[2] << 16
    | (size_t) byte[3] << 24;
  *wanted = "the size of a double array, the array, and strings";
  if (n < 8 || size < 4 || size % 4 != 0 || size > n - 4)
    return error_say(why, "%zu bytes with the size %zu", n, size);
  *units = size / 4;
  *wanted = "strings of whole characters, at most 255 bytes long, with a zero after each";
  return strings_are_good(byte + 4 + size, n - 4 - size)
    || error_say(why, "%zu bytes of other strings", n - 4 - size);
}

struct charsmap *charsmap_open(struct memory *m, const unsigned char *byte, size_t n,
  bool by_clusters, const char **wanted, struct error *why)
{
  size_t units = 0;
  if (!check(byte, n, &units, wanted, why)) return NULL;
  *wanted = NULL;
  const unsigned char *from = byte + 4;
  size_t n_text = n - 4 - 4 * units;
  struct charsmap *map = memory_alloc(m, MEMORY_TOKENS, 1, sizeof *map, why);
  if (map == NULL) return NULL;
  *map = (struct charsmap) { .n = units, .n_text = n_text, .by_clusters = by_clusters };
  map->unit = memory_alloc(m, MEMORY_TOKENS, units, sizeof *map->unit, why);
  map->text = memory_alloc(m, MEMORY_TOKENS, n_text + 1, 1, why);
  bool ok = map->unit != NULL && map->text != NULL;
  for (size_t i = 0; ok && i < units; i++, from += 4)
    map->unit[i] = from[0] | (uint32_t) from[1] << 8 | (uint32_t) from[2] << 16
      | (uint32_t) from[3] << 24;
  if (ok) memcpy(map->text, from, n_text);
  if (ok) return map;
  charsmap_close(m, map);
  return NULL;
}

void charsmap_close(struct memory *m, struct charsmap *map)
{
  if (map == NULL) return;
  memory_free(m, map->unit);
  memory_free(m, map->text);
  memory_free(m, map);
}
