/* page.h -- the page that incipit serve answers with to GET /: program/page.html, as tools/page.sh makes an array of it. */
#ifndef INCIPIT_PAGE_H
#define INCIPIT_PAGE_H
#include <stddef.h>

/* its bytes, in UTF-8, without a zero at the end */
extern const unsigned char serve_page[];

/* how many they are */
extern const size_t serve_page_length;
#endif
