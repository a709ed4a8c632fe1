/* switched.h -- what the formulas for a model's memory leave to its switches.

   Chapter 6 counts a GPT-2 and a Llama. The families of the workshop's chapter on settings have more norms
   or fewer, a bias at the head, or other angles; here is the difference. For the two it is nothing. */

#ifndef INCIPIT_SWITCHED_H
#define INCIPIT_SWITCHED_H
#include <stddef.h>
#include "model/model.h"

struct tensor_line;

/* what the model of this shape has otherwise than its family, and what follows from its numbers */
void later_shape_mend(const char *name, struct model_config *c);

/* mends the list of the kinds of tensors, of which there are n; returns how many there are then */
size_t footprint_switched_tensors(const struct model_config *c, struct tensor_line *line, size_t n);

/* the numbers that one row is multiplied with or looked up in: all but the experts that it does not choose */
uint64_t footprint_active(const struct model_config *c);

/* what is to be added to the bytes of the tensors before and after the layers, modulo 2^64 */
uint64_t footprint_switched_weights(const struct model *lm);

/* what is to be added to the bytes of a row of a pass, modulo 2^64 */
uint64_t footprint_switched_row(const struct model_config *c);
#endif
