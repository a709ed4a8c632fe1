/* json.h -- JSON for a page: a writer into an array of bytes, and a reader of one flat object.

   The command's writer writes to a stream and its reader is jansson; a page has neither. What a page sends is
   one object of a few settings, so the reader knows strings, numbers, true and false, and nothing that
   contains something else. Doubles are written with as many digits as read back. */

#ifndef INCIPIT_LIVING_JSON_H
#define INCIPIT_LIVING_JSON_H
#include "ground/buffers.h"

/* an answer that is being made; ok is false from the first refusal of memory on */
struct report { struct memory *m; struct bytes *out; struct error *why; bool ok, comma; };

/* a brace or a bracket, after the key, if there is one */
void report_open(struct report *j, const char *key, char bracket);

/* its end */
void report_close(struct report *j, char bracket);

/* an integer after its key; a null key, here and below: in a list */
void report_count(struct report *j, const char *key, uint64_t n);

/* a number; null if it is not finite */
void report_real(struct report *j, const char *key, double x);

/* true or false */
void report_flag(struct report *j, const char *key, bool yes);

/* a C string */
void report_words(struct report *j, const char *key, const char *words);

/* n bytes as a text, U+FFFD for each part that is no character */
void report_text(struct report *j, const char *key, const unsigned char *byte, size_t n);

/* sixteen hexadecimal digits */
void report_hash(struct report *j, const char *key, uint64_t hash);

/* what a field of an object may be */
enum page_kind { PAGE_TEXT, PAGE_NUMBER, PAGE_FLAG };

/* a field; text is borrowed, and valid while the reader does not go on */
struct page_field { char name[32]; enum page_kind kind; struct bytes text; double number; bool flag; };

/* where the reader is */
struct page_reader { struct memory *m; const char *at, *end, *from; bool begun; struct error *why; };

/* the next field of an object; *more is false at its end, behind which there must be nothing. False and a
   sentence with the byte, what is there, and what was wanted. field->text is the caller's to free */
bool page_next(struct page_reader *r, struct page_field *field, bool *more);
#endif
