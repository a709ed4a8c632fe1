/* object.h -- made from workshop/19-json.w; change it there */

#ifndef INCIPIT_JSON_OBJECT_H
#define INCIPIT_JSON_OBJECT_H
#include <jansson.h>
#include "ground/ground.h"

/* <An object of JSON, strictly read> */

/* how deep values may nest */
enum { JSON_DEPTH = 64 };

/* the object in n bytes, to be released with json_decref; null and a sentence if they
   are anything else */
json_t *json_object_read(const char *text, size_t n,
  struct error *why);
#endif
