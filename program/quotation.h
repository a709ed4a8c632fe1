/* quotation.h -- is a quotation of the ledger still what its author wrote? The texts themselves are
   not ours to pass on, so the project has a sum of each quotation, made from the text. */
#ifndef INCIPIT_QUOTATION_H
#define INCIPIT_QUOTATION_H
#include <stdbool.h>
#include <stddef.h>

/* a sum in hexadecimal digits, and a zero byte */
enum { QUOTATION_SUM = 65 };

/* writes text to to[strlen(text) + 1] in the form in which a quotation and its source are compared:
   blanks, ends of lines and the mark [lost] of what the copy lost one blank between words, none at either end or after an opening parenthesis, and the two stars that
   set bold are left out. Nothing else is changed */
void quotation_fold(const char *text, char *to);

/* do the words stand side by side in the text? Large and small letters are the same, and so are a typed
   quotation mark and a printed one, a hyphen and a dash, a blank and a line end */
bool quotation_contains(const char *text, const char *words);

/* the SHA-256 of n bytes, as sha256sum prints it */
void quotation_sum(const char *bytes, size_t n, char sum[QUOTATION_SUM]);
#endif
