/*74:*/
#line 1420 "workshop/03-models.w"

#ifndef INCIPIT_LAYOUT_H
#define INCIPIT_LAYOUT_H
#include <stdbool.h> 
#include <stddef.h> 
#include <stdint.h> 
/*75:*/
#line 1431 "workshop/03-models.w"

enum tensor_role{TENSOR_EMBEDDING,TENSOR_POSITIONS,TENSOR_FINAL_NORM,
TENSOR_HEAD,TENSOR_ATTN_NORM,TENSOR_QKV,TENSOR_Q,TENSOR_K,TENSOR_V,
TENSOR_Q_NORM,TENSOR_K_NORM,TENSOR_OUT,TENSOR_MLP_NORM,TENSOR_GATE,
TENSOR_UP,TENSOR_DOWN,N_TENSOR_ROLES};


/*:75*//*76:*/
#line 1443 "workshop/03-models.w"

struct tensor_naming{const char*pattern;bool transposed,permuted;};


struct tensor_layout{
const char*name,*format;
const char*family;
const char*prefix;
struct tensor_naming of[N_TENSOR_ROLES];
};

const struct tensor_layout*layout_at(size_t i);

const struct tensor_layout*layout_find(const char*format,const char*family);

bool layout_fused(const struct tensor_layout*l);

void layout_name(const struct tensor_layout*l,enum tensor_role role,
const char*prefix,uint32_t layer,const char*what,char full[160]);


/*:76*/
#line 1426 "workshop/03-models.w"

#endif
#line 1428 "workshop/03-models.w"

/*:74*/
