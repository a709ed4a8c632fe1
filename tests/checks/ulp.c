/* ulp.c -- how far our functions are from the truth, in units of the last place.
   ulp [-n RANDOM] [-s STATE] [-k STRIDE] [-c FILE] [FUNCTION...]   all when none is named
   -k: only every STRIDE-th float; -c: nothing is printed, but no error may be worse than the one
   that FILE has for the function. Float functions of one argument: all 2^32 inputs, in ranges of
   2^24, against the C library's double function; where that comes near the worst case so far, MPFR
   decides.  powf and the double functions: RANDOM (10^8) inputs, in ranges of 2^20, against MPFR.
   After each range the state goes to STATE, so that a run that was stopped goes on where it was.
   The last table has one line a function: name, inputs, worst error in ulp (rounded up in the
   fourth decimal), where. */
#define _GNU_SOURCE
#include "functions/numbers.h"
#include <inttypes.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int mpfr_one(mpfr_t, const mpfr_t, mpfr_rnd_t);
enum { SINGLE, DOUBLE, POWF, POW };
struct function {
  const char *name;
  int kind;
  double (*reference)(double);
  mpfr_one *exact;
  void (*run)(const uint32_t *u, float *y, int n);
  double (*run_double)(double);
};
#define RUN(f)                                                                                     \
  static void run_##f(const uint32_t *u, float *y, int n)                                          \
  {                                                                                                \
    for (int i = 0; i < n; i++) y[i] = num_##f(num_float(u[i]));                                   \
  }
RUN(expf) RUN(logf) RUN(sinf) RUN(cosf) RUN(tanhf) RUN(erff) static double run_exp(double x)
{
  return num_exp(x);
}
static const struct function all[] = {
  { "expf", SINGLE, exp, mpfr_exp, run_expf, NULL },
  { "logf", SINGLE, log, mpfr_log, run_logf, NULL },
  { "sinf", SINGLE, sin, mpfr_sin, run_sinf, NULL },
  { "cosf", SINGLE, cos, mpfr_cos, run_cosf, NULL },
  { "tanhf", SINGLE, tanh, mpfr_tanh, run_tanhf, NULL },
  { "erff", SINGLE, erf, mpfr_erf, run_erff, NULL },
  { "powf", POWF, NULL, NULL, NULL, NULL },
  { "exp", DOUBLE, NULL, mpfr_exp, NULL, run_exp },
  { "log", DOUBLE, NULL, mpfr_log, NULL, num_log },
  { "sin", DOUBLE, NULL, mpfr_sin, NULL, num_sin },
  { "cos", DOUBLE, NULL, mpfr_cos, NULL, num_cos },
  { "tanh", DOUBLE, NULL, mpfr_tanh, NULL, num_tanh },
  { "erf", DOUBLE, NULL, mpfr_erf, NULL, num_erf },
  { "pow", POW, NULL, NULL, NULL, NULL },
};
enum { FUNCTIONS = sizeof all / sizeof all[0], BLOCK = 4096 };
struct state {
  uint64_t next;
  double worst, x, y;
} state[FUNCTIONS];
static const char *state_path, *compare_path;
static uint64_t stride = 1, step = 1u << 20;
static mpfr_t mx, my, mz;

static uint64_t rnd(uint64_t *s)
{
  uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}
static void save(void)
{
  char part[4096];
  if (state_path == NULL) return;
  snprintf(part, sizeof part, "%s.part", state_path);
  FILE *f = fopen(part, "w");
  if (f == NULL) return;
  for (int i = 0; i < FUNCTIONS; i++)
    fprintf(f, "%s %" PRIu64 " %a %a %a\n", all[i].name, state[i].next, state[i].worst, state[i].x,
      state[i].y);
  fclose(f);
  rename(part, state_path);
}
static void load(void)
{
  char name[32];
  struct state s;
  FILE *f = state_path ? fopen(state_path, "r") : NULL;
  if (f == NULL) return;
  while (fscanf(f, "%31s %" SCNu64 " %la %la %la", name, &s.next, &s.worst, &s.x, &s.y) == 5)
    for (int i = 0; i < FUNCTIONS; i++)
      if (strcmp(name, all[i].name) == 0) state[i] = s;
  fclose(f);
}

/* the last place of a float, and of a double, at a true value */
static double place(double truth, int digits, int min)
{
  int e;
  frexp(truth, &e);
  return ldexp(1, e - digits < min ? min : e - digits);
}
/* |got - truth| in last places, truth being mz (with plenty of digits) */
static double distance(double got, int digits, int min, double top)
{
  double t = mpfr_get_d(mz, MPFR_RNDN);
  if (mpfr_nan_p(mz)) return got != got ? 0 : INFINITY;
  if (got != got) return INFINITY;
  mpfr_exp_t e = mpfr_regular_p(mz) ? mpfr_get_exp(mz) : 0;
  bool beyond = mpfr_inf_p(mz) || e > 1100 || fabs(t) >= top;
  if (isinf(got)) return beyond && signbit(got) == mpfr_signbit(mz) ? 0 : INFINITY;
  if (mpfr_inf_p(mz)) return INFINITY;
  if (beyond) return INFINITY;
  double ulp = place(t, digits, min);
  mpfr_sub_d(mz, mz, got, MPFR_RNDN);
  mpfr_div_d(mz, mz, ulp, MPFR_RNDN);
  return fabs(mpfr_get_d(mz, MPFR_RNDN));
}
#define FLOAT_PLACES 24, -149, 0x1.ffffffp127
#define DOUBLE_PLACES 53, -1074, INFINITY

static void note(int f, double error, double x, double y)
{
  if (error > state[f].worst) state[f].worst = error, state[f].x = x, state[f].y = y;
}
static double precisely(const struct function *f, float x, float got)
{
  mpfr_set_flt(mx, x, MPFR_RNDN);
  f->exact(mz, mx, MPFR_RNDN);
  return distance(got, FLOAT_PLACES);
}
/* one value against the double reference; MPFR where it could be the worst so far */
static void judge(int i, float x, float got)
{
  double truth = all[i].reference(x);
  if (got != got && truth != truth) return;
  double error = fabs((double) got - truth) / place(truth, 24, -149);
  if (fabs(truth) >= 0x1.ffffffp127 && isinf(got) && (got > 0) == (truth > 0)) return;
  if (error < 0.45) return; /* rounding alone comes nearer to 0.5 than this somewhere */
  if (!(error + 1e-6 < state[i].worst)) note(i, precisely(&all[i], x, got), x, 0);
}
static void range_single(int i)
{
  static uint32_t u[BLOCK];
  static float y[BLOCK];
  uint64_t end = state[i].next + (1u << 24), all_of_them = (UINT64_C(1) << 32) / stride;
  for (end = end < all_of_them ? end : all_of_them; state[i].next < end; state[i].next += BLOCK) {
    for (int j = 0; j < BLOCK; j++) u[j] = (uint32_t) ((state[i].next + (unsigned) j) * stride);
    all[i].run(u, y, BLOCK);
    for (int j = 0; j < BLOCK; j++) judge(i, num_float(u[j]), y[j]);
  }
}

/* random arguments: half from where the function is interesting, half any bits at all */
static double argument(const char *name, uint64_t *s)
{
  uint64_t r = rnd(s);
  if (r & 1) return num_double(rnd(s));
  double z = ldexp((double) (int64_t) rnd(s), -63);
  if (strcmp(name, "exp") == 0) return 760 * z;
  if (strcmp(name, "log") == 0) return r & 2 ? 1 + z / 2 : fabs(z) * 100;
  if (strcmp(name, "sin") == 0 || strcmp(name, "cos") == 0) return r & 2 ? z * 4 : z * 2e7;
  return z * 7;
}
static void range_double(int i)
{
  for (uint64_t end = state[i].next + step; state[i].next < end; state[i].next++) {
    uint64_t s = state[i].next * 8 + 1;
    double x = argument(all[i].name, &s), y = all[i].run_double(x);
    mpfr_set_d(mx, x, MPFR_RNDN);
    all[i].exact(mz, mx, MPFR_RNDN);
    note(i, distance(y, DOUBLE_PLACES), x, 0);
  }
}
static void range_power(int i)
{
  bool single = all[i].kind == POWF;
  for (uint64_t end = state[i].next + step; state[i].next < end; state[i].next++) {
    uint64_t s = state[i].next * 8 + 2, r = rnd(&s);
    double x, y;
    if (r & 1) {
      x = single ? num_float((uint32_t) rnd(&s)) : num_double(rnd(&s));
      y = single ? num_float((uint32_t) rnd(&s)) : num_double(rnd(&s));
    } else { /* results over the whole range of exponents */
      x = ldexp(0.5 + ldexp((double) (rnd(&s) >> 11), -54),
        (int) (rnd(&s) % (single ? 120 : 1000)) - (single ? 60 : 500));
      if (r & 2) x = 0.5 + ldexp((double) (rnd(&s) >> 11), -53);
      y = ldexp((double) (int64_t) rnd(&s), -63) * (single ? 105 : 750) / log(x);
      if (single) x = (float) x, y = (float) y;
    }
    double got = single ? (double) num_powf((float) x, (float) y) : num_pow(x, y);
    mpfr_set_d(mx, x, MPFR_RNDN);
    mpfr_set_d(my, y, MPFR_RNDN);
    mpfr_pow(mz, mx, my, MPFR_RNDN);
    note(i, single ? distance(got, FLOAT_PLACES) : distance(got, DOUBLE_PLACES), x, y);
  }
}

/* none of the errors found may be above the committed one */
static int compare(void)
{
  FILE *f = fopen(compare_path, "r");
  char words[300], name[32];
  double error;
  int bad = f == NULL, known = 0;
  while (f != NULL && fgets(words, sizeof words, f) != NULL)
    if (sscanf(words, "%31[a-z],%*[^,],%lf", name, &error) == 2)
      for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(name, all[i].name) == 0 && ++known && state[i].worst > error)
          printf("%s: %.5f last places at %a, %a; %.4f are committed\n", name, state[i].worst,
            state[i].x, state[i].y, error),
            bad++;
  if (f != NULL) fclose(f);
  printf("%d functions compared, %d faults\n", known, bad);
  return bad > 0 || known < FUNCTIONS;
}
int main(int argc, char **argv)
{
  uint64_t random = 100000000;
  int first = 1;
  while (first + 1 < argc && argv[first][0] == '-') {
    if (argv[first][1] == 'n') random = strtoull(argv[first + 1], NULL, 0);
    if (argv[first][1] == 's') state_path = argv[first + 1];
    if (argv[first][1] == 'k') stride = strtoull(argv[first + 1], NULL, 0);
    if (argv[first][1] == 'c') compare_path = argv[first + 1];
    first += 2;
  }
  if (random < step) step = random;
  mpfr_init2(mx, 64), mpfr_init2(my, 64), mpfr_init2(mz, 96);
  load();
  for (int i = 0; i < FUNCTIONS; i++) {
    bool wanted = first >= argc;
    for (int j = first; j < argc; j++) wanted = wanted || strcmp(argv[j], all[i].name) == 0;
    uint64_t end = all[i].kind == SINGLE ? (UINT64_C(1) << 32) / stride : random;
    while (wanted && state[i].next < end) {
      if (all[i].kind == SINGLE)
        range_single(i);
      else if (all[i].kind == DOUBLE)
        range_double(i);
      else
        range_power(i);
      save();
      if (isatty(2))
        fprintf(stderr, "\r%-6s %5.1f %%  worst %.4f ", all[i].name,
          100 * (double) state[i].next / (double) end, state[i].worst);
    }
  }
  if (isatty(2)) fprintf(stderr, "\n");
  if (compare_path != NULL) return compare();
  printf("# worst errors of the functions of workshop 1 in units of the last place, by tests/checks/ulp.c "
         "(make ulp)\n"
         "# arguments: all of them for functions of one float, else random "
         "ones\nfunction,arguments,error,at\n");
  for (int i = 0; i < FUNCTIONS; i++)
    if (state[i].next > 0)
      printf("%s,%" PRIu64 ",%.4f,%.17g%s%.17g\n", all[i].name, state[i].next,
        ceil(state[i].worst * 1e4) / 1e4, state[i].x, all[i].kind >= POWF ? " and " : " ; ",
        state[i].y);
  return 0;
}
