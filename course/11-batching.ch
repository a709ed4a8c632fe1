Lab 11: continuous batching. A change file for chapters/12-serving.w in CWEB's form, with one thing more: a word before @x.
"shape" changes what the files are, for the reference as well; "cut" takes away what the student writes, and what it takes away
is the reference's answer.

shape: three functions have tests of their own, and are declared in the header
@x
@<What a scheduler does@>@;
#endif
@y
@<What a scheduler does@>@;
@<Parts of a scheduler@>@;
#endif

@ Three functions of |scheduler.c| are declared as well, so that the tests of this lab can call them.

@<Parts of a scheduler@>=
size_t rows_to_read(const struct scheduler *s, const struct request *r);
  /* how many rows a text in a slot has to read before its next token, at least one: it decodes if that is one */
size_t plan_pass(struct scheduler *s);
  /* enters the texts of the next pass into |s->list|, and for each, at the same place of |s->demand|, its slot and its rows, which are its |want.chunk| as well; returns how many texts */
void let_in(struct scheduler *s);
  /* gives slots to requests that wait, in the order of the line, as long as there are slots and room */
@z

cut: one step
@x
  let_in(s);
  size_t n = plan_pass(s);
  while (n > 0 && !cache_fits(s->g.s, s->demand, n) && make_room(s))
    n = plan_pass(s);
  if (n == 0) return true;
  bool ok = compute_pass(s, n, why);
  if (ok) count_pass(s, n);
  else ok = pass_refused(s, n, why);
  look_after_texts(s);
  return ok;
}
@y
  /* YOUR CODE: let requests in; plan, and while the plan doesn't fit, make room and plan anew; compute the pass, and count it; if it was refused, |pass_refused|; then look after the texts.
     What stands here serves one request after the other, in slot 0. It writes the right texts, slowly */
  struct request *r = s->line;
  (void) make_room, (void) compute_pass, (void) pass_refused, (void) count_pass;
  if (r == NULL) return true;
  r->state = REQUEST_RUNNING, r->q.c.sequence = 0, s->taken[0] = true;
  s->list[0] = &r->q;
  s->in_pass = true;
  bool ok = generate_step(&s->g, s->list, 1, s->logits, why);
  s->in_pass = false;
  look_after_texts(s);
  return ok;
}
@z

shape
@x
static size_t rows_to_read(const struct scheduler *s, const struct request *r)
{
@y
size_t rows_to_read(const struct scheduler *s, const struct request *r)
{
@z

cut: how many rows
@x
  size_t n = r->q.c.text.n, stored = store_length(s->g.s, r->q.c.sequence);
  return stored < n ? n - stored : 1;
}
@y
  /* YOUR CODE: the rows of the text that the cache lacks; the last token is always read */
  (void) s, (void) r;
  return 0;
}
@z

shape
@x
static size_t plan_pass(struct scheduler *s)
{
@y
size_t plan_pass(struct scheduler *s)
{
@z

cut: the plan
@x
  size_t n = 0, left = s->w.pass_rows;
  for (struct request *r = s->line; is_running(r); r = r->next)
    if (rows_to_read(s, r) == 1) plan_text(s, r, 1, &n), left--;
  for (struct request *r = s->line; is_running(r) && left > 0; r = r->next) {
    size_t rows = rows_to_read(s, r);
    if (rows == 1) continue;
    if (rows > left) rows = left;
    plan_text(s, r, rows, &n), left -= rows;
  }
  return n;
}
@y
  /* YOUR CODE: a row for each text that decodes; what is left goes to those that read, first come first */
  (void) s, (void) plan_text;
  return 0;
}
@z

cut: what a pass was
@x
  s->counts.passes++;
  s->counts.slots_used += n;
  for (size_t i = 0; i < n; i++) s->counts.rows += s->list[i]->count;
  if (s->limit < s->g.s->n_sequences) s->limit++;
}
@y
  /* YOUR CODE: one pass more, its slots, its rows; and one slot more may be used, if one was closed */
  (void) s, (void) n;
}
@z

cut: admission
@x
  uint32_t slot = 0;
  while (s->taken[slot]) slot++;
  r->q.c.sequence = slot;
  size_t n_known = r->want.on_row != NULL ? 0 : r->q.c.text.n;
  r->indexed = prefix_adopt(&s->index, slot, r->q.c.text.id, n_known, &r->chain);
  s->demand[n] = (struct cache_demand) @[{ slot, rows_to_read(s, r) }@];
  size_t lacking = cache_lacks(s->g.s, s->demand, n + 1);
  if (n > 0 && lacking > 0 && lacking > prefix_spare(&s->index)) {
    store_crop(s->g.s, slot, 0);
    return false;
  }
  for (; lacking > 0 && prefix_evict(&s->index, false); lacking--) continue;
  take_slot(s, r);
  return true;
}
@y
  /* YOUR CODE: a free slot, and the pages of the index, unless |on_row| wants to see all rows; what all want is demanded together. Pages are lacking that the index can't spare, and others run: take back what was done. Else let the index give up what is lacking, and |take_slot| */
  (void) s, (void) r, (void) n, (void) take_slot;
  return false;
}
@z

shape
@x
static void let_in(struct scheduler *s)
{
@y
void let_in(struct scheduler *s)
{
@z

cut: the door
@x
  size_t n = 0;
  struct request *r = s->line;
  for (; is_running(r); r = r->next)
    s->demand[n++] = (struct cache_demand) @[{ r->q.c.sequence,
      rows_to_read(s, r) + s->index.page_rows }@];
  if (s->w.in_batches && n > 0) return;
  for (; r != NULL && n < s->limit && admit(s, r, n); r = r->next)
    s->demand[n++].rows += s->index.page_rows;
}
@y
  /* YOUR CODE: write down what the texts in slots want; then try those that wait, in the order of the line, until the slots are taken or one of them is not let in */
  (void) s, (void) admit;
}
@z

cut: preemption
@x
  store_crop(s->g.s, r->q.c.sequence, 0);
  s->taken[r->q.c.sequence] = false;
  r->state = REQUEST_WAITING;
  r->preempted++;
  s->counts.preempted++;
}
@y
  /* YOUR CODE: no rows, no slot; it waits, and both counts are one higher */
  (void) s, (void) r;
}
@z

cut: who makes room
@x
  if (prefix_evict(&s->index, false)) return true;
  struct request *youngest = find_youngest(s);
  if (youngest == s->line) return prefix_evict(&s->index, true);
  preempt(s, youngest);
  return true;
}
@y
  /* YOUR CODE: a page that only the index has; else the youngest text loses its slot, unless it is the oldest as well */
  (void) s, (void) find_youngest, (void) preempt;
  return false;
}
@z

cut: new pages
@x
  size_t rows = s->index.page_rows, n = store_length(s->g.s, r->q.c.sequence) / rows;
  while (s->index.s != NULL && r->indexed < n) {
    if (r->indexed > 0 && r->chain.entry == 0) return;
    r->chain = prefix_add(&s->index, r->chain, r->q.c.text.id + r->indexed * rows,
      r->q.c.sequence, r->indexed);
    r->indexed++;
  }
}
@y
  /* YOUR CODE: every full page that was not brought yet, after the one before it; a chain that was cut stays cut */
  (void) s, (void) r;
}
@z
