Lab 10: sixteen lanes. A change file for chapters/11-simd.w in CWEB's form, with one thing more: a word before @x.
"shape" changes what the files are, for the reference as well; "cut" takes away what the student writes, and what it takes away
is the reference's answer. Where the lab has a smaller form of a function than the chapter, the cut puts the skeleton at the head of
the section and lets the answer, which the shape after it writes, fall into a section that is never used.

cut: the fold
@x
INLINE float fold_array(float *lane)
{
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) lane[j] += lane[j + s];
  return lane[0];
}
@y
/* the sum of sixteen lanes, which may be overwritten: lanes 8 to 15 are added to lanes 0 to 7, then 4 to 7 to 0 to 3, and so on */
INLINE float fold_array(float *lane)
{
  /* YOUR CODE: fold by halves, four times */
  return 0 * lane[0];
}
@z

shape: the tail of a sum is in another book; here it has a section of its own, before the dot product
@x
@ A dot product by itself is what norms need. Its loop is the definition of \cref{sec:order} read aloud: sixteen
terms at a time, each to its lane, the rest to the first lanes, and then the fold, which goes through an array. That is slow, but there are two norms in a layer, and each has one fold a row.

@y
@ The sixteen lanes are |PARTS| registers of |WIDTH| lanes: lane $j$ is place $j\bmod|WIDTH|$ of register $\lfloor j/|WIDTH|\rfloor$. At the end of a row fewer than sixteen terms may be left. They go to the first lanes, and the lanes without a term are left as they are. A multiply--add of zeros is not the same: a lane that is $-0$ would become $+0$. So |load_partial| loads the numbers that are there, and |blend| chooses between the new register and the old one.

@z

cut: the tail
@x
@<The dot product of sixteen lanes@>=
@y
@<The dot product of sixteen lanes@>=
/* adds the last terms of a dot product to the first lanes: term |i + j|, which is |x[i + j]| times number |i + j| of |w|, to lane |j|
   for |j < rest|, with one rounding each; |rest| is from 0 to 15; nothing beyond these numbers is read, and the other lanes stay as they are */
INLINE void add_rest(const float *x, struct tensor w, size_t i, size_t rest, vec *a)
{
  /* YOUR CODE: for each register that gets a term: |load_partial|, |fused|, |blend| */
  (void) x, (void) w, (void) i, (void) rest, (void) a;
}

@ The answer.

@<What the student writes@>=
@z

shape: the answer for the tail, as in workshop/17-kernels.w; then the dot product
@x
INLINE float dot(const float *x, struct tensor w, size_t n)
{
@y
INLINE void add_rest(const float *x, struct tensor w, size_t i, size_t rest, vec *a)
{
  struct tensor in = @[{ x, WEIGHT_F32 }@];
  each (p, PARTS) {
    int here = (int) rest - p * WIDTH;
    size_t k = i + (size_t) p * WIDTH;
    if (here > WIDTH) here = WIDTH;
    if (here > 0)
      a[p] = blend(here, fused(load_partial(in, k, here),
        load_partial(w, k, here), a[p]), a[p]);
  }
}

@ A dot product by itself is what norms need. Its loop is the definition of \cref{sec:order} read aloud: sixteen
terms at a time, each to its lane, the rest to the first lanes, and then the fold, which goes through an array. That is slow, but there are two norms in a layer, and each has one fold a row.

@<The dot product of sixteen lanes@>=
/* the dot product of |x| and |w|, |n| numbers each, in sixteen lanes; |n| may be 0 */
INLINE float dot(const float *x, struct tensor w, size_t n)
{
@z

cut: the dot product
@x
  struct tensor in = @[{ x, WEIGHT_F32 }@];
  vec a[PARTS] = @[{ 0 }@];
  float lane[16];
  size_t whole = n / 16 * 16;
  for (size_t k = 0; k < whole; k += 16)
    each (p, PARTS)
      a[p] = fused(load(in, k + (size_t) p * WIDTH),
        load(w, k + (size_t) p * WIDTH), a[p]);
  add_rest(x, w, whole, n - whole, a);
  memcpy(lane, a, sizeof lane);
  return fold_array(lane);
}
@y
  /* YOUR CODE: sixteen terms at a time, the rest, the fold */
  (void) x, (void) w, (void) n;
  return 0;
}
@z

cut: the first steps of several folds
@x
INLINE vec fold_parts(vec *a)
{
  for (int s = PARTS / 2; s > 0; s /= 2)
    for (int p = 0; p < s; p++) a[p] += a[p + s];
  return a[0];
}
@y
/* the steps of the fold in which whole registers are added: from |PARTS| registers to one, whose |WIDTH| lanes are left to fold */
INLINE vec fold_parts(vec *a)
{
  /* YOUR CODE: registers by halves */
  return a[0];
}
@z

shape: always four rows side by side, and nothing is asked for early
@x
@ How many of them are computed side by side is a question of memory. A multiply--add takes four cycles until its sum can be used, and two can begin in each cycle, so eight chains would keep the multipliers busy; with AVX2, four rows have eight. But four rows that are read side by side are four places in memory, and a processor fetches ahead best what is read from end to end.
With long rows one chain is enough: it takes a register of sixteen weights every four cycles, more than memory can deliver.
So rows are taken by fours if four of them lie within a page of memory. Longer rows of floats are faster by fours with AVX2, and one after the other with AVX-512; so they go by fours only where sixteen lanes take more than one register.
And because the processor's own fetching ahead ends with the page, what comes |ahead| bytes later is asked for early, if rows are read one after the other. The request names a cache, |HINT|; which one turned out to matter a great deal (\cref{sec:tuning}). In a matrix, whose rows follow each other in memory, |ahead| is a few lines. In a cache, where the keys of the other heads come between two keys of one head, it is a number of rows.
Eight steps are written out for each turn of the loop, and this makes even a loop faster that waits for memory. A processor has only so many instructions under way, and each line that it waits for is asked for by one of them; if fewer of them are spent on counting, we think, more loads are under way at once.
@y
@ How many of them are computed side by side? A multiply--add takes four cycles until its sum can be used, so one chain would leave the multiplier idle most of the time. In this lab four products are computed side by side. A register of the one row is loaded once and serves all four.
@z

cut: products side by side
@x
@^prefetch@>

@<Dot products of one row with as many others as a register has lanes@>=
@y

@<Dot products of one row with as many others as a register has lanes@>=
/* the dot products of |x| with several rows of |n| numbers, but for the last steps of their folds: |half[i]| is what |fold_parts| makes
   of the product with row |i|, which begins at the address |row[i]|.  The number of rows is |side|, at most 4; it is a constant where this
   is called, so that |each (i, side)| keeps sums in registers.  Each register of |x| is loaded once and serves all rows */
INLINE void some_dots(int side, const float *x, const char *const *row,
  enum weight_type type, size_t n, vec *half)
{
  /* YOUR CODE: as in |dot|, with |PARTS| registers of sums for each row */
  (void) x, (void) row, (void) type, (void) n;
  each (i, side) half[i] = spread(0);
}

@ The answer.

@<What the student writes@>=
@z

shape: the answer in a smaller form
@x
INLINE void dots_step(int side, const float *x, const char *const *row,
  enum weight_type type, size_t k, size_t ahead, vec a[4][PARTS])
{
  struct tensor in = @[{ x, WEIGHT_F32 }@];
  each (p, PARTS) {
    size_t at = k + (size_t) p * WIDTH;
    vec v = load(in, at);
    if (side == 1) __builtin_prefetch(*row + weight_row_bytes(type, at) + ahead, 0, HINT);
    each (i, side)
      a[i][p] = fused(v, load((struct tensor) @[{ row[i], type }@], at), a[i][p]);
  }
}

@ A step of weights in blocks is long already, so its loop is left as it is; and a row of blocks has no rest.

@<Dot products of one row with as many others as a register has lanes@>=
INLINE void some_dots(int side, const float *x, const char *const *row,
  enum weight_type type, size_t n, size_t ahead, vec *half)
{
  vec a[4][PARTS] = @[{ { { 0 } } }@];
  size_t whole = n / 16 * 16;
  if (number_types[type].block > 1)
    for (size_t k = 0; k < whole; k += 16) dots_step(side, x, row, type, k, ahead, a);
  else each_step (s, n / 16) dots_step(side, x, row, type, s * 16, ahead, a);
@y
INLINE void some_dots(int side, const float *x, const char *const *row,
  enum weight_type type, size_t n, vec *half)
{
  struct tensor in = @[{ x, WEIGHT_F32 }@];
  vec a[4][PARTS] = @[{ { { 0 } } }@];
  size_t whole = n / 16 * 16;
  for (size_t k = 0; k < whole; k += 16)
    each (p, PARTS) {
      size_t at = k + (size_t) p * WIDTH;
      vec v = load(in, at);
      each (i, side)
        a[i][p] = fused(v, load((struct tensor) @[{ row[i], type }@], at), a[i][p]);
    }
@z

shape: no functions of their own for short rows
@x
@<Dot products of one row with as many others as a register has lanes@>=
INLINE int part_lanes(size_t n, int p)
@y
@<What the lab leaves out@>=
INLINE int part_lanes(size_t n, int p)
@z

cut: as many products as a register has lanes
@x
@ The rows of the others begin |stride| bytes apart; |there| is how many there are, and if that is fewer than there are lanes, the last is taken more than once. Small models have heads of \given{8} numbers; with both counts known, their loop has no conditions left.

@<Dot products of one row with as many others as a register has lanes@>=
@y
@ The rows of the others begin |stride| bytes apart; |there| is how many there are, and if that is fewer than there are lanes, the last is taken more than once. What lies behind it may not be memory at all.

@<Dot products of one row with as many others as a register has lanes@>=
/* the dot products of |x| with some rows of |n| numbers each; the first begins at the address |row|, and each of the others |stride| bytes
   after the one before.  The number of rows is |there|, from 1 to |WIDTH|.  Lane |i| of the result is the product with row |i|.  The other lanes
   may hold anything, but no other rows may be read */
INLINE vec dots(const float *x, const char *row, size_t stride, size_t there,
  enum weight_type type, size_t n)
{
  /* YOUR CODE: |some_dots|, four rows at a time, and |fold_all| */
  (void) x, (void) row, (void) stride, (void) there, (void) type, (void) n;
  return spread(0);
}

@ The answer.

@<What the student writes@>=
@z

shape: the answer in a smaller form
@x
INLINE vec dots(const char *what, const float *x, const char *row,
  size_t stride, size_t there, enum weight_type type, size_t n, size_t ahead)
{
  vec half[WIDTH];
  const char *at[WIDTH];
  TALLY(what, 0, there * n);
  bool is_short = number_types[type].block == 1 && n < 16;
  if (is_short && n == 8 && there == WIDTH)
    return short_dots(x, row, stride, WIDTH, type, 8);
  if (is_short) return short_dots(x, row, stride, there, type, n);
  for (size_t i = 0; i < WIDTH; i++) at[i] = row + (i < there ? i : there - 1) * stride;
  bool whole_floats = FOURS_FLOATS && PARTS > 1 && type == WEIGHT_F32@|
    && stride == n * sizeof *x;
  if (stride <= FOURS_BYTES || whole_floats)
    for (size_t i = 0; i < WIDTH; i += 4)
      some_dots(4, x, at + i, type, n, ahead, half + i);
  else for (size_t i = 0; i < WIDTH; i++)
    some_dots(1, x, at + i, type, n, ahead, half + i);
  (void) what; /* only tallies ask */
  return fold_all(half);
}
@y
INLINE vec dots(const float *x, const char *row, size_t stride, size_t there,
  enum weight_type type, size_t n)
{
  vec half[WIDTH];
  const char *at[WIDTH];
  for (size_t i = 0; i < WIDTH; i++) at[i] = row + (i < there ? i : there - 1) * stride;
  for (size_t i = 0; i < WIDTH; i += 4)
    some_dots(4, x, at + i, type, n, half + i);
  return fold_all(half);
}
@z

cut: sums and the bias
@x
INLINE float add_bias(float sum, const struct matrix *w, size_t o)
{@+ return w->bias.data == NULL ? sum : sum + load_one(w->bias, o);@+ }
INLINE void put_sums(const float *sum, const struct matrix *w, size_t o,
  size_t outs, float *y)
{
  size_t c = 0;
  for (; w->bias.data == NULL && c + WIDTH <= outs; c += WIDTH)
    memcpy(y + o + c, sum + c, WIDTH * sizeof *y);
  for (; c < outs; c++) y[o + c] = add_bias(sum[c], w, o + c);
}
@y
/* writes |outs| outputs of one row, from output |o| on, to |y[o]|, |y[o + 1]|, and so on: |sum[c]| for output |o + c|, to which the bias of
   that output is added, if the matrix has a bias; nothing else is written or read */
INLINE void put_sums(const float *sum, const struct matrix *w, size_t o,
  size_t outs, float *y)
{
  /* YOUR CODE: copy, or add the bias (|load_one|) */
  (void) sum, (void) w, (void) o, (void) outs, (void) y;
}
@z

cut: few rows
@x
@<Few rows by the outputs |from| to |to| of a matrix stored by outputs@>=
@y
@<Few rows by the outputs |from| to |to| of a matrix stored by outputs@>=
/* the outputs |from|, |from + 1|, and so on up to |to - 1| of the linear layer |w| for each of the rows: |x| is |[rows][w->in]|, |y| is
   |[rows][w->out]|; the weights are |[w->out][w->in]|, numbers of the given type, row after row */
INLINE void by_outputs(const struct matrix *w, enum weight_type type,
  const float *x, size_t rows, size_t from, size_t to, float *y)
{
  /* YOUR CODE: strips of |WIDTH| outputs; in each, all rows: |dots|, |put_sums| */
  (void) w, (void) type, (void) x, (void) rows, (void) from, (void) to, (void) y;
}

@ The answer.

@<What the student writes@>=
@z

shape: the answer in a smaller form
@x
      vec sum = dots("linear", x + r * w->in, row, stride, outs, type,
        w->in, ROWS_AHEAD);
@y
      vec sum = dots(x + r * w->in, row, stride, outs, type, w->in);
@z

cut: the places of lanes and inputs in a panel
@x
INLINE size_t turned(size_t t)
{@+ return (t & 1) << 3 | (t & 2) << 1 | (t & 4) >> 1 | (t & 8) >> 3;@+ }
INLINE size_t lane_steps(size_t n, size_t lane)
{@+ return (n + 15 - lane) / 16;@+ }
INLINE size_t panel_place(size_t n, size_t k)
{@+ return turned(k % 16) * lane_steps(n, 0) + k / 16;@+ }
@y
/* the lane at place |t| of the order 0, 8, 4, 12, 2, and so on, and the place of lane |t| in it: the four bits of |t| reversed */
INLINE size_t turned(size_t t)
{
  /* YOUR CODE: reverse four bits */
  (void) t;
  return 0;
}
/* how many of |n| terms go to the given lane, which is below 16: those whose number leaves it as the remainder when divided by 16 */
INLINE size_t lane_steps(size_t n, size_t lane)
{
  /* YOUR CODE: a division that is rounded up, of what? */
  (void) n, (void) lane;
  return 0;
}
/* which step of a panel for |n| inputs has input |k|: all steps of lane 0 come first, then those of the lane at place 1, and so on; each
   lane has room for |lane_steps(n, 0)| steps, even if it has one step fewer */
INLINE size_t panel_place(size_t n, size_t k)
{
  /* YOUR CODE: the place of the lane of |k|, and the step of |k| in it */
  (void) n, (void) k;
  return 0;
}
@z

shape: what a tile is given
@x
@ A tile, then: sixteen chains, one after the other, each in registers from its first term to its last; and after each, as many steps of the fold as can be taken. |real| is how many of the sums are used. The rows are those of a panel, or a single row as it is, where lane $j$ finds its terms sixteen places apart.
@y
@ A tile, then: sixteen chains, one after the other, each in registers from its first term to its last; and after each, as many steps of the fold as can be taken. In each step the weights of |NR| outputs, two registers, are loaded once and serve all rows; one input of each row is spread over all lanes of a register. The place in the weights' panel of step $k$ of the lane at place $t$ is |(t * lane_steps(n, 0) + k) * NR|, and that in the rows' panel is the same with |rows| instead of |NR|.
@z

shape
@x
INLINE void tile(const char *what, size_t real, int rows, const float *x,
  struct tensor panel, size_t n, float *sum)
{
@y
/* the dot products of some rows with |NR| outputs, |n| numbers each: |sum[r * NR + c]| is that of row |r| and output |c|.  |x| is the panel
   of the rows: a step of it has one number of each row.  |panel| is that of the weights: a step has one weight of each output.  The number
   of rows is 2, 4 or 6, and a constant where this is called; loops over it are written with |each|.  In each step the weights are
   loaded once, in two registers, and serve all rows */
INLINE void tile(int rows, const float *x, struct tensor panel, size_t n, float *sum)
{
@z

cut: a tile
@x
  vec a[TILE_ROWS][2], done[4][TILE_ROWS][2];
  size_t all = lane_steps(n, 0), depth = 0, step = rows == 1 ? 16 : (size_t) rows;
@y
  /* YOUR CODE: sixteen chains in the order of the panel, and the fold as soon as lanes are done */
  (void) rows, (void) x, (void) panel, (void) n, (void) sum;
@z

shape
@x
  (void) what, (void) real; /* only tallies ask */
@y
@z

cut
@x
  for (size_t t = 0; t < 16; t++) {
    size_t lane = turned(t);
    const float *in = x + (rows == 1 ? lane : t * all * (size_t) rows);
    each (r, rows) each (h, 2) a[r][h] = (vec) @[{ 0 }@];
    if (lane < n) @<Pass the chain of this |lane|@>@;
    for (size_t c = t + 1; c % 2 == 0; c /= 2, depth--)
      each (r, rows) each (h, 2) a[r][h] = done[depth - 1][r][h] + a[r][h];
    if (t < 15) {
      each (r, rows) each (h, 2) done[depth][r][h] = a[r][h];
      depth++;
    }
  }
  each (r, rows) each (h, 2)
    memcpy(sum + r * NR + h * WIDTH, &a[r][h], sizeof a[r][h]);
}
@y
}
@z

shape: the loop as it is
@x
each_step (k, lane_steps(n, lane)) {
  size_t at = (t * all + k) * NR;
  if (rows == 1) each (h, 2) prefetch(panel, at + PANEL_AHEAD * NR + (size_t) h * WIDTH);
@y
for (size_t k = 0; k < lane_steps(n, lane); k++) {
  size_t at = (t * all + k) * NR;
  prefetch(panel, at + 12 * NR), prefetch(panel, at + 12 * NR + WIDTH);
@z

shape
@x
  TALLY(what, 0, real);
@y
@z

shape: a tile for a number of rows that is not a constant
@x
TARGET static int tile_rows(size_t rows)
{
  int third = TILE_ROWS / 3, thirds = ((int) rows + third - 1) / third;
  return thirds * third;
}
static ALONE void packed_tile(const char *what, size_t real, size_t rows,
  const float *x, struct tensor panel, size_t n, float *sum)
{
#define TILE(height, type) \
  @[tile(what, real, height, x, (struct tensor) { panel.data, type }, n, sum)@]
#define WITH_ROWS(type) \
  @[if (tile_rows(rows) == TILE_ROWS) TILE(TILE_ROWS, type); \
  else if (tile_rows(rows) == TILE_ROWS / 3) TILE(TILE_ROWS / 3, type); \
  else TILE(TILE_ROWS / 3 * 2, type)@]
  switch (panel.type) {
  case WEIGHT_F32: WITH_ROWS(WEIGHT_F32);@+ break;
  case WEIGHT_F16: WITH_ROWS(WEIGHT_F16);@+ break;
  case WEIGHT_BF16: WITH_ROWS(WEIGHT_BF16);@+ break;
  case WEIGHT_Q8_0: case WEIGHT_Q4_0: OTHER_BLOCKS: break;
  }
#undef WITH_ROWS
#undef TILE
}
@y
/* the height of the tile for a number of rows from 1 to |TILE_ROWS|; their panel has as many */
TARGET static int tile_rows(size_t rows)
{
  int third = TILE_ROWS / 3, thirds = ((int) rows + third - 1) / third;
  return thirds * third;
}
/* |tile|, for 1 to |TILE_ROWS| rows; |sum| has room for |TILE_ROWS * NR| numbers */
TARGET static void packed_tile(size_t rows, const float *x, const float *panel,
  size_t n, float *sum)
{
  struct tensor floats = @[{ panel, WEIGHT_F32 }@];
  if (tile_rows(rows) == TILE_ROWS) tile(TILE_ROWS, x, floats, n, sum);
  else if (tile_rows(rows) == TILE_ROWS / 3) tile(TILE_ROWS / 3, x, floats, n, sum);
  else tile(TILE_ROWS / 3 * 2, x, floats, n, sum);
}
@z

shape: one worker, one matrix, all rows
@x
@ Now the pieces are put together. A block of at most |MOST_ROWS| rows is packed; then each strip of each matrix of the list is packed, unless it was prepared, and all tiles of the block are computed. The panel of a strip is read again for each tile, and stays in the second-level cache meanwhile; the rows are read again for each strip, from the third-level cache. Both are in the worker's workspace (\cref{sec:poolheader}). \label{sec:room}
@^workspace@>
@y
@ Now the pieces are put together. All rows have been packed; each strip of |NR| outputs is packed, once, and all tiles of the strip are computed. The panel of a strip is read again for each tile, and stays in the second-level cache meanwhile; the rows are read again for each strip, from the third-level cache. At the right end of the matrix a tile has sums of outputs that do not exist, and below the last row sums of rows that do not exist. Nobody may see them.
@z

cut: many rows
@x
@<Many rows by a worker's share of the matrices@>=
@y
@<Many rows by a worker's share of the matrices@>=
/* the outputs |from|, |from + 1|, and so on up to |to - 1| of the linear layer |w| for each of the rows: |y| is |[rows][w->out]|, and |x| has
   the panels of the rows, |TILE_ROWS| of them in each panel; the panel of row |r|, a multiple of |TILE_ROWS|, begins at
   |x + r * 16 * lane_steps(w->in, 0)|.  |room| is for the panel of one strip of weights, which |pack_strip(w, o, outs, room)| makes of |outs|
   outputs from |o| on, |NR| of them at most; this reads every weight of the strip, so it is called once for each strip */
TARGET static void by_panels(const struct matrix *w, const float *x, size_t rows,
  size_t from, size_t to, float *room, float *y)
{
  /* YOUR CODE: strips of |NR| outputs; in each, tiles of at most |TILE_ROWS| rows: |packed_tile|, |put_sums| */
  (void) w, (void) x, (void) rows, (void) from, (void) to, (void) room, (void) y;
}

@ The answer.

@<What the student writes@>=
@z

shape: the answer in a smaller form
@x
TARGET static size_t panels_room(size_t in, size_t rows)
{
  size_t most = rows < MOST_ROWS ? rows + TILE_ROWS : MOST_ROWS;
  return lane_steps(in, 0) * 16 * (NR + most) * sizeof(float);
}
TARGET static void by_panels(const struct linear_job *job, const struct matrix *w,
  size_t r0, size_t r1, size_t from, size_t to, float *room, float *y)
{
  size_t n = w->in, each_panel = lane_steps(n, 0) * 16;
  const char *ready = prepared_find(job->e, w);
  size_t strip = NR * weight_row_bytes(w->weight.type, n);
  float *x = room + each_panel * NR, sum[TILE_ROWS * NR];
  for (size_t o = from; o < to; o += NR) {
    size_t outs = to - o < NR ? to - o : NR, rows;
    struct tensor panel = @[{ room, WEIGHT_F32 }@];
    if (ready != NULL)
      panel = (struct tensor) @[{ ready + o / NR * panel_bytes(w), w->weight.type }@];
    else pack_strip(w, o, outs, room);
    for (size_t r = r0; r < r1; r += rows) {
      rows = r1 - r < TILE_ROWS ? r1 - r : TILE_ROWS;
      @<Ask for what will be wanted@>@;
      packed_tile("linear", rows * outs, rows, x + (r - r0) * each_panel, panel, n, sum);
      for (size_t i = 0; i < rows; i++)
        put_sums(sum + i * NR, w, o, outs, y + (r + i) * w->out);
    }
  }
}
@y
TARGET static void by_panels(const struct matrix *w, const float *x, size_t rows,
  size_t from, size_t to, float *room, float *y)
{
  size_t n = w->in, each_panel = lane_steps(n, 0) * 16;
  float sum[TILE_ROWS * NR];
  for (size_t o = from; o < to; o += NR) {
    size_t outs = to - o < NR ? to - o : NR, here;
    pack_strip(w, o, outs, room);
    for (size_t r = 0; r < rows; r += here) {
      here = rows - r < TILE_ROWS ? rows - r : TILE_ROWS;
      packed_tile(here, x + r * each_panel, room, n, sum);
      for (size_t i = 0; i < here; i++)
        put_sums(sum + i * NR, w, o, outs, y + (r + i) * w->out);
    }
  }
}
@z

shape: linear.inc gives way to dots.inc and tiles.inc
@x
@(linear.inc@>=
/** Linear layers of floats: few rows by weights as they lie, many rows through panels. An output is
  computed whole by one worker in the sixteen lanes of the definition, so neither the way nor the
  workers can be seen in a bit. */
#include "kernels/shares.inc"
#include "kernels/products.inc"
@<Put sums in their places, with the bias@>@;
@<Few rows by the outputs |from| to |to| of a matrix stored by outputs@>@;
#include "kernels/inputs.inc"
#include "kernels/panels.inc"
#include "kernels/strips.inc"
@<One worker's share of a linear layer@>@;
@<Do a linear layer@>@;
@<The workspace of a linear layer@>@;

@ Every kernel that divides its outputs among workers asks where a share begins, so that is a file by itself.

@(shares.inc@>=
/** Where a worker's share begins. Shares are cut at whole steps. */
@<Where a worker's share begins@>@;

@ Attention compares one query with many keys, and that is the product of one row with many others: it takes the same function, in this file.

@(products.inc@>=
/** One row by as many others as a register has lanes, for few rows by a matrix and for a query by its
  keys. Sums are folded together, as many as there are lanes. */
#include "kernels/load.inc"
@<Dot products of one row with as many others as a register has lanes@>@;

@ With many queries, attention multiplies by tiles. It includes the tile and the packing from here.

@(panels.inc@>=
/** The tile of dot products, and where a lane stands in a panel. Lanes come one after the other, and
  each is folded as soon as its partner is there: at most four unfinished tiles wait. */
@<Where a lane stands in a panel@>@;
@<Compute a tile of dot products@>@;
#include "kernels/packing.inc"
@y
@<What the lab leaves out@>=
@<Where a worker's share begins@>@;
@<Do a linear layer@>@;
@<The workspace of a linear layer@>@;
@z

shape: the two files of the student, and the header of the lab
@x
@(attention.inc@>=
/** Attention of one head at a time, and of tiles of queries. Blocks of 256 positions have a maximum, a
  sum and sums of values each, and are joined in rising order, whatever the layout of the cache and the
  division of the work. */
#include "kernels/products.inc"
#include "kernels/panels.inc"
#include "kernels/join.inc"
@<The scores of a block@>@;
@<The chain over a block for some columns@>@;
@<The values of a block, each times its exponential@>@;
@<Attention of one head over one block@>@;
@<All blocks of one head, and their join@>@;
#include "kernels/heads_room.inc"
@<What a unit of queries has@>@;
#include "kernels/keys.inc"
@<The scores of a tile of queries@>@;
@<The chains of a tile of queries@>@;
@<A tile of queries over one block@>@;
@<All blocks of a unit of queries@>@;
#include "kernels/segments.inc"
@<Do attention@>@;

@ One head and all heads together give a block the same maximum and the same sum, and join blocks in the same way.

@(join.inc@>=
/** What one head and all heads together have in common: the result of a block of positions, and the
  join. */
@<The result of one block of positions@>@;
#include "kernels/positions.inc"
#include "kernels/cap.inc"
@<The greatest score of a block@>@;
@<The exponentials of a block, and their sum in lanes@>@;
@<Join the blocks in rising order@>@;

@ The table itself is compiled with all kernels that are small.

@(table.inc@>=
/** A table, compiled with all kernels that are small. The including file says NAME, TABLE and which
  parts it has (FLOATS, BLOCKS, PAIRS, ATTENTION). */
#include "kernels/shares.inc"
#include "kernels/load.inc"
@<The dot product of sixteen lanes@>@;
#include "kernels/norms.inc"
#include "kernels/curves.inc"
#include "kernels/probes.inc"
#include "kernels/entries.inc"
@<The functions of a table@>@;
@y
@(dots.inc@>=
@<Fold sixteen lanes in an array@>@;
@<The dot product of sixteen lanes@>@;
@<Dot products of one row with as many others as a register has lanes@>@;
@<Put sums in their places, with the bias@>@;
@<Few rows by the outputs |from| to |to| of a matrix stored by outputs@>@;

@ @(tiles.inc@>=
@<Where a lane stands in a panel@>@;
@<Compute a tile of dot products@>@;
#include "packing.inc"
@<Many rows by a worker's share of the matrices@>@;

@ What the tests call: the student's functions under one head.

@(lanes.h@>=
#ifndef INCIPIT_LANES_H
#define INCIPIT_LANES_H
#include "model/model.h"
struct lanes { const char *name; int width; size_t tile_rows, panel_outputs;
  float (*fold)(float *lane);
  void (*rest)(const float *x, struct tensor w, size_t i, size_t rest, float *lane);
  float (*dot)(const float *x, struct tensor w, size_t n);
  void (*dots)(const float *x, const char *row, size_t stride, size_t there,@|
    enum weight_type type, size_t n, float *sum);
  void (*few)(const struct matrix *w, const float *x, size_t rows, size_t from,@|
    size_t to, float *y);
  size_t (*turned)(size_t t);
  size_t (*steps)(size_t n, size_t lane);
  size_t (*place)(size_t n, size_t k);
  void (*pack_rows)(const float *x, size_t rows, size_t n, float *to);
  void (*pack_strip)(const struct matrix *w, size_t o, size_t outs, float *to);
  void (*tile)(size_t rows, const float *x, const float *panel, size_t n, float *sum);
  void (*many)(const struct matrix *w, const float *x, size_t rows, size_t from,@|
    size_t to, float *room, float *y);
  float (*probe)(size_t steps); };
  /* the functions of \.{dots.inc} and \.{tiles.inc} as they come out under one head, and two of \.{packing.inc}; |width|, |tile_rows| and
     |panel_outputs| are |WIDTH|, |TILE_ROWS| and |NR|; registers are passed as arrays; |pack_rows| takes any number of rows;
     |probe| does nothing but multiply--adds, 12 registers in each of |steps| steps */
extern const struct lanes lanes_counted;
  /* with a head of four lanes in plain C, whose loads and multiply--adds are counted */
const struct lanes *lanes_real(void);
  /* with the head for AVX2, or |lanes_counted| where the processor has no AVX2 */
enum lanes_event { LANES_LOAD, LANES_SPREAD, LANES_FUSED, LANES_EVENTS };
void lanes_take(void *to, const void *from, size_t bytes);
  /* a load of the counted head: counts it and copies the bytes; weights may be stored in disguise, which is taken off here */
void lanes_count(enum lanes_event what);
  /* counts an input that is spread over a register, or a multiply--add of a register */
#endif
@z
