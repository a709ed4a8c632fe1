/* hub.h -- models of Hugging Face's hub: their names, where the fetched ones are kept, what the hub says that it has, and fetching.

   hub_name.c   names, and the store: folders below one, which pull fills and -m looks in
   hub_list.c   the hub's answer about a model, and which of its files the engine reads
   hub_fetch.c  transfers by libcurl, with all that a stranger's answer must not do
   cmd_pull.c   what a user types and sees

   Only pull asks the network for anything, and only when a user has typed it. */
#ifndef INCIPIT_HUB_H
#define INCIPIT_HUB_H
#include "sums.h"
#include "waiting.h"

/* bytes, each with its zero, of one of the two words of a name, of a file's name, of a branch or a commit */
enum { HUB_WORD = 97, HUB_FILE = 200, HUB_REVISION = 101 };

/* a model as a user names it, ORG/NAME[@REVISION][:FILE]; no revision is main. The file may be a word of its name, as Q4_K_M */
struct hub_name { char repo[2 * HUB_WORD], revision[HUB_REVISION], file[HUB_FILE]; };

/* takes a name apart; false and a sentence if it is none */
bool hub_name_parse(const char *text, struct hub_name *n, struct error *why);

/* is it a branch, a tag or a commit as we would put it into an address and into the name of a folder? */
bool hub_revision_fits(const char *text);

/* is it a file's path in a repository that we would write to, below a folder of ours? */
bool hub_file_fits(const char *text);

/* the folder of all that was fetched: incipit below XDG_CACHE_HOME, or ~/.cache/incipit; false and a sentence if there is neither */
bool hub_store(char path[PATH_CAP], struct error *why);

/* the folder of one model in it, whether it is there or not */
bool hub_place(char path[PATH_CAP], const struct hub_name *n, struct error *why);

/* what is chosen of several GGUF files: wanted is a name, or a word between points and dashes of one, or empty if there should be but one;
   of those that were offered, how many are it exactly and how many fit, one of each, and their names as a list for a sentence */
struct hub_pick {
  const char *wanted;
  size_t exact, fits, all;
  char the[HUB_FILE], one[HUB_FILE], list[300];
};

/* offers a file; a name that is no model's is passed over, and so are the other parts of one whose first is offered as well */
void hub_pick_offer(struct hub_pick *p, const char *name);

/* the one that is meant, or null and a sentence about what is not clear; of is what has the files */
const char *hub_pick_end(const struct hub_pick *p, const char *of, struct error *why);

/* what -m meant by a name: not fetched; at path; or more than one file would do, and there is a sentence */
enum hub_found { HUB_ABSENT, HUB_FOUND, HUB_UNCLEAR };

/* looks for a model in the store */
enum hub_found hub_find(char path[PATH_CAP], const struct hub_name *n, struct error *why);

/* *text, which is a path to a model or the name of one that was fetched, becomes a path, kept in room; a path that leads to something
   stays, and so does what can be no name. False and a sentence for a model that was not fetched, or is not clear */
bool hub_resolve(const char **text, char room[PATH_CAP], struct error *why);

/* calls see for each GGUF file in a folder and the folders in it, with its name from there */
void hub_each_gguf(const char *folder, void (*see)(void *ctx, const char *name), void *ctx);

/* ---- what the hub has */

/* a file: its name in the repository; how many bytes, and their sum, of which kind; whether it is to be fetched */
struct hub_file { char name[HUB_FILE], sum[SUM_TEXT]; uint64_t bytes; enum sum_kind kind; bool chosen; };

/* what the hub says: the commit; the files that the engine might read; whether there are weights of a kind that it does not read; after
   hub_choose, the GGUF file that was chosen, of several the first, or null for a directory, and the files in the order in which they are fetched */
struct hub_listing { char commit[41]; struct hub_file *file; size_t n, cap; bool has_pickle, has_adapter; const struct hub_file *single; };

/* limits: bytes of an answer, files in it, bytes of a file */
enum { HUB_MAX_ANSWER = 1 << 24, HUB_MAX_FILES = 50000 };
#define HUB_MAX_BYTES (UINT64_C(1) << 44)

/* reads an answer of n bytes; false and a sentence, and nothing is held, if it is not what the hub would say, or would have us write
   anywhere else than into a folder of ours. from: who says it */
bool hub_listing_read(struct memory *m, const char *from, const char *text, size_t n, struct hub_listing *l, struct error *why);

/* gives it back */
void hub_listing_free(struct memory *m, struct hub_listing *l);

/* chooses what the engine reads: the file that the name asks for, or a directory of settings, vocabulary and weights, or the one GGUF file
   that there is, in both cases with the other parts of a model in several; false and a sentence that says what there is */
bool hub_choose(struct hub_listing *l, const struct hub_name *n, struct error *why);

/* ---- fetching */

struct hub_net;

/* prepares to fetch from HF_ENDPOINT; null and a sentence if that is no address, or the token is none. wait is told how far a transfer is,
   and asked whether to go on */
struct hub_net *hub_net_open(struct memory *m, struct waiting *wait, struct error *why);

/* ends it */
void hub_net_close(struct hub_net *h);

/* the hub's address, without a slash at its end */
const char *hub_net_endpoint(const struct hub_net *h);

/* why a token is not sent although there is one, or null */
const char *hub_net_hint(const struct hub_net *h);

/* may an answer from one address send us to another? False and a sentence for what is neither https nor http, and for http from https */
bool hub_hop_fits(const char *from, const char *to, struct error *why);

/* what the hub says about a model; an exit status, with a sentence unless it is STATUS_DONE or STATUS_CANCELLED */
int hub_ask(struct hub_net *h, const struct hub_name *n, struct bytes *answer, struct error *why);

/* fetches a file into a folder, which is there, under its own name, once it is whole and its sum is right; what has come of it earlier is
   gone on with. *fetched: bytes that came. A status as above; if cancelled, the sentence says how much is kept */
int hub_fetch(struct hub_net *h, const struct hub_name *n, const char *commit, const char *folder, const struct hub_file *f,
  uint64_t *fetched, struct error *why);

/* the file is in the folder already, with this sum; false and no sentence if it is absent or another, or if the wait was given up */
bool hub_is_here(struct waiting *wait, const char *folder, const struct hub_file *f);

/* bytes of a file that have come earlier */
uint64_t hub_begun(const char *folder, const struct hub_file *f);
#endif
