Lab 9: beam search. A change file for chapters/09-search.w in CWEB's form, with one thing more: a word before @x.
"shape" changes what the files are, for the reference as well; "cut" takes away what the student writes, and what it takes away
is the reference's answer.

shape
@x
static void rank_candidate(struct search *s, struct search_candidate c)
{
@y
void rank_candidate(struct search *s, struct search_candidate c)
{
@z

cut: the best candidates, by rank
@x
  size_t i = s->n_list;
  if (i == s->max_candidates && !(c.score > s->list[i - 1].score)) return;
  if (i < s->max_candidates)@+ s->n_list++;
  else i--;
  for (; i > 0 && c.score > s->list[i - 1].score; i--)
    s->list[i] = s->list[i - 1];
  s->list[i] = c;
}
@y
  /* YOUR CODE: a newcomer moves up past those that it beats; of equals the first stays in front; if the list is full, the last falls out */
  (void) s, (void) c;
}
@z

cut: the processors
@x
  const struct search_settings *w = s->want;
  for (size_t i = 0; i < w->n_process; i++) {
    const struct search_processor *p = &w->process[i];
    if (p->what == PROCESS_REPETITION)
      funnel_repetition_penalty(&s->f, p->penalty, grown->id, grown->n);
    if (p->what == PROCESS_NGRAM)
      funnel_no_repeat_ngram(&s->f, p->n, grown->id, grown->n);
    if (p->what == PROCESS_MIN_NEW && grown->n - s->n_prompt < p->n)
      funnel_suppress(&s->f, w->eos, w->n_eos);
  }
}
@y
  /* YOUR CODE: each processor in its turn, on the log-probabilities in |s->f| */
  (void) s, (void) grown;
}
@z

cut: what may follow a beam
@x
  const struct search_beam *b = &s->active[beam];
  if (!funnel_fill(&s->f, s->logits + beam * s->f.vocab, why)) return false;
  funnel_log_softmax(&s->f);
  process_all(s, b);
  for (size_t i = 0; i < s->f.n; i++) {
    uint32_t id = s->f.candidates[i];
    double z = s->f.score[id];
    rank_candidate(s, (struct search_candidate) @[{ .parent = beam,@|
      .token = id, .logprob = z, .score = b->score + z }@]);
  }
  return true;
}
@y
  /* YOUR CODE: logits, log-probabilities, processors; then a candidate for every token that is left */
  (void) s, (void) beam, (void) process_all;
  return error_say(why, "grow_beam has not been written yet");
}
@z

shape
@x
static bool grow_beams(struct search *s, struct error *why)
{
@y
bool grow_beams(struct search *s, struct error *why)
{
@z

cut: all candidates
@x
  s->n_list = 0;
  if (!s->from->score(s->from->ctx, s->active, s->n_active, s->logits, why))
    return false;
  for (size_t i = 0; i < s->n_active; i++)
    if (!grow_beam(s, i, why))@+ return false;
  for (size_t i = 0; i < s->n_list; i++)@+ s->list[i].rank = i + 1;
  return true;
}
@y
  /* YOUR CODE: ask the source once for all beams, let every beam grow, and number the ranks */
  (void) s, (void) grow_beam;
  return error_say(why, "grow_beams has not been written yet");
}
@z

shape
@x
static double final_score(const struct search *s, double sum, size_t written)
{
@y
double final_score(const struct search *s, double sum, size_t written)
{
@z

cut: the length penalty
@x
  return sum / num_pow((double) written, s->want->length_penalty);
}
@y
  /* YOUR CODE: the sum over a power of the length */
  (void) s, (void) sum, (void) written;
  return 0;
}
@z

shape
@x
static void finish_text(struct search *s, const struct search_beam *b,
  const uint32_t *token, double sum, enum finish_reason ended)
{
@y
void finish_text(struct search *s, const struct search_beam *b,
  const uint32_t *token, double sum, enum finish_reason ended)
{
@z

cut: the pool
@x
  size_t n = b->n + (token != NULL), i = s->n_hypotheses;
  double score = final_score(s, sum, n - s->n_prompt);
  if (i == s->want->num_beams && !(score > s->hypotheses[i - 1].score)) return;
  if (i < s->want->num_beams)@+ s->n_hypotheses++;
  else i--;
  uint32_t *id = s->hypotheses[i].id;
  for (; i > 0 && score > s->hypotheses[i - 1].score; i--)
    s->hypotheses[i] = s->hypotheses[i - 1];
  memcpy(id, b->id, b->n * sizeof *id);
  if (token != NULL)@+ id[b->n] = *token;
  s->hypotheses[i] = (struct search_text) @[{ id, n, sum, score, ended }@];
}
@y
  /* YOUR CODE: a place among the finished, best first, if the text deserves one; its ids are copied */
  (void) s, (void) b, (void) token, (void) sum, (void) ended;
}
@z

cut: does a candidate end?
@x
  const struct search_settings *w = s->want;
  *how = s->active[c->parent].n + 1 == s->limit ? FINISH_LENGTH : FINISH_NONE;
  for (size_t i = 0; i < w->n_eos; i++)
    if (w->eos[i] == c->token)@+ *how = FINISH_STOP;
  return *how != FINISH_NONE;
}
@y
  /* YOUR CODE: an end token, or the greatest length; a text that has both ends with the token */
  (void) s, (void) c;
  *how = FINISH_NONE;
  return false;
}
@z

shape
@x
static void decide(struct search *s)
{
@y
void decide(struct search *s)
{
@z

cut: what becomes of the candidates
@x
  size_t width = s->want->num_beams;
  enum finish_reason how;
  s->n_next = 0;
  for (size_t i = 0; i < s->n_list; i++) {
    struct search_candidate *c = &s->list[i];
    if (ends(s, c, &how)) {
      if (i >= width)@+ continue;
      finish_text(s, &s->active[c->parent], &c->token, c->score, how);
      c->outcome = OUTCOME_FINISHED;
    }
    else if (s->n_next < width)@+ keep_candidate(s, c);
  }
}
@y
  /* YOUR CODE: by rank: finish, keep, or drop */
  (void) s, (void) ends, (void) keep_candidate;
}
@z

cut: a beam of the next step
@x
  const struct search_beam *b = &s->active[c->parent];
  uint32_t *id = s->text[s->turn ^ 1] + s->n_next * s->limit;
  memcpy(id, b->id, b->n * sizeof *id);
  id[b->n] = c->token;
  s->next[s->n_next++] = (struct search_beam) @[{ id, b->n + 1, c->parent,@|
    c->score }@];
  c->outcome = OUTCOME_KEPT;
}
@y
  /* YOUR CODE: the parent's tokens and one more, in the set of texts that is not in use; then a beam */
  (void) s, (void) c;
}
@z

shape
@x
static bool search_is_done(const struct search *s)
{
@y
bool search_is_done(const struct search *s)
{
@z

cut: when to stop
@x
  const struct search_settings *w = s->want;
  if (s->n_next == 0)@+ return true;
  if (s->n_hypotheses < w->num_beams)@+ return false;
  if (w->early == EARLY_TRUE)@+ return true;
  size_t written = s->next[0].n - s->n_prompt;
  if (w->early == EARLY_NEVER && w->length_penalty > 0)
    written = s->limit - s->n_prompt;
  return !(final_score(s, s->next[0].score, written)
    > s->hypotheses[w->num_beams - 1].score);
}
@y
  /* YOUR CODE: no beam is left; or the pool is full, and the rule says so */
  (void) s;
  return true;
}
@z

cut: step by step
@x
  const struct search_settings *w = s->want;
  for (bool over = false; !over; ) {
    if (!grow_beams(s, why)) {
      if (s->number == 0 || !progress_cancelled(s->from->progress)) return false;
      cancel(s, s->active, s->n_active);
      break;
    }
    decide(s);
    s->number++;
    over = search_is_done(s);
    @<Let the watcher see the step@>@;
    if (s->n_next > 0) @<Let the beams that were kept grow next@>@;
  }
  return s->n_hypotheses > 0 || error_say(why, "after token %zu of"@| " the text all"@|
    " tokens are out for"@| " all beams, and no"@| " text has ended", s->active[0].n);
}
@y
  /* YOUR CODE: grow, decide, count, ask whether it is over, show the watcher, change places; and what to do if the source gives up */
  (void) s, (void) cancel;
  return error_say(why, "search_steps has not been written yet");
}
@z

cut: the beams change places
@x
{
  struct search_beam *old = s->active;
  s->active = s->next, s->n_active = s->n_next;
  s->next = old, s->turn ^= 1;
}
@y
/* YOUR CODE: this belongs to |search_steps| */
@z

cut: the watcher
@x
if (w->see != NULL && !w->see(w->ctx, &(struct search_step) @[{@|
    s->number, s->active, s->n_active, s->list, s->n_list, s->hypotheses,@|
    s->n_hypotheses }@]) && !over) {
  cancel(s, s->next, s->n_next);
  over = true;
}
@y
/* YOUR CODE: this belongs to |search_steps| */
@z

cut: all beams end
@x
  for (size_t i = 0; i < n; i++)
    finish_text(s, &beam[i], NULL, beam[i].score, FINISH_CANCELLED);
}
@y
  /* YOUR CODE: each beam is offered to the pool as it is */
  (void) s, (void) beam, (void) n;
}
@z

shape: the functions that have tests of their own are declared in the header
@x
@<The frame of a search@>@;
#endif
@y
@<The frame of a search@>@;
@<Parts of a search@>@;
#endif

@ Six functions of |search.c| are declared as well, so that the tests of this lab can call them.

@<Parts of a search@>=
void rank_candidate(struct search *s, struct search_candidate c);
  /* enters |c| into |s->list| by falling score, after its equals; at most |max_candidates| stay */
bool grow_beams(struct search *s, struct error *why);
  /* makes |s->list| the best candidates of all active beams, with their ranks from 1; errors: those of the source,
     and logits that are no numbers */
double final_score(const struct search *s, double sum, size_t written);
  /* the score of a text of which |written| tokens were written, with the sum of their log-probabilities */
void finish_text(struct search *s, const struct search_beam *b,
  const uint32_t *token, double sum, enum finish_reason ended);
  /* offers the text of |b|, followed by |*token| unless |token| is null, to the pool: |s->hypotheses|, best
     first, a newcomer after its equals, at most |num_beams| */
void decide(struct search *s);
  /* gives each candidate of |s->list| its outcome: it finishes, is kept in |s->next|, or is dropped */
bool search_is_done(const struct search *s);
  /* is the search over, with the beams in |s->next|? */
@z

cut: slots
@x
  memcpy(s->prev_slot, s->slot, s->n * sizeof *s->prev_slot);
  @<Give each parent's slot to its first child@>@;
  @<Fork the other children into empty slots@>@;
  return true;
}
@y
  /* YOUR CODE: first those that are inherited, then the forks; slots that no beam has are emptied in between */
  (void) s, (void) grown, (void) n, (void) is_taken;
  return error_say(why, "assign_slots has not been written yet");
}
@z

cut: inherited slots
@x
for (size_t i = 0; i < n; i++) {
  size_t first = 0;
  while (grown[first].parent != grown[i].parent)@+ first++;
  s->slot[i] = first == i ? s->prev_slot[grown[i].parent] : NO_SLOT;
}
for (uint32_t q = 0; q < s->max_beams; q++)
  if (!is_taken(s, n, q))@+ store_crop(s->g.s, q, 0);
@y
/* YOUR CODE: this belongs to |assign_slots| */
@z

cut: forks
@x
for (size_t i = 0; i < n; i++) {
  if (s->slot[i] != NO_SLOT)@+ continue;
  uint32_t q = 0;
  while (is_taken(s, n, q))@+ q++;
  s->slot[i] = q;
  if (!store_fork(s->g.s, s->prev_slot[grown[i].parent], q, why)) return false;
}
@y
/* YOUR CODE: this belongs to |assign_slots| */
@z

cut: the slot of the prompt
@x
  for (uint32_t q = 1; q < s->max_beams; q++) store_crop(s->g.s, q, 0);
  store_match_prefix(s->g.s, 0, only->id, only->n - 1);
  s->slot[0] = 0;
}
@y
  /* YOUR CODE: empty all slots but the first, and keep there what serves; the last token of the prompt must be read */
  (void) s, (void) only;
}
@z

cut: the rows of a step
@x
  *all = 0;
  for (size_t i = 0; i < n; i++)
    *all += grown[i].n - store_length(s->g.s, s->slot[i]);
  struct row *list = memory_alloc(s->g.m, MEMORY_ACTIVATIONS, *all, sizeof *list,
    why);
  size_t at = 0;
  for (size_t i = 0; list != NULL && i < n; i++) {
    for (size_t t = store_length(s->g.s, s->slot[i]); t < grown[i].n; t++)
      list[at++] = (struct row) @[{ s->slot[i], (uint32_t) t,
        grown[i].id[t] }@];
    s->which[i] = at - 1;
  }
  return list;
}
@y
  /* YOUR CODE: an array of the rows that the beams' slots lack, |*all| of them, and the index of each beam's last one in |s->which| */
  (void) s, (void) grown, (void) n, (void) all;
  error_say(why, "rows_lacking has not been written yet");
  return NULL;
}
@z

cut: adding up
@x
  struct listener *l = ctx;
  l->e->k->log_softmax(l->e, now->logits, 1, l->vocab, l->scratch);
  l->sum += l->scratch[now->chosen];
  return true;
}
@y
  /* YOUR CODE: the log-probability of the token that was chosen */
  (void) ctx, (void) now;
  return true;
}
@z

cut: the mean
@x
  size_t written = c->text.n - c->n_prompt;
  return written == 0 ? 0 : sum / (double) written;
}
@y
  /* YOUR CODE: the mean of what was written, 0 if nothing was */
  (void) sum, (void) c;
  return 0;
}
@z

cut: one text of several
@x
  struct generate_options mine = *want;
  struct continuation text;
  mine.select = sampler_choose, mine.accept = sampler_accept;
  mine.select_ctx = sampler;
  mine.on_step = listen, mine.ctx = l;
  sampler->sequence = (uint32_t) i, l->sum = 0;
  if (!generate(g, prompt, n_prompt, &mine, &text, why)) return false;
  bool better = out->winner == n || per_token(l->sum, &text)
    > per_token(out->logprob, &out->best);
  continuation_free(g->m, better ? &out->best : &text);
  if (better)@+ *out = (struct best_of) @[{ text, l->sum, i }@];
  return true;
}
@y
  /* YOUR CODE: the caller's options with the sampler and the listener; write a text; keep the better one and free the other */
  (void) g, (void) sampler, (void) prompt, (void) n_prompt, (void) want, (void) i, (void) n, (void) l, (void) out;
  (void) listen, (void) per_token;
  return error_say(why, "best_of_try has not been written yet");
}
@z
