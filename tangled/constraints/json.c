/* json.c -- The grammar of an object in JSON, as text: it is compiled by those who
   use it.
   made from workshop/09-constraints.w; change it there */

#include "constraints/constraint.h"

/* <An object of JSON> */
const char constraint_json[] =
  "root ::= object\n"
  "object ::= \"{\" ws ( member (\",\" ws member)* )? \"}\"\n"
  "member ::= string \":\" ws value ws\n"
  "array ::= \"[\" ws ( value ws (\",\" ws value ws)* )? \"]\"\n"
  "value ::= object | array | string | number | \"true\" | \"false\" | \"null\"\n"
  "string ::= \"\\\"\" ( [^\"\\\\\\x00-\\x1f] | escape )* \"\\\"\"\n"
  "escape ::= \"\\\\\" ( [\"\\\\/bfnrt] | \"u\" unit )\n"
  "unit ::= [1-9a-cefA-CEF] hex hex hex | \"0\" [1-9a-fA-F] hex hex |\n"
  "  \"00\" [1-9a-fA-F] hex | \"000\" [1-9a-fA-F] |\n"
  "  [dD] ( [0-7] hex hex |\n"
  "    [89abAB] hex hex \"\\\\u\" [dD] [c-fC-F] hex hex )\n"
  "hex ::= [0-9a-fA-F]\n"
  "number ::= \"-\"? (\"0\" | [1-9] [0-9]{0,14}) (\".\" [0-9]{1,15})? (\n"
  "  [eE] [-+]? [0-9]{1,2} )?\n"
  "ws ::= (\" \" | \"\\n\" [ ]{0,32})?\n";
