/* serve_metrics.c -- GET /metrics: gauges, counters and histograms in the text form of Prometheus, version 0.0.4.

   A family is a row of a table, or of one of the three below it that have labels; names begin with incipit_, units are base
   units, counters end in _total. No label ever holds a word of a client. */

#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include "serve.h"

/* all that is printed; the names of the rows below are places in it */
struct seen {
  struct serve_counts c;
  struct serve_look l;
  uint64_t connections, resident;
};

static void begin_family(FILE *f, const char *name, const char *type, const char *words)
{
  fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, words, name, type);
}

/* resident pages, as the kernel counts them */
static uint64_t resident_bytes(void)
{
  unsigned long long all, resident = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f == NULL) return 0;
  if (fscanf(f, "%llu %llu", &all, &resident) != 2) resident = 0;
  fclose(f);
  return resident * (uint64_t) sysconf(_SC_PAGESIZE);
}

#define AT(field) offsetof(struct seen, field), sizeof ((struct seen *) NULL)->field
static const struct { const char *name, *type; size_t at, size; const char *words; } family[] = {
  { "incipit_requests_running", "gauge", AT(l.running), "Requests with a choice in a slot." },
  { "incipit_requests_waiting", "gauge", AT(l.waiting), "Requests that have had no slot." },
  { "incipit_connections", "gauge", AT(connections), "Open connections." },
  { "incipit_kv_pages", "gauge", AT(l.pages), "Pages that the cache may have." },
  { "incipit_kv_pages_used", "gauge", AT(l.pages_used), "Pages of requests." },
  { "incipit_kv_pages_cached", "gauge", AT(l.pages_cached), "Pages of nobody that are kept for their tokens." },
  { "incipit_kv_page_rows", "gauge", AT(l.page_rows), "Rows of a page." },
  { "incipit_slots", "gauge", AT(l.slots), "Texts that are written at a time." },
  { "process_resident_memory_bytes", "gauge", AT(resident), "Resident memory of the process." },
  { "incipit_prompt_tokens_total", "counter", AT(c.prompt_tokens), "Tokens of prompts, each prompt once." },
  { "incipit_cached_tokens_total", "counter", AT(c.cached_tokens), "Tokens of prompts whose rows were found." },
  { "incipit_generation_tokens_total", "counter", AT(c.written_tokens), "Tokens written." },
  { "incipit_passes_total", "counter", AT(l.done.passes), "Passes computed." },
  { "incipit_rows_total", "counter", AT(l.done.rows), "Rows computed." },
  { "incipit_preemptions_total", "counter", AT(l.done.preempted), "Slots taken away for lack of pages." },
  { "incipit_guessed_tokens_total", "counter", AT(l.guessed), "Tokens guessed." },
  { "incipit_accepted_tokens_total", "counter", AT(l.accepted), "Guesses that were right." },
};

static void put_families(FILE *f, const struct seen *s)
{
  for (size_t i = 0; i < sizeof family / sizeof *family; i++) {
    const unsigned char *at = (const unsigned char *) s + family[i].at;
    uint64_t value = 0;
    size_t small;
    if (family[i].size == sizeof value) memcpy(&value, at, sizeof value);
    else memcpy(&small, at, sizeof small), value = small;
    begin_family(f, family[i].name, family[i].type, family[i].words);
    fprintf(f, "%s %" PRIu64 "\n", family[i].name, value);
  }
}

static void put_outcomes(FILE *f, const struct serve_counts *c)
{
  static const char *const name[N_SERVE_OUTCOMES] = { "stop", "length", "cancelled", "refused", "error" };
  begin_family(f, "incipit_requests_total", "counter", "Requests for text, by what came of them.");
  for (size_t i = 0; i < N_SERVE_OUTCOMES; i++)
    fprintf(f, "incipit_requests_total{outcome=\"%s\"} %" PRIu64 "\n", name[i], c->outcome[i]);
}

static void put_responses(FILE *f, const uint64_t response[SERVE_STATUSES])
{
  begin_family(f, "incipit_http_responses_total", "counter", "Answers by status.");
  for (unsigned i = 0; i < SERVE_STATUSES; i++)
    if (response[i] > 0) fprintf(f, "incipit_http_responses_total{code=\"%u\"} %" PRIu64 "\n", i, response[i]);
}

static void put_times(FILE *f, const char *name, const char *words, const struct serve_times *t)
{
  uint64_t sum = 0;
  char number[MAX_NUMBER_LEN];
  begin_family(f, name, "histogram", words);
  for (size_t i = 0; i < SERVE_BUCKETS; i++) {
    sum += t->bucket[i];
    fprintf(f, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name, serve_bucket_end(i), sum);
  }
  number_double(t->sum, number);
  fprintf(f, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %s\n%s_count %" PRIu64 "\n", name, t->count, name, number, name, t->count);
}

/* what the page draws: how far each slot is, and for which request */
static void put_slots(FILE *f, size_t n, const size_t *rows, const uint64_t *ticket)
{
  begin_family(f, "incipit_slot_rows", "gauge", "Rows that a slot has in the cache.");
  for (size_t i = 0; i < n; i++) fprintf(f, "incipit_slot_rows{slot=\"%zu\"} %zu\n", i, rows[i]);
  begin_family(f, "incipit_slot_request", "gauge", "The number of the request that a slot works for; 0: none.");
  for (size_t i = 0; i < n; i++) fprintf(f, "incipit_slot_request{slot=\"%zu\"} %" PRIu64 "\n", i, ticket[i]);
}

bool serve_put_metrics(struct serve_engine *e, unsigned connections, const uint64_t response[SERVE_STATUSES], struct bytes *out,
  struct memory *m)
{
  struct seen s = { .connections = connections, .resident = resident_bytes() };
  struct serve_text t;
  size_t rows[256];
  uint64_t ticket[256];
  serve_engine_look(e, &s.c, &s.l, rows, ticket);
  if (!serve_text_begin(&t)) return false;
  put_families(t.out, &s);
  put_outcomes(t.out, &s.c);
  put_responses(t.out, response);
  put_times(t.out, "incipit_time_to_first_token_seconds", "From a request to its first token.", &s.c.first);
  put_times(t.out, "incipit_time_per_output_token_seconds", "Mean time from token to token of a choice.", &s.c.per_token);
  put_times(t.out, "incipit_request_seconds", "From a request to the end of its last choice.", &s.c.request);
  put_slots(t.out, s.l.slots, rows, ticket);
  return serve_text_end(&t, out, m);
}
