Lab 1: UTF-8 and byte-pair encoding. A change file for chapters/01-tokens.w in CWEB's form, with one thing more: a word before @x.
"shape" changes what the files are, for the reference as well; "cut" takes away what the student writes, and what it takes away
is the reference's answer.

cut: a node leaves the list of its pair
@x
  const struct text_node *s = &t->nodes[i];
  uint32_t k = pair_map_get(&t->pair_number, s->id, t->nodes[s->next].id);
  struct bpe_pair *p = &t->pairs[k - 1];
  if (s->prev_occ == NOWHERE)@+ p->first = s->next_occ;
  else@+ t->nodes[s->prev_occ].next_occ = s->next_occ;
  if (s->next_occ == NOWHERE)@+ p->last = s->prev_occ;
  else@+ t->nodes[s->next_occ].prev_occ = s->prev_occ;
  p->count -= s->weight;
}
@y
  /* YOUR CODE: find the pair, link the neighbours in its list with each other, take the weight off its count */
  (void) t, (void) i;
}
@z

cut: a merge at one place
@x
  uint32_t prev = t->nodes[i].prev, gone = t->nodes[i].next,
    next = t->nodes[gone].next;
  if (prev != NOWHERE)@+ unlink_pair(t, prev);
  if (next != NOWHERE)@+ unlink_pair(t, gone);
  unlink_pair(t, i);
  t->nodes[i].id = made, t->nodes[i].next = next;
  if (next != NOWHERE)@+ t->nodes[next].prev = i;
  if (prev != NOWHERE && !link_pair(t, prev))@+ return false;
  return next == NOWHERE || link_pair(t, i);
}
@y
  /* YOUR CODE: strike out the old pairs, take the right node out of the piece, enter the new pairs */
  (void) unlink_pair, (void) i, (void) made;
  return error_say(t->why, "merge_at has not been written yet");
}
@z

cut: a merge at all places
@x
  size_t k = pair_map_get(&t->pair_number, best->left, best->right) - 1;
  size_t fresh = t->n_pairs;
  while (t->pairs[k].first != NOWHERE)
    if (!merge_at(t, t->pairs[k].first, made))@+ return false;
  return queue_from(t, fresh);
}
@y
  /* YOUR CODE: merge at the head of the pair's list until the list is empty; then the new pairs enter the heap */
  (void) merge_at, (void) t, (void) best, (void) made;
  return true;
}
@z

cut: the pair with the highest count
@x
  *best = NULL;
  while (t->queue.n > 0) {
    struct heap_item e = heap_pop(&t->queue);
    uint32_t k = pair_map_get(&t->pair_number, (uint32_t) (e.tie >> 32),
      (uint32_t) e.tie);
    struct bpe_pair *p = &t->pairs[k - 1];
    if (p->count == ~e.key) {
      *best = p;
      return true;
    }
    if (!queue_pair(t, p))@+ return false;
  }
  return true;
}
@y
  /* YOUR CODE: take entries out of the heap until one has its pair's true count; put the others back with theirs */
  (void) t;
  *best = NULL;
  return true;
}
@z

cut: the loop of the trainer
@x
  size_t k = 0;
  for (; k < merges; k++) {
    struct bpe_pair *best;
    if (!best_pair(t, &best))@+ return false;
    if (best == NULL)@+ break;
    list[k] = (struct bpe_merge) @[{ best->left, best->right }@];
    if (!merge_all(t, best, (uint32_t) (256 + k)))@+ return false;
  }
  *n_out = k;
  return true;
}
@y
  /* YOUR CODE: find the best pair, write it down, merge it; until the list is full or no pair is left */
  (void) best_pair, (void) merge_all, (void) list, (void) merges;
  *n_out = 0;
  return error_say(t->why, "learn has not been written yet");
}
@z

cut: a short piece
@x
  uint64_t candidate[SHORT];
  for (size_t i = 0; i + 1 < n; i++)
    candidate[i] = look_at(b, w, id[i], id[i + 1]);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; i++)
      if (candidate[i] >> 32 < candidate[best] >> 32)@+ best = i;
    if (candidate[best] == UINT64_MAX)@+ break;
    @<Merge at |best|, and look up the two new pairs@>@;
  }
  return n;
}
@y
  /* YOUR CODE: look at all neighbours once; then merge the first of the lowest rank, and look at the new neighbours, until none has a rank */
  (void) b, (void) w, (void) id;
  return n;
}
@z

cut: a merge in a short piece
@x
size_t after = n - best - 2;
id[best] = b->rule[(uint32_t) candidate[best]].made;
memmove(id + best + 1, id + best + 2, after * sizeof *id);
memmove(candidate + best, candidate + best + 1,
  after * sizeof *candidate);
n--;
if (best > 0)
  candidate[best - 1] = look_at(b, w, id[best - 1], id[best]);
if (after > 0)
  candidate[best] = look_at(b, w, id[best], id[best + 1]);
@y
/* YOUR CODE: the right id leaves the array, and its candidate too; the new id has one or two new neighbours */
@z

cut: a long piece
@x
  while (w->queue.n > 0) {
    struct heap_item e = heap_pop(&w->queue);
    const struct bpe_rule *r = &b->rule[(uint32_t) e.tie];
    uint32_t i = (uint32_t) (e.tie >> 32), next = w->node[i].next;
    if (w->node[i].id != r->left || next == NOWHERE
      || w->node[next].id != r->right)@+ continue;
    uint32_t after = w->node[next].next, before = w->node[i].prev;
    w->node[i].id = r->made, w->node[i].next = after;
    w->node[next].id = BPE_NONE;
    if (after != NOWHERE)@+ w->node[after].prev = i;
    if (before != NOWHERE && !consider(b, m, w, before, why))
      return false;
    if (after != NOWHERE && !consider(b, m, w, i, why))@+ return false;
  }
@y
  /* YOUR CODE: take candidates out of the heap; leave those that have been overtaken, merge the others, consider the new neighbours */
@z

cut: the bytes of an id
@x
  struct ids stack = @[{ NULL, 0, 0 }@];
  size_t start = out->n;
  bool ok = ids_push(m, &stack, id, why);
  while (ok && stack.n > 0) {
    uint32_t top = stack.id[--stack.n];
    unsigned char byte = (unsigned char) top;
    if (top < 256)@+ ok = bytes_push(m, out, &byte, 1, why);
    else@+ ok = ids_push(m, &stack, merge[top - 256].right, why)
      && ids_push(m, &stack, merge[top - 256].left, why);
  }
  ids_free(m, &stack);
  if (!ok)@+ out->n = start;
  return ok;
}
@y
  /* YOUR CODE: a stack of ids that are still to be expanded; no recursion */
  (void) m, (void) merge, (void) out;
  return error_say(why, "bpe_spell has not been written yet for id %u", (unsigned) id);
}
@z

cut: what a leading byte says
@x
  if (b < 0x80)@+ return 1;
  if (b < 0xc2)@+ return 0;
  if (b < 0xe0)@+ return 2;
  if (b < 0xf0)@+ return 3;
  return b < 0xf5 ? 4 : 0;
}
@y
  /* YOUR CODE: the length of the character that begins with this byte, 0 if none does */
  (void) b;
  return 0;
}
@z

cut: what begins at a byte
@x
  unsigned char b = byte[0], low = 0x80, high = 0xbf;
  size_t length = announced_length(b);
  @<Narrow what the second byte may be@>@;
  *state = UTF8_BROKEN;
  if (length == 0)@+ return 1;
  for (size_t k = 1; k < length; k++) {
    if (k == n) {
      *state = UTF8_UNFINISHED;
      return k;
    }
    if (byte[k] < low || byte[k] > high)@+ return k;
    low = 0x80, high = 0xbf;
  }
  *state = UTF8_WHOLE;
  return length;
}
@y
  /* YOUR CODE: go forward as long as the next byte is one that may come next; whole, broken, or unfinished */
  (void) announced_length, (void) byte, (void) n;
  *state = UTF8_BROKEN;
  return 1;
}
@z

cut: four leading bytes
@x
if (b == 0xe0)@+ low = 0xa0;
if (b == 0xed)@+ high = 0x9f;
if (b == 0xf0)@+ low = 0x90;
if (b == 0xf4)@+ high = 0x8f;
@y
/* YOUR CODE: after e0, ed, f0, f4 fewer second bytes are right */
@z

cut: the bytes that wait
@x
  for (size_t k = n < 3 ? n : 3; k > 0; k--) {
    enum utf8_state state;
    if (utf8_next(byte + n - k, k, &state) == k
      && state == UTF8_UNFINISHED)@+ return k;
  }
  return 0;
}
@y
  /* YOUR CODE: is an ending of three, two or one bytes an unfinished character? */
  (void) byte, (void) n;
  return 0;
}
@z

cut: what is released
@x
  size_t start = out->n;
  if (!bytes_push(m, out, s->held, s->n, why))@+ return false;
  if (!bytes_push(m, out, byte, n, why)) {
    out->n = start;
    return false;
  }
  s->n = utf8_held(out->byte + start, out->n - start);
  out->n -= s->n;
  if (s->n > 0) memcpy(s->held, out->byte + out->n, s->n);
  return true;
}
@y
  /* YOUR CODE: release the held bytes and the new ones, but hold the ending that waits for more; a refusal changes nothing */
  (void) m, (void) byte, (void) out;
  return error_say(why, "stream_feed has not been written yet for %zu bytes after %zu", n, s->n);
}
@z
