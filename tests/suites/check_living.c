/* check_living.c -- the engine of a page: its exact multiply-add, its reader of settings, and texts that branch. What is compiled for a
   browser is compared with this machine by tests/checks/living.sh. */

#define _XOPEN_SOURCE 700
#include <jansson.h>
#include "families/loader.h"
#include "fused.h"
#include "living/exact.h"
#include "living/json.h"
#include "living/living.h"
#include "suite.h"

START_TEST(multiply_and_add_rounds_once)
{
  uint64_t seed = suite_seed();
  for (int f = -1; f < N_FUSED_FAMILIES; f++)
    for (int i = 0; i < (f < 0 ? 3 : 1 << 18); i++) {
      float t[3];
      if (f < 0) memcpy(t, fused_known[i], sizeof t);
      else fused_triple((enum fused_family) f, &seed, t);
      float want = fused_exactly(t[0], t[1], t[2]), got = exact_fmaf(t[0], t[1], t[2]);
      hold_msg(fused_same(got, want), "%a * %a + %a is %a; wanted: %a", (double) t[0], (double) t[1], (double) t[2], (double) got, (double) want);
      hold(fused_same(fmaf(t[0], t[1], t[2]), want));
    }
}
END_TEST

/* ---- settings */

static const struct { const char *text, *says; } refused[] = {
  { "", "settings: byte 0 is the end; wanted: a brace" },
  { "[]", "settings: byte 0 is byte 0x5b; wanted: a brace" },
  { "{", "settings: byte 1 is the end; wanted: a quotation mark" },
  { "{}x", "settings: byte 2 is byte 0x78; wanted: the end" },
  { "{\"seed\" 1}", "settings: byte 8 is byte 0x31; wanted: a colon" },
  { "{\"seed\":01}", "settings: byte 9 is byte 0x31; wanted: a comma or a brace" },
  { "{\"seed\":1,}", "settings: byte 10 is byte 0x7d; wanted: a quotation mark" },
  { "{\"seed\":1.}", "settings: byte 10 is byte 0x7d; wanted: a digit" },
  { "{\"seed\":1e}", "settings: byte 10 is byte 0x7d; wanted: a digit" },
  { "{\"seed\":1e999}", "settings: byte 13 is byte 0x7d; wanted: a number that a double can hold" },
  { "{\"seed\":nan}", "settings: byte 8 is byte 0x6e; wanted: a string, a number, true or false" },
  { "{\"seed\":[1]}", "settings: byte 8 is byte 0x5b; wanted: a string, a number, true or false" },
  { "{\"seed\":-1}", "settings: seed is -1; wanted: a whole number up to 9007199254740992" },
  { "{\"seed\":\"1\"}", "settings: seed is a string; wanted: a whole number up to 9007199254740992" },
  { "{\"cache\":1}", "settings: cache is 1; wanted: true or false" },
  { "{\"prompt\":true}", "settings: prompt is true or false; wanted: a string" },
  { "{\"prompt\":\"\\ud800\"}", "settings: byte 17 is byte 0x22; wanted: the second half of a pair" },
  { "{\"prompt\":\"\\ud800\\u0041\"}", "settings: byte 23 is byte 0x22; wanted: the second half of a pair before it" },
  { "{\"prompt\":\"\\udc00\"}", "settings: byte 17 is byte 0x22; wanted: no second half of a pair without the first" },
  { "{\"prompt\":\"\\u00g0\"}", "settings: byte 15 is byte 0x67; wanted: a hexadecimal digit" },
  { "{\"prompt\":\"\\x\"}", "settings: byte 12 is byte 0x78; wanted: a letter that may stand behind a backslash" },
  { "{\"prompt\":\"a\nb\"}", "settings: byte 12 is byte 0x0a; wanted: a character or a quotation mark" },
  { "{\"prompt\":\"a", "settings: byte 12 is the end; wanted: a character or a quotation mark" },
  { "{\"temperature\":-1}", "settings: temperature is -1; wanted: 0, or 0.00001 to 10000" },
  { "{\"temperature\":0.000001}", "settings: temperature is 1e-06; wanted: 0, or 0.00001 to 10000" },
  { "{\"top_k\":1.5}", "settings: top_k is 1.5; wanted: an integer from 0 on" },
  { "{\"repetition_penalty\":0}", "settings: repetition_penalty is 0; wanted: a number above 0" },
  { "{\"max_tokens\":513}", "settings: max_tokens is 513; wanted: a whole number up to the context, 0: no limit" },
  { "{\"temprature\":1}", "settings: there is no setting temprature" },
  { "{\"a_name_that_is_longer_than_any_of_ours\":1}", "settings: byte 41 is byte 0x3a; wanted: a name of fewer than 32 bytes before this" },
};

/* an engine for a test; closing it must leave nothing */
static void begin(struct living *g)
{
  *g = (struct living) { .now = 0 };
  ck_assert_msg(living_material(g) && living_begin(g), "%s", g->why.text);
}

static void end(struct living *g)
{
  living_end(g);
  tokenizer_close(&g->m, g->t);
  model_close(&g->m, g->lm);
  ck_assert_uint_eq(g->m.all.live, 0);
}

static void set(struct living *g, const char *text)
{
  hold_msg(living_set(g, text, strlen(text)), "%s: %s", text, g->why.text);
}

static char *state(struct living *g)
{
  hold_msg(living_put_state(g), "%s", g->why.text);
  return strdup((const char *) g->out.byte);
}

static json_t *parsed(const char *text)
{
  json_error_t e;
  json_t *v = json_loads(text, JSON_REJECT_DUPLICATES, &e);
  hold_msg(v != NULL, "%s: %s", e.text, text);
  return v;
}

START_TEST(settings_are_refused_with_a_sentence)
{
  struct living g;
  begin(&g);
  set(&g, "{\"prompt\":\"The cat\",\"seed\":3,\"cache\":false}");
  char *before = state(&g);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    char text[120];
    snprintf(text, sizeof text, "%s", refused[i].text);
    hold_msg(!living_set(&g, text, strlen(text)), "%s is taken", text);
    ck_assert_str_eq(g.why.text, refused[i].says);
    char *after = state(&g);
    ck_assert_str_eq(after, before);
    free(after);
    ck_assert_uint_eq(g.wish.seed, 3);
  }
  free(before);
  end(&g);
}
END_TEST

START_TEST(strings_are_read_as_they_are_meant)
{
  static const char text[] = " { \"prompt\" : \"a\\u0062\\n\\\"\\\\\\/\\u00e9\\u20ac\\ud83d\\ude00\\u0000x\" , \"cache\" : true } \n";
  static const char want[] = "ab\n\"\\/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\0x";
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct page_reader r = { .m = &m, .at = text, .from = text, .end = text + strlen(text), .why = &why };
  struct page_field f = { .number = 0 };
  bool more;
  hold_msg(page_next(&r, &f, &more), "%s", why.text);
  ck_assert_str_eq(f.name, "prompt");
  ck_assert_uint_eq(f.text.n, sizeof want - 1);
  ck_assert_mem_eq(f.text.byte, want, sizeof want - 1);
  hold(page_next(&r, &f, &more) && more && f.kind == PAGE_FLAG && f.flag);
  hold(page_next(&r, &f, &more) && !more);
  bytes_free(&m, &f.text);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* jansson and the page's reader agree on what is JSON, for flat objects with their bytes changed */
START_TEST(changed_settings_are_json_or_refused)
{
  static const char *const seeds[] = { "{\"prompt\":\"The \\u00e9 \\ud83d\\ude00 cat\",\"cache\":true,\"seed\":12}",
    "{\"temperature\":0.5e-1,\"top_k\":40,\"top_p\":0.95}", "{ \"min_p\" : -0.0 , \"cache\" : false }" };
  uint64_t s = suite_seed();
  struct memory m = { .fail_at = 0 };
  struct error why;
  unsigned taken = 0;
  for (int i = 0; i < 60000; i++) {
    char text[80];
    size_t n = (size_t) snprintf(text, sizeof text, "%s", seeds[i % 3]);
    for (uint64_t k = rnd(&s) % 3; k > 0; k--) {
      static const char put[] = "{}[]\":,\\u0x19eE.-+ \ttrue\x01\x80z";
      text[rnd(&s) % n] = put[rnd(&s) % (sizeof put - 1)];
    }
    struct page_reader r = { .m = &m, .at = text, .from = text, .end = text + n, .why = &why };
    struct page_field f = { .number = 0 };
    bool more = true, ok = true;
    while (ok && more) ok = page_next(&r, &f, &more);
    bytes_free(&m, &f.text);
    json_error_t e;
    json_t *v = json_loadb(text, n, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &e);
    if (ok) taken++;
    /* bytes that are no UTF-8 are passed on; the rest of what we take is JSON, and of what is JSON we refuse only
       lists, objects, null, and long names */
    if (ok && memchr(text, '\x80', n) == NULL) hold_msg(v != NULL, "%s is no JSON: %s", text, e.text);
    if (!ok && json_is_object(v) && json_object_size(v) > 0) {
      bool flat = true;
      const char *name;
      json_t *x;
      json_object_foreach(v, name, x) flat = flat && (json_is_string(x) || json_is_number(x) || json_is_boolean(x)) && strlen(name) < 32;
      hold_msg(!flat, "%s: %s", text, why.text);
    }
    json_decref(v);
  }
  ck_assert_uint_gt(taken, 15000);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- texts */

static void step(struct living *g)
{
  hold_msg(!living_over(g) && living_next(g, NULL), "%s", g->why.text);
}

START_TEST(back_is_the_state_before)
{
  struct living g;
  begin(&g);
  for (int cache = 0; cache < 2; cache++) {
    set(&g, cache ? "{\"prompt\":\"Once upon a time\",\"cache\":true}" : "{\"prompt\":\"Once upon a time\",\"cache\":false}");
    char *was[13];
    for (int i = 0; i < 13; i++) {
      if (i > 0) step(&g);
      was[i] = state(&g);
    }
    for (int i = 11; i >= 0; i--) {
      hold(living_drop(&g));
      char *now = state(&g);
      ck_assert_str_eq(now, was[i]);
      free(now);
    }
    ck_assert_uint_eq(g.n, 1);
    hold(!living_drop(&g));
    for (int i = 1; i < 13; i++) {
      step(&g);
      char *now = state(&g);
      ck_assert_str_eq(now, was[i]);
      free(now);
    }
    for (int i = 0; i < 13; i++) free(was[i]);
  }
  end(&g);
}
END_TEST

static json_int_t number(const char *text, const char *key)
{
  json_t *v = parsed(text);
  json_int_t n = json_integer_value(json_object_get(v, key));
  json_decref(v);
  return n;
}

START_TEST(a_fork_shares_pages_and_gives_the_bits_of_a_text_alone)
{
  struct living g, alone;
  uint32_t id = 261;
  begin(&g), begin(&alone);
  set(&g, "{\"prompt\":\"Once upon a time\"}");
  for (int i = 0; i < 20; i++) step(&g);
  hold(living_go(&g, 9) && living_next(&g, &id));
  ck_assert_uint_eq(g.now, 21);
  ck_assert_str_eq(g.node[21].why, "given");
  /* the same token again is the same place */
  hold(living_go(&g, 9) && living_next(&g, &id));
  ck_assert_uint_eq(g.now, 21);
  ck_assert_uint_eq(g.n, 22);
  for (int i = 0; i < 6; i++) step(&g);
  /* thirteen rows were read before the fork: three whole pages of four are shared, and the fourth was copied */
  char *forked = state(&g);
  ck_assert_int_eq(number(forked, "pages_shared"), 3);
  ck_assert_int_eq(number(forked, "pages"), 5);
  /* the same text as a prompt: its logits have the same bits */
  set(&alone, "{\"prompt\":\"x\"}");
  ids_free(&alone.m, &alone.prompt);
  size_t n = living_walk(&g, g.now);
  for (size_t i = 0; i + 1 < n; i++) hold(ids_push(&alone.m, &alone.prompt, g.path[i], &alone.why));
  alone.node[0].n = n - 1;
  step(&alone);
  ck_assert_mem_eq(alone.node[0].read.logits, g.node[g.node[g.now].parent].read.logits, g.lm->config.vocab_size * sizeof(float));
  ck_assert_uint_eq(alone.node[1].id, g.node[g.now].id);
  /* and the old branch goes on without computing a row again */
  hold(living_go(&g, 20));
  step(&g);
  char *on = state(&g);
  ck_assert_int_eq(number(on, "compute_step"), (json_int_t) (g.node[20].read.after.madds_linear - g.node[20].read.before.madds_linear
    + g.node[20].read.after.madds_attention - g.node[20].read.before.madds_attention + g.node[20].read.after.madds_head - g.node[20].read.before.madds_head));
  ck_assert_uint_eq(g.node[20].read.rows, 1);
  free(forked), free(on);
  end(&g), end(&alone);
}
END_TEST

START_TEST(many_branches_outlive_their_rows)
{
  struct living g;
  begin(&g);
  set(&g, "{\"prompt\":\"The king\"}");
  step(&g);
  /* more branches than sequences: the oldest lose their rows and get them again */
  for (uint32_t id = 300; id < 300 + LIVING_TEXTS + 8; id++) {
    hold(living_go(&g, 1) && living_next(&g, &id));
    step(&g);
  }
  uint32_t last = (uint32_t) g.n - 1;
  for (uint32_t k = 0; k <= last; k += 3) {
    hold(living_go(&g, k));
    if (living_over(&g)) continue;
    step(&g);
    ck_assert_uint_le(store_length(g.s, g.at), g.node[g.now].n);
    living_walk(&g, g.now);
    ck_assert_mem_eq(store_tokens(g.s, g.at), g.path, store_length(g.s, g.at) * sizeof *g.path);
  }
  hold(!living_go(&g, (uint32_t) g.n));
  end(&g);
}
END_TEST

START_TEST(the_cache_goes_on_and_off)
{
  struct living g;
  begin(&g);
  set(&g, "{\"prompt\":\"The cat sat\"}");
  static const char *const say[] = { "{\"cache\":true}", "{\"cache\":false}" };
  static const size_t rows[] = { 3, 1, 5, 6, 1, 1 };
  static const int off[] = { 0, 0, 1, 1, 0, 0 };
  uint64_t all = 0;
  for (int i = 0; i < 6; i++) {
    set(&g, say[off[i]]);
    step(&g);
    const struct living_read *r = &g.node[g.node[g.now].parent].read;
    ck_assert_uint_eq(r->rows, rows[i]);
    ck_assert_uint_eq(r->after.kv_rows_recomputed - r->before.kv_rows_recomputed, off[i] ? rows[i] - 1 : 0);
    /* and the text has cost what its steps have */
    all += rows[i];
    ck_assert_uint_eq(living_base(&g, g.now).rows, all);
    ck_assert_uint_eq(living_base(&g, g.now).passes, (uint64_t) i + 1);
  }
  end(&g);
}
END_TEST

START_TEST(a_text_ends)
{
  struct living g;
  begin(&g);
  set(&g, "{\"prompt\":\"The cat\",\"max_tokens\":2}");
  step(&g), step(&g);
  hold(living_over(&g));
  set(&g, "{\"max_tokens\":0}");
  hold(!living_over(&g));
  uint32_t stop = g.lm->config.eos[0];
  hold(living_next(&g, &stop) && living_over(&g));
  ck_assert_str_eq(g.node[g.now].why, "stopped");
  hold(living_drop(&g) && !living_over(&g));
  while (!living_over(&g)) {
    uint32_t the = 261;
    hold(living_next(&g, &the));
  }
  ck_assert_uint_eq(g.node[g.now].n, LIVING_CONTEXT + 1);
  end(&g);
}
END_TEST

START_TEST(stages_end_in_what_the_sampler_would_choose_from)
{
  struct living g;
  begin(&g);
  set(&g, "{\"prompt\":\"Once upon a time\",\"temperature\":0.9,\"top_k\":7,\"top_p\":0.9,\"seed\":5}");
  hold(!living_put_stages(&g, 0));
  for (int i = 0; i < 12; i++) step(&g);
  for (uint32_t k = 0; k < 12; k++) {
    hold_msg(living_put_stages(&g, k), "%s", g.why.text);
    json_t *v = parsed((const char *) g.out.byte), *stages = json_object_get(v, "stages"), *stage;
    size_t i, j, before = 2048;
    json_array_foreach(stages, i, stage) {
      size_t left = (size_t) json_integer_value(json_object_get(stage, "left"));
      hold(left <= before && left > 0);
      before = left;
      double sum = json_number_value(json_object_get(stage, "rest"));
      json_t *t;
      json_array_foreach(json_object_get(stage, "top"), j, t) sum += json_number_value(json_object_get(t, "probability"));
      hold_msg(sum > 1 - 1e-9 && sum < 1 + 1e-9, "the probabilities add up to %.12f", sum);
    }
    hold(json_array_size(stages) == 1 + g.wish.s.n_stages && before <= 7);
    /* the token that was written is one of those that are left */
    json_t *top = json_object_get(json_array_get(stages, json_array_size(stages) - 1), "top"), *t;
    bool found = false;
    json_array_foreach(top, j, t) found = found || json_integer_value(json_object_get(t, "id")) == g.node[k + 1].id;
    hold(found);
    json_decref(v);
  }
  end(&g);
}
END_TEST

START_TEST(beams_are_those_of_the_search)
{
  struct living g;
  begin(&g);
  set(&g, "{\"prompt\":\"The king said\"}");
  step(&g);
  hold_msg(living_search(&g, 3, 6), "%s", g.why.text);
  char *text = state(&g);
  json_t *v = parsed(text), *beams = json_object_get(v, "beams"), *search = json_object_get(v, "search"), *k;
  ck_assert_uint_eq(json_array_size(beams), 3);
  hold(json_number_value(json_object_get(json_array_get(beams, 0), "score")) >= json_number_value(json_object_get(json_array_get(beams, 1), "score")));
  size_t i, chosen = 0;
  json_array_foreach(search, i, k) chosen += json_is_true(json_object_get(k, "chosen"));
  ck_assert_uint_eq(chosen, json_array_size(json_object_get(json_array_get(beams, 0), "ids")) - living_walk(&g, g.now));
  json_decref(v);
  free(text);
  hold(!living_search(&g, 0, 6) && !living_search(&g, LIVING_MOST_BEAMS + 1, 6) && !living_search(&g, 2, LIVING_CONTEXT));
  end(&g);
}
END_TEST

/* every request for memory is refused once: a sentence, nothing is left, and what was there is as it was */
START_TEST(memory_may_be_refused)
{
  struct living g;
  begin(&g);
  set(&g, "{\"prompt\":\"The cat sat\"}");
  step(&g), step(&g);
  char *was = state(&g);
  uint64_t live = g.m.all.live;
  for (int what = 0; what < 4; what++)
    for (uint64_t k = 1;; k++) {
      uint32_t id = 300;
      g.m.fail_at = g.m.all.requests + k;
      uint64_t refusals = g.m.all.refused;
      bool ok = what == 0 ? living_next(&g, NULL) : what == 1 ? living_go(&g, 1) && living_next(&g, &id)
        : what == 2 ? living_search(&g, 2, 3) : living_put_state(&g) && living_put_tree(&g) && living_put_stages(&g, 0);
      g.m.fail_at = 0;
      if (g.m.all.refused == refusals) {
        hold(ok);
        break;
      }
      hold_msg(!ok && g.why.text[0] != 0, "%d, request %u is refused, and nothing is said", what, (unsigned) k);
      set(&g, "{\"prompt\":\"The cat sat\"}");
      step(&g), step(&g);
      char *now = state(&g);
      ck_assert_str_eq(now, was);
      free(now);
    }
  hold(live > 0);
  free(was);
  end(&g);
}
END_TEST

START_TEST(an_opening_may_be_refused)
{
  for (uint64_t k = 1;; k++) {
    struct living g = { .now = 0 };
    hold(living_material(&g));
    g.m.fail_at = g.m.all.requests + k;
    bool ok = living_begin(&g);
    g.m.fail_at = 0;
    end(&g);
    if (ok) break;
  }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("living");
  TCase *t = tcase_create("living");
  tcase_add_test(t, multiply_and_add_rounds_once);
  tcase_add_test(t, settings_are_refused_with_a_sentence);
  tcase_add_test(t, strings_are_read_as_they_are_meant);
  tcase_add_test(t, changed_settings_are_json_or_refused);
  tcase_add_test(t, back_is_the_state_before);
  tcase_add_test(t, a_fork_shares_pages_and_gives_the_bits_of_a_text_alone);
  tcase_add_test(t, many_branches_outlive_their_rows);
  tcase_add_test(t, the_cache_goes_on_and_off);
  tcase_add_test(t, a_text_ends);
  tcase_add_test(t, stages_end_in_what_the_sampler_would_choose_from);
  tcase_add_test(t, beams_are_those_of_the_search);
  tcase_add_test(t, memory_may_be_refused);
  tcase_add_test(t, an_opening_may_be_refused);
  suite_add_tcase(s, t);
  return suite_run(s);
}
