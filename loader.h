/*82:*/
#line 1560 "workshop/03-models.w"

#ifndef INCIPIT_LOADER_H
#define INCIPIT_LOADER_H
#include "families/config.h"
#include "families/layout.h"
/*83:*/
#line 1570 "workshop/03-models.w"

struct model*model_open(struct memory*m,const char*directory,
struct error*why);




struct model_open_options{
const struct kernels*k;
const struct tensor_layout*layout;
struct config_options fields;
struct progress*progress;
};




struct model*model_open_with(struct memory*m,const char*directory,
struct model_open_options*o,struct error*why);

void model_close(struct memory*m,struct model*lm);

uint64_t model_parameters(const struct model*lm);


/*:83*/
#line 1565 "workshop/03-models.w"

#endif
#line 1567 "workshop/03-models.w"

/*:82*/
