/* kit-random.h -- made from laboratory/00-kit.w; change it there */

#ifndef INCIPIT_KIT_RANDOM_H
#define INCIPIT_KIT_RANDOM_H
#include "model/model.h"

/* <A model of which only the shape counts> */

/* its shape (Radford and others 2019) */
extern const struct model_config random_model_gpt2;

/* a model of GPT-2's kind with random weights in float32; owned by the caller; null
   and a sentence if memory is refused */
struct model *random_model_open(struct memory *m, const struct model_config *shape,
  struct error *why);

/* returns its memory; null does nothing */
void random_model_close(struct memory *m, struct model *lm);

/* how many weights it has */
size_t random_model_numbers(const struct model_config *shape);
#endif
