/*81:*/
#line 1542 "workshop/03-models.w"

#include <inttypes.h> 
#include <stdio.h> 
#include <string.h> 
#include "families/layout.h"

/*77:*/
#line 1467 "workshop/03-models.w"

static const struct tensor_layout hf_gpt2= {
.name= "hf-gpt2",.format= "safetensors",.family= "gpt2",
.prefix= "transformer.",.of= {
[TENSOR_EMBEDDING]= {"~wte",false,false},
[TENSOR_POSITIONS]= {"~wpe",false,false},
[TENSOR_FINAL_NORM]= {"~ln_f",false,false},
[TENSOR_HEAD]= {"lm_head",false,false},
[TENSOR_ATTN_NORM]= {"~h.#.ln_1",false,false},
[TENSOR_QKV]= {"~h.#.attn.c_attn",true,false},
[TENSOR_OUT]= {"~h.#.attn.c_proj",true,false},
[TENSOR_MLP_NORM]= {"~h.#.ln_2",false,false},
[TENSOR_UP]= {"~h.#.mlp.c_fc",true,false},
[TENSOR_DOWN]= {"~h.#.mlp.c_proj",true,false}}};

/*:77*//*78:*/
#line 1484 "workshop/03-models.w"

static const struct tensor_layout hf_llama= {
.name= "hf-llama",.format= "safetensors",.prefix= "model.",.of= {
[TENSOR_EMBEDDING]= {"~embed_tokens",false,false},
[TENSOR_FINAL_NORM]= {"~norm",false,false},
[TENSOR_HEAD]= {"lm_head",false,false},
[TENSOR_ATTN_NORM]= {"~layers.#.input_layernorm",false,false},
[TENSOR_Q]= {"~layers.#.self_attn.q_proj",false,false},
[TENSOR_K]= {"~layers.#.self_attn.k_proj",false,false},
[TENSOR_V]= {"~layers.#.self_attn.v_proj",false,false},
[TENSOR_Q_NORM]= {"~layers.#.self_attn.q_norm",false,false},
[TENSOR_K_NORM]= {"~layers.#.self_attn.k_norm",false,false},
[TENSOR_OUT]= {"~layers.#.self_attn.o_proj",false,false},
[TENSOR_MLP_NORM]= {"~layers.#.post_attention_layernorm",false,false},
[TENSOR_GATE]= {"~layers.#.mlp.gate_proj",false,false},
[TENSOR_UP]= {"~layers.#.mlp.up_proj",false,false},
[TENSOR_DOWN]= {"~layers.#.mlp.down_proj",false,false}}};

/*:78*/
#line 1548 "workshop/03-models.w"

/*79:*/
#line 1504 "workshop/03-models.w"

const struct tensor_layout*layout_at(size_t i)
{
static const struct tensor_layout*const known[]= {&hf_gpt2,&hf_llama};
return i<sizeof known/sizeof known[0]?known[i]:NULL;
}
const struct tensor_layout*layout_find(const char*format,const char*family)
{
const struct tensor_layout*l= NULL;
for(size_t i= 0;(l= layout_at(i))!=NULL;i++)
if(strcmp(l->format,format)==0&&(l->family==NULL
||(family!=NULL&&strcmp(l->family,family)==0)))break;
return l;
}
bool layout_fused(const struct tensor_layout*l)
{
return l->of[TENSOR_QKV].pattern!=NULL;
}

/*:79*/
#line 1549 "workshop/03-models.w"

/*80:*/
#line 1525 "workshop/03-models.w"

void layout_name(const struct tensor_layout*l,enum tensor_role role,
const char*prefix,uint32_t layer,const char*what,char full[160])
{
size_t n= 0;
for(const char*p= l->of[role].pattern;*p!='\0'&&n<160;p++){
char*to= full+n;
size_t left= 160-n;
if(*p=='~')n+= (size_t)snprintf(to,left,"%s",prefix);
else if(*p=='#')n+= (size_t)snprintf(to,left,"%"PRIu32,layer);
else n+= (size_t)snprintf(to,left,"%c",*p);
}
if(n<160)snprintf(full+n,160-n,".%s",what);
}

/*:80*/
#line 1550 "workshop/03-models.w"


/*:81*/
