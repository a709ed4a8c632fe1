/* outside.c -- a program that has names of its own, which are those of the chapters too; linked with the library it uses both. */
#include <incipit.h>
#include <stdio.h>
#include <string.h>

int head[4] = { 1, 2, 3, 4 };
int forward(int x);
int generate(void);
void list_free(int **list);
void *memory_alloc(int n);
int kernels_scalar = 7, sampling_default, file_map, pool_run, tokenizer_open;
int forward(int x) { return x + head[3]; }
int generate(void) { return forward(kernels_scalar); }
void list_free(int **list) { *list = NULL; }
void *memory_alloc(int n) { return n > 0 ? &head[n] : NULL; }

int main(void)
{
  struct incipit_error why = { 0, "" };
  int *list = head;
  struct incipit_model *m = incipit_model_open(NULL, NULL, &why);
  struct incipit_context *c = incipit_context_open(m, NULL, &why);
  uint32_t id[8];
  size_t n = 0;
  list_free(&list);
  if (!incipit_encode(m, "The cat sat", 11, true, false, id, 8, &n, &why)) return puts(why.text), 1;
  struct incipit_result *r = incipit_generate(c, id, n, NULL, &why);
  if (r == NULL || strncmp(r->text, " on the mat.", 12) != 0) return puts(why.text), 1;
  int ours = generate() == 11 && list == NULL && memory_alloc(1) == &head[1] && head[0] == 1 && kernels_scalar == 7;
  incipit_result_close(r);
  incipit_context_close(c);
  incipit_model_close(m);
  return ours ? 0 : 2;
}
