/*7:*/
#line 133 "workshop/03-models.w"

#ifndef INCIPIT_CONFIG_H
#define INCIPIT_CONFIG_H
#include "model/model.h"
/*8:*/
#line 142 "workshop/03-models.w"

struct config_options{
const char*const*ignore;
size_t n_ignore;
bool tolerant;
size_t n_unknown;
bool*used;
};


extern const char config_ignored_by_caller[];


bool config_open(struct model_config*c,struct memory*m,const char*directory,
struct error*why);


bool config_open_with(struct model_config*c,struct memory*m,
const char*directory,struct config_options*o,struct error*why);

bool config_ignore(struct model_config*c,struct memory*m,const char*file,
const char*field,const char*reason,struct error*why);

void config_close(struct memory*m,struct model_config*c);


/*:8*//*9:*/
#line 170 "workshop/03-models.w"

const struct model_config*config_family(size_t i);


bool config_reads(size_t i,const char*field);


/*:9*/
#line 137 "workshop/03-models.w"

#endif
#line 139 "workshop/03-models.w"

/*:7*/
