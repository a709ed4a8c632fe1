/* characters.c -- a set of characters as chains of nodes that read bytes.

   A character is one to four bytes, so a range of characters is seldom one range of bytes.
   It is cut into parts in which each byte has a range of its own, whatever the others are:
   U+00E0 to U+0120 is 0xc3 with 0xa0 to 0xbf, and 0xc4 with 0x80 to 0xa0. The surrogates
   are left out, since no text has them. */

#include "constraints/nodes.h"

/* The largest end, up to hi, so that the characters from lo on are one range in each byte:
   all of one length, and the same in all bytes before those that run through their whole
   range.

   One pass from long tails to short ones is enough. Take the first tail at which lo and hi
   differ in the bits above. If lo's tail is not zero, hi comes down to the end of lo's
   block, and from then on the two agree above this tail. If lo's tail is zero and hi's is
   not all ones, hi comes down to a tail of all ones, so its shorter tails are all ones as
   well. No later step undoes either. */
static uint32_t cut(uint32_t lo, uint32_t hi)
{
  static const uint32_t longer[] = { 0x7f, 0x7ff, 0xffff };
  for (int i = 0; i < 3; i++)
    if (lo <= longer[i] && hi > longer[i]) hi = longer[i];
  for (uint32_t tail = 0x3ffff; tail >= 0x3f && lo >= 0x80; tail >>= 6) {
    if ((lo & ~tail) == (hi & ~tail)) continue;
    if ((lo & tail) != 0) hi = lo | tail;
    else if ((hi & tail) != tail) hi = (hi & ~tail) - 1;
  }
  return hi;
}

/* The bytes of the two ends of a part are the ends of its ranges of bytes. */
static size_t encode(uint32_t point, uint8_t byte[4])
{
  size_t n = 1u + (point >= 0x80) + (point >= 0x800) + (point >= 0x10000);
  static const uint8_t mark[] = { 0, 0xc0, 0xe0, 0xf0 };
  for (size_t i = n; i-- > 1; point >>= 6)
    byte[i] = (uint8_t) (0x80 | (point & 0x3f));
  byte[0] = (uint8_t) (mark[n - 1] | point);
  return n;
}

/* lo and hi are the ends of a part that was cut as above, so they have the same length. The
   chain is made from its last byte. */
static uint32_t emit_part(struct net *w, uint32_t lo, uint32_t hi,
  uint32_t next, struct error *why)
{
  uint8_t a[4], b[4];
  size_t n = encode(lo, a);
  encode(hi, b);
  while (n-- > 0 && next != NO_NODE)
    next = net_add(w, (struct net_node) { NET_BYTES, a[n], b[n], next, 0 },
      why);
  return next;
}

/* All parts of all ranges are joined by forks. The gap of the surrogates is jumped over. An
   empty set must not become next, which would read nothing and go on: it becomes a fork
   that leads to itself and thus never to the end. */
uint32_t net_set(struct net *w, const struct code_range *x,
  size_t n, uint32_t next, struct error *why)
{
  uint32_t all = NO_NODE, one;
  for (size_t i = 0; i < n; i++)
    for (uint32_t lo = x[i].lo, hi; lo <= x[i].hi; lo = hi + 1) {
      if (lo >= 0xd800 && lo <= 0xdfff) { hi = 0xdfff; continue; }
      hi = cut(lo, lo < 0xd800 && x[i].hi >= 0xd800 ? 0xd7ff : x[i].hi);
      one = emit_part(w, lo, hi, next, why);
      all = all == NO_NODE ? one : net_fork(w, one, all, why);
      if (all == NO_NODE) return NO_NODE;
    }
  if (all != NO_NODE) return all;
  one = (uint32_t) w->nodes.n;
  return net_add(w, (struct net_node) { NET_FORK, 0, 0, one, one }, why);
}
