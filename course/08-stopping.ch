Lab 8: stop strings and streaming. A change file for chapters/08-stopping.w in CWEB's form, with one thing more: a word before @x.
"shape" changes what the files are, for the reference as well; "cut" takes away what the student writes, and what it takes away
is the reference's answer.

shape: the look for a child is given, in a file that counts its calls
@x
@<Look for a child@>=
/* the root has a table, since most bytes of a text begin no stop string; other nodes have a
   list */
static uint32_t child_for(const struct stops *s, uint32_t at,
  unsigned char byte)
{
  if (at == 0)@+ return s->first[byte];
  uint32_t next = s->node[at].child;
  while (next != 0 && s->node[next].byte != byte)
    next = s->node[next].sibling;
  return next;
}
@y
@<Stop strings, and the machine that looks for them@>=
uint32_t child_for(const struct stops *s, uint32_t at,
  unsigned char byte);
  /* the child of node |at| for a byte, or 0; given, in \.{child.c}, which counts the
     calls */
@z

cut: the step
@x
  uint32_t next = child_for(s, state, byte);
  while (next == 0 && state != 0) {
    state = s->node[state].failure;
    next = child_for(s, state, byte);
  }
  return next;
}
@y
  /* YOUR CODE: the child for the byte, or that of the nearest failure that has one */
  (void) s, (void) state, (void) byte;
  return 0;
}
@z

cut: a string is added to the tree
@x
  const struct stop_string *x = &s->list[which];
  uint32_t at = 0;
  for (size_t i = 0; i < x->n; i++) {
    uint32_t next = child_for(s, at, x->byte[i]);
    if (next == 0) {
      next = (uint32_t) s->n_nodes++;
      s->node[next] = (struct stops_node) @[{ .depth = (uint32_t) i + 1,@|
        .sibling = s->node[at].child, .byte = x->byte[i] }@];
      s->node[at].child = next;
      if (at == 0)@+ s->first[x->byte[i]] = next;
    }
    at = next;
  }
  if (s->node[at].ending == 0)@+ s->node[at].ending = (uint32_t) which + 1;
}
@y
  /* YOUR CODE: string |which| of |s->list|: walk down as far as the tree goes, make nodes for the rest (each
     with its |depth| and |byte|, and the next free number, |n_nodes|), note at the last which string ends there */
  (void) s, (void) which;
}
@z

cut: the failure links, level by level
@x
  size_t tail = 1; /* |queue[0]| is the root */
  for (size_t i = 0; i < tail; i++) {
    uint32_t at = queue[i], c = s->node[at].child;
    for (; c != 0; c = s->node[c].sibling) {
      struct stops_node *x = &s->node[c];
      if (at != 0)
        x->failure = stops_step(s, s->node[at].failure, x->byte);
      @<See what ends at |x|, and what it may become@>@;
      queue[tail++] = c;
    }
  }
}
@y
  /* YOUR CODE: level by level, for each node but the root: its |failure|, then its |ending|, then
     its |hold|; |queue| has room for all nodes, and its first, the root, is node 0 */
  (void) s, (void) queue;
}
@z

cut: what ends at a node, and how much waits there
@x
const struct stops_node *shorter = &s->node[x->failure];
if (x->ending == 0)@+ x->ending = shorter->ending;
x->hold = x->child != 0 ? x->depth : shorter->hold;
@y
/* YOUR CODE: a part of |link_nodes| */
@z

cut: how much is held in a state
@x
  return s->node[state].hold;
}
@y
  /* YOUR CODE: what the node says */
  (void) s, (void) state;
  return 0;
}
@z

cut: what ends in a state
@x
  uint32_t which = s->node[state].ending;
  return which == 0 ? NULL : &s->list[which - 1];
}
@y
  /* YOUR CODE: the string that the node names */
  (void) s, (void) state;
  return NULL;
}
@z

cut: the automaton is closed
@x
  memory_free(s->m, s->node);
  s->node = NULL;
}
@y
  /* YOUR CODE: give back the nodes */
  (void) s;
}
@z

cut: the automaton is opened
@x
  *s = (struct stops) @[{ .m = m, .list = list, .n = n, .n_nodes = 1 }@];
  size_t cap = 1;
  for (size_t i = 0; i < n; i++) {
    if (list[i].n == 0)@+ return error_say(why, "stop string %zu is empty;"@|
        " wanted: 1 byte or more", i);
    if (list[i].n > UINT32_MAX - cap)@+ return error_say(why,@|
        "the stop strings have"@| " more than %" PRIu32 " bytes",@|
        UINT32_MAX - 1);
    cap += list[i].n;
  }
  @<Take the nodes, and build the tree@>@;
}
@y
  /* YOUR CODE: refuse empty strings; take enough nodes (and a root) and a queue for |link_nodes|, add all
     strings, link the nodes, give back the queue */
  *s = (struct stops) @[{ .m = m, .list = list, .n = n }@];
  (void) add_string, (void) link_nodes;
  return error_say(why, "stops_open has not been written yet; wanted: at most %" PRIu32 " bytes", UINT32_MAX - 1);
}
@z

cut: its nodes
@x
s->node = memory_alloc(m, MEMORY_TOKENS, cap, sizeof *s->node, why);
uint32_t *queue = s->node == NULL ? NULL
  : memory_alloc(m, MEMORY_TOKENS, cap, sizeof *queue, why);
s->cap = cap;
if (queue == NULL) {
  stops_close(s);
  return false;
}
for (size_t i = 0; i < n; i++)@+ add_string(s, i);
link_nodes(s, queue);
memory_free(m, queue);
return true;
@y
/* YOUR CODE: a part of |stops_open| */
@z

shape: the look for a child is in a file of its own
@x
@<Look for a child@>@;
@<Step through a byte@>@;
@y
@<Step through a byte@>@;
@z

cut: the bytes of a token
@x
  o->tokens++;
  for (size_t i = from; i < o->text.n; i++) {
    o->state = stops_step(o->until, o->state, o->text.byte[i]);
    const struct stop_string *x = stops_ending(o->until, o->state);
    if (x == NULL || o->tokens <= o->min_tokens)@+ continue;
    o->found = x;
    o->text.n = i + 1 - (o->include_stop ? 0 : x->n);
    o->released = o->text.n;
    return;
  }
  size_t held = utf8_held(o->text.byte, o->text.n);
  size_t claimed = o->include_stop ? 0 : stops_hold(o->until, o->state);
  o->released = o->text.n - (claimed > held ? claimed : held);
}
@y
  /* YOUR CODE: one more token is in the text, its bytes from place |from| on: step through them; where a
     stop string counts, cut the text; otherwise set |released| to what is certain */
  (void) o, (void) from;
}
@z

cut: a token that is bytes
@x
  size_t from = o->text.n;
  if (o->found != NULL)@+ return true;
  if (!bytes_push(o->m, &o->text, byte, n, why))@+ return false;
  take_bytes(o, from);
  return true;
}
@y
  /* YOUR CODE: nothing after a stop string; else append the bytes, and take them */
  (void) o, (void) byte, (void) n, (void) take_bytes;
  return error_say(why, "text_stream_bytes has not been written yet");
}
@z

cut: the end of a text
@x
  o->released = o->text.n;
}
@y
  /* YOUR CODE: nothing is held any more */
  (void) o;
}
@z

cut: the prompt
@x
  size_t before = o->text.n;
  bool ok = true;
  for (size_t i = 0; o->t != NULL && ok && !o->begun && i < n; i++)
    ok = tokenizer_decode_next(o->t, o->m, id[i], true, &o->begun,@|
      &o->text, why);
  o->text.n = before;
  return ok;
}
@y
  /* YOUR CODE: the tokenizer sees ids until one has bytes; the text stays as it was */
  (void) o, (void) id, (void) n;
  return error_say(why, "text_stream_prompt has not been written yet");
}
@z

cut: a token that is an id
@x
  size_t from = o->text.n;
  if (o->found != NULL)@+ return true;
  if (o->t != NULL && !tokenizer_decode_next(o->t, o->m, id, true,@|
      &o->begun, &o->text, why)) return false;
  take_bytes(o, from);
  return true;
}
@y
  /* YOUR CODE: as for bytes, but the tokenizer appends them */
  (void) o, (void) id;
  return error_say(why, "text_stream_id has not been written yet");
}
@z

cut: a list of criteria
@x
  struct criteria *c = ctx;
  for (size_t i = 0; i < c->n; i++) {
    const struct criterion *x = &c->list[i];
    bool yes = false;
    if (!x->should_stop(x->ctx, text, &yes, why))@+ return false;
    if (yes && c->fired == NULL)@+ c->fired = x;
  }
  *enough = c->fired != NULL;
  return true;
}
@y
  /* YOUR CODE: ask all of them, remember the first that says yes */
  (void) ctx, (void) text, (void) enough;
  return error_say(why, "criteria_should_stop has not been written yet");
}
@z

cut: which of them it was
@x
  if (ended != FINISH_STOP)@+ return NULL;
  return c->fired == NULL ? "eos" : c->fired->name;
}
@y
  /* YOUR CODE: the end token, a criterion, or neither */
  (void) c, (void) ended;
  return NULL;
}
@z

cut: the text stream as a criterion
@x
  struct text_stream *o = ctx;
  if (!text_stream_id(o, text->text.id[text->text.n - 1], why))@+ return false;
  *enough = o->found != NULL;
  return true;
}
@y
  /* YOUR CODE: the stream takes the newest token */
  (void) ctx, (void) text, (void) enough;
  return error_say(why, "text_stream_should_stop has not been written yet");
}
@z

cut: a repetition
@x
  (void) why;
  size_t n = *(const size_t *) ctx;
  size_t written = text->text.n - text->n_prompt;
  if (n == 0 || written / 3 < n)@+ return true;
  const uint32_t *end = text->text.id + text->text.n;
  *enough = memcmp(end - 2 * n, end - 3 * n, 2 * n * sizeof *end) == 0;
  return true;
}
@y
  /* YOUR CODE: are the last tokens that were written the same |N| tokens three times? */
  (void) ctx, (void) text, (void) enough;
  return error_say(why, "repetition_should_stop has not been written yet");
}
@z
