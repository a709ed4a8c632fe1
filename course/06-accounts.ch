Lab 6: what fits. A change file for chapters/06-memory.w in CWEB's form, with one thing more: a word before @x.
"shape" changes what the files are, for the reference as well; "cut" takes away what the student writes, and what it takes away
is the reference's answer.

cut: the tensors of the layers
@x
  uint64_t d = c->d_model, f = c->d_inner, n = c->n_layers;
  uint64_t q = (uint64_t) c->n_heads * c->head_dim;
  uint64_t k = (uint64_t) c->n_kv_heads * c->head_dim;
  enter(l, "norms", c->layer_norm ? 2 * d : d, 2 * n);
  enter(l, "queries", matrix_of(d, q, c->qkv_bias), n);
  enter(l, "keys and values", matrix_of(d, k, c->qkv_bias), 2 * n);
  enter(l, "QK-norms", c->qk_norm ? c->head_dim : 0, 2 * n);
  enter(l, "output projection", matrix_of(q, d, c->out_bias), n);
  enter(l, "up and gate", matrix_of(d, f, c->mlp_bias), c->gated ? 2 * n : n);
  enter(l, "down", matrix_of(f, d, c->mlp_bias), n);
}
@y
  /* YOUR CODE: seven lines, named "norms", "queries", "keys and values", "QK-norms", "output projection", "up and gate" and "down"; |enter|
     leaves out a line with a zero. A norm has a gain, and with |layer_norm| a bias; a QK-norm has |head_dim| numbers */
  (void) l, (void) c, (void) matrix_of;
}
@z

cut: the sum of the list
@x
  struct tensor_line line[FOOTPRINT_MAX_TENSORS];
  uint64_t sum = 0;
  size_t n = footprint_tensors(c, line);
  for (size_t i = 0; i < n; i++) sum += line[i].each * line[i].times;
  return sum;
}
@y
  /* YOUR CODE: the sum of |footprint_tensors| */
  (void) c;
  return 0;
}
@z

cut: the weights as they are stored
@x
  const struct model_config *c = &lm->config;
  uint64_t d = c->d_model, v = c->vocab_size;
  uint64_t sum = lm->layer_bytes + v * weight_row_bytes(lm->embedding.type, d);
  if (c->learned_positions)
    sum += c->n_positions * weight_row_bytes(lm->positions.type, d);
  sum += weight_row_bytes(lm->final_norm.gain.type, d);
  if (c->layer_norm) sum += weight_row_bytes(lm->final_norm.bias.type, d);
  if (!c->tied) sum += v * weight_row_bytes(lm->head.weight.type, d);
  return sum + footprint_switched_weights(lm);
}
@y
  /* YOUR CODE: |lm->layer_bytes| has the layers; add what comes before and after them, each in the type in which it is stored */
  (void) lm;
  return 0;
}
@z

cut: the bytes of a token
@x
  return 2 * (uint64_t) c->n_layers * c->n_kv_heads
    * weight_row_bytes(f->type, c->head_dim);
}
@y
  /* YOUR CODE: the first formula of this section */
  (void) c, (void) f;
  return 0;
}
@z

cut: the rows of a layer
@x
  uint64_t page = p->page_rows > 0 ? p->page_rows : 1;
  uint64_t pass = p->pass < p->context ? p->pass : p->context;
  uint64_t w = config_window(c, layer);
  if (pass == 0) pass = 1;
  uint64_t pages = round_up(p->context, page);
  uint64_t ring = w == 0 ? 0 : round_up(c->sinks, page) + 1 + round_up(w - 1 + pass - 1,
    page);
  return (w > 0 && ring < pages ? ring : pages) * page;
}
@y
  /* YOUR CODE: the second formula, with |config_window| for the window of a layer, and times the rows of a page */
  (void) c, (void) layer, (void) p, (void) round_up;
  return 0;
}
@z

cut: the bytes of the cache
@x
  uint64_t row = weight_row_bytes(p->format->type, c->head_dim);
  bool fits = p->context <= INT64_MAX
    && multiply(&row, 2 * (uint64_t) c->n_kv_heads);
  *bytes = 0;
  int block = number_types[p->format->type].block;
  if (c->head_dim % (uint32_t) block != 0)
    return error_say(why, "a cache in %s for a head_dim of %u; wanted: a"@|
      " multiple of %d", p->format->name, c->head_dim, block);
  for (uint32_t i = 0; fits && i < c->n_layers; i++) {
    uint64_t layer = footprint_rows(c, i, p);
    fits = multiply(&layer, p->batch) && multiply(&layer, row)
      && layer <= INT64_MAX && *bytes <= INT64_MAX - layer;
    *bytes += layer;
  }
  return fits || error_say(why, "the cache has more bytes than 63 bits can"@|
    " count; wanted: a smaller context or batch");
}
@y
  /* YOUR CODE: refuse a head that is not whole blocks; then add up the layers, and refuse what 63 bits cannot count */
  (void) c, (void) p, (void) multiply;
  *bytes = 0;
  return error_say(why, "footprint_cache has not been written yet");
}
@z

cut: the bytes of a pass
@x
  uint64_t d = c->d_model, f = c->d_inner;
  uint64_t q = (uint64_t) c->n_heads * c->head_dim;
  uint64_t k = (uint64_t) c->n_kv_heads * c->head_dim;
  const struct tensor_layout *l = layout_find("safetensors", c->family);
  uint64_t fused = layout_fused(l) ? 3 * q : 0;
  uint64_t numbers = 3 * d + 2 * q + 2 * k + fused + (c->gated ? 2 * f : f)
    + 2 * (c->head_dim / 2);
  uint64_t other = 3 * sizeof (uint32_t) + sizeof (size_t)
    + sizeof (struct segment);
  other += footprint_switched_row(c);
  uint64_t scratch = (max_len / 256 + 2) * (c->head_dim + 2);
  return sizeof (struct pass) + rows * (4 * numbers + other)
    + workers * 4 * scratch;
}
@y
  /* YOUR CODE: |layout_fused(layout_find("safetensors", c->family))| says whether queries, keys and values are one matrix; what is not a
     |float| in a row is three |uint32_t|, a |size_t| and a |struct segment| */
  (void) c, (void) rows, (void) max_len, (void) workers;
  return 0;
}
@z

cut: the longest context
@x
  uint64_t yes = 0, no = (uint64_t) 1 << 62;
  if (weights > budget) return 0;
  if (fits(c, *p, no, budget - weights)) return UINT64_MAX;
  while (no - yes > 1) {
    uint64_t middle = yes + (no - yes) / 2;
    if (fits(c, *p, middle, budget - weights)) yes = middle;
    else no = middle;
  }
  return yes;
}
@y
  /* YOUR CODE: bisection between a context that |fits| and one that does not */
  (void) c, (void) p, (void) weights, (void) budget, (void) fits;
  return 0;
}
@z

cut: the largest batch
@x
  struct cache_plan one = *p;
  uint64_t bytes;
  one.batch = 1;
  if (budget > INT64_MAX) budget = INT64_MAX;
  if (weights > budget || !footprint_cache(c, &one, &bytes, NULL)) return 0;
  return bytes == 0 ? UINT64_MAX : (budget - weights) / bytes;
}
@y
  /* YOUR CODE: the quotient of this section; |footprint_cache| may be called with a null |why| */
  (void) c, (void) p, (void) weights, (void) budget;
  return 0;
}
@z

cut: a block of bytes
@x
  float max = 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    if (fabsf(x[i]) > max) max = fabsf(x[i]);
  float d = max / 127, times = d != 0 ? 1 / d : 0;
  put_scale(d, to);
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    to[2 + i] = (unsigned char) within(roundf(x[i] * times), -128, 127);
}
@y
  /* YOUR CODE: the scale, then 32 numbers rounded with |roundf| and kept |within| a byte; all zero if all numbers are */
  (void) x, (void) to, (void) put_scale, (void) within;
}
@z

cut: a block of half bytes
@x
  float max = 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    if (fabsf(x[i]) > fabsf(max)) max = x[i];
  float d = max / -8, times = d != 0 ? 1 / d : 0;
  put_scale(d, to);
  for (int i = 0; i < WEIGHT_BLOCK / 2; i++) {
    float low = x[i] * times, high = x[i + WEIGHT_BLOCK / 2] * times;
    to[2 + i] = (unsigned char) (within(low + 8.5f, 0, 15)
      | within(high + 8.5f, 0, 15) << 4);
  }
}
@y
  /* YOUR CODE: the scale, then two numbers in each byte, as in the box */
  (void) x, (void) to;
}
@z
