/* look.c -- reads a hand-in as the preprocessor does, and its object file as the linker does.  ELF, 64 bits */
#include "look.h"
#include <ctype.h>
#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct finding { const char *name; char *why; size_t size; };

static bool found(const struct finding *f, const char *format, ...)
{
  va_list of;
  va_start(of, format);
  int n = snprintf(f->why, f->size, "%s ", f->name);
  if (n >= 0 && (size_t) n < f->size) vsnprintf(f->why + n, f->size - (size_t) n, format, of);
  va_end(of);
  return false;
}

/* ---- the text */

/* lines that end in a backslash, and perhaps blanks, go on; freed by the caller */
static char *splice(const char *text)
{
  char *out = malloc(strlen(text) + 1), *to = out;
  if (out == NULL) return NULL;
  while (*text != '\0') {
    size_t blanks = *text == '\\' ? strspn(text + 1, " \t\v\f\r") : 0;
    if (*text == '\\' && text[1 + blanks] == '\n') text += blanks + 2;
    else *to++ = *text++;
  }
  *to = '\0';
  return out;
}

/* behind a comment, or where it was */
static const char *past_comment(const char *at)
{
  if (at[0] == '/' && at[1] == '/') return at + strcspn(at, "\n");
  if (at[0] != '/' || at[1] != '*') return at;
  const char *end = strstr(at + 2, "*/");
  return end == NULL ? at + strlen(at) : end + 2;
}

/* behind blanks and comments of a line */
static const char *past_blanks(const char *at)
{
  for (const char *next;; at = next) {
    next = past_comment(at + strspn(at, " \t\v\f\r"));
    if (next == at) return at;
  }
}

/* behind a string or a character, which ends with its line at the latest, or one byte further */
static const char *past_token(const char *at)
{
  char quote = *at++;
  if (quote != '"' && quote != '\'') return at;
  while (*at != '\0' && *at != '\n' && *at != quote) at += *at == '\\' && at[1] != '\0' && at[1] != '\n' ? 2 : 1;
  return at + (*at == quote);
}

/* at a directive, behind its #; *end: where its line may be read on */
static bool directive_fits(const struct finding *f, const char *at, const char **end)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz_", *const includes[] = { "include", "include_next", "import", "embed" };
  char word[20], file[200];
  at = past_blanks(at);
  size_t n = strspn(at, letters);
  snprintf(word, sizeof word, "%.*s", (int) (n < sizeof word ? n : 0), at);
  *end = at + n;
  if (isdigit((unsigned char) *at) || strcmp(word, "line") == 0)
    return found(f, "has a #line in it; wanted: lines with their own names");
  /* here <...> may be a name, in which a quotation mark or a comment is none: then we would read on otherwise than the preprocessor */
  const char *less = at + strcspn(at, "<\n");
  if ((strcmp(word, "if") == 0 || strcmp(word, "elif") == 0 || strcmp(word, "pragma") == 0) && *less == '<')
    for (less++; *less != '\0' && *less != '\n'; less++)
      if (*less == '"' || *less == '\'' || (*less == '/' && (less[1] == '/' || less[1] == '*')))
        return found(f, "has a directive with < before a string or a comment; wanted: plainer ones");
  bool include = false;
  for (size_t i = 0; i < sizeof includes / sizeof *includes; i++) include = include || strcmp(word, includes[i]) == 0;
  if (!include) return true;
  at = past_blanks(at + n);
  n = *at == '"' || *at == '<' ? strcspn(at + 1, *at == '"' ? "\"\n" : ">\n") : 0;
  snprintf(file, sizeof file, "%.*s", (int) (n < sizeof file ? n : 0), at + 1);
  bool closed = n > 0 && at[n + 1] == (*at == '"' ? '"' : '>');
  if (closed) *end = at + n + 2;
  if (!closed || *file == '\0' || strchr("\n", *past_blanks(*end)) == NULL)
    return found(f, "includes a file whose name is not written out; wanted: headers of the lab or of the system");
  if (*file == '/' || strstr(file, "..") != NULL || strcmp(word, "embed") == 0)
    return found(f, "includes %s; wanted: headers of the lab or of the system", file);
  return true;
}

bool look_at_source(const char *text, const char *name, char *why, size_t size)
{
  struct finding f = { name, why, size };
  char *lines = splice(strncmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text);
  bool ok = true, begins = true;
  if (lines == NULL) return found(&f, "is too large to be looked at");
  if (strstr(text, "?" "?=") != NULL || strstr(text, "?" "?/") != NULL) ok = found(&f, "has a trigraph in it; wanted: the character itself");
  for (const char *at = lines; ok && *at != '\0'; ) {
    const char *next = past_comment(at + strspn(at, " \t\v\f\r"));
    if (next == at && begins && (*at == '#' || strncmp(at, "%:", 2) == 0)) ok = directive_fits(&f, at + (*at == '#' ? 1 : 2), &next);
    else if (next == at) next = past_token(at), begins = *at == '\n';
    at = next;
  }
  free(lines);
  return ok;
}

/* ---- the object */

struct object { const unsigned char *bytes; size_t n; const Elf64_Shdr *section; size_t n_sections; };

/* bytes of a section; null if it reaches beyond the file */
static const void *content(const struct object *o, const Elf64_Shdr *s)
{ return s->sh_type == SHT_NOBITS || s->sh_offset > o->n || s->sh_size > o->n - s->sh_offset ? NULL : o->bytes + s->sh_offset; }

/* a word of a table of strings; null if there is none */
static const char *string(const struct object *o, size_t table, size_t at)
{
  const Elf64_Shdr *s = table < o->n_sections ? &o->section[table] : NULL;
  const char *text = s == NULL ? NULL : content(o, s);
  return text == NULL || at >= s->sh_size || text[s->sh_size - 1] != '\0' ? NULL : text + at;
}

static bool is_one(const char *name, const char *const *list, bool parts)
{
  for (; *list != NULL; list++) {
    size_t n = strlen(*list);
    if (strncmp(name, *list, n) == 0 && (name[n] == '\0' || (parts && (name[n] == '.' || (*list)[n - 1] == '_')))) return true;
  }
  return false;
}

static bool section_fits(const struct finding *f, const Elf64_Shdr *s, const char *name)
{
  static const char *const early[] = { ".init_array", ".fini_array", ".preinit_array", ".ctors", ".dtors", ".init", ".fini", NULL };
  static const char *const code[] = { ".text", ".text.unlikely", ".text.startup", ".text.hot", ".text.exit", NULL };
  static const char *const data[] = { ".data", ".bss", ".rodata", ".tdata", ".tbss", NULL };
  static const char *const other[] = { "", ".comment", ".eh_frame", ".group", ".llvm_addrsig", ".note.GNU-stack", ".note.gnu.property", ".shstrtab",
    ".strtab", ".symtab", ".symtab_shndx", NULL };
  static const char *const words[] = { ".debug_", NULL };
  if (strncmp(name, ".rela", 5) == 0 && (name[5] == '.' || name[5] == '\0')) name += 5;
  if (is_one(name, early, true)) return found(f, "has code that runs before or after the tests");
  bool runs = (s->sh_flags & SHF_EXECINSTR) != 0, is_code = is_one(name, code, false);
  if (strcmp(name, ".note.GNU-stack") == 0 && runs) return found(f, "wants a stack that can be run; wanted: no functions inside functions");
  if (is_code || is_one(name, data, true) || is_one(name, other, false) || is_one(name, words, true)) {
    if (runs && !is_code) return found(f, "has code in its section %.100s", name);
    return true;
  }
  return found(f, "has a section %.100s; wanted: those that C makes", name);
}

/* whether a list of words, one a line, has this one */
static bool among(const char *list, const char *word)
{
  size_t n = strlen(word);
  for (const char *at = list; at != NULL && *at != '\0'; at = strchr(at, '\n'), at += at != NULL)
    if (strncmp(at, word, n) == 0 && (at[n] == '\n' || at[n] == '\0')) return true;
  return false;
}

static bool symbol_fits(const struct finding *f, const struct object *o, const Elf64_Sym *s, const char *symbol, const char *use,
  const char *also, const char *define)
{
  unsigned type = ELF64_ST_TYPE(s->st_info);
  bool local = ELF64_ST_BIND(s->st_info) == STB_LOCAL, here = s->st_shndx != SHN_UNDEF;
  bool in_code = here && s->st_shndx < o->n_sections && (o->section[s->st_shndx].sh_flags & SHF_EXECINSTR) != 0;
  if (!local && !here && !among(use, symbol) && !(also != NULL && strncmp(symbol, also, strlen(also)) == 0))
    return found(f, "calls %.200s, which is not among what this lab may use", symbol);
  if (!local && here && !among(define, symbol))
    return found(f, "defines %.200s, which other files would see; wanted: static, or a name of the lab", symbol);
  if (type == STT_GNU_IFUNC) return found(f, "has a function, %.200s, that is chosen before the tests run", symbol);
  if (in_code && type != STT_FUNC && type != STT_SECTION) return found(f, "has data, %.200s, among its code", symbol);
  return true;
}

bool look_at_object(const void *object, size_t n, const char *use, const char *also, const char *define, const char *name, char *why,
  size_t size)
{
  struct finding f = { name, why, size };
  struct object o = { .bytes = object, .n = n };
  const Elf64_Ehdr *h = object;
  bool ok = n >= sizeof *h && memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_type == ET_REL
    && h->e_shentsize == sizeof *o.section && h->e_shoff % 8 == 0 && h->e_shoff <= n && h->e_shnum <= (n - h->e_shoff) / sizeof *o.section;
  if (ok) o.section = (const Elf64_Shdr *) (const void *) (o.bytes + h->e_shoff), o.n_sections = h->e_shnum;
  bool read = ok && o.n_sections > 0, fits = true;
  for (int symbols = 1; symbols >= 0; symbols--) /* what it calls is said before where it is */
    for (size_t i = 0; read && fits && i < o.n_sections; i++) {
      const Elf64_Shdr *s = &o.section[i];
      const char *word = string(&o, h->e_shstrndx, s->sh_name);
      if (!(read = word != NULL)) break;
      if (!symbols) fits = section_fits(&f, s, word);
      if (!symbols || s->sh_type != SHT_SYMTAB) continue;
      const Elf64_Sym *t = content(&o, s);
      read = t != NULL && s->sh_offset % 8 == 0;
      for (size_t k = 1; read && fits && k < s->sh_size / sizeof *t; k++) {
        const char *symbol = string(&o, s->sh_link, t[k].st_name);
        read = symbol != NULL;
        if (read) fits = symbol_fits(&f, &o, &t[k], symbol, use, also, define);
      }
    }
  return read ? fits : found(&f, "could not be looked at as an object file");
}
