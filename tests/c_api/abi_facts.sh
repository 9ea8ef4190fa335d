#!/usr/bin/env bash
# abi_facts.sh FARO_H: a program of C that prints what faro.h promises to programs that were compiled before: sizes and places of
# structures, and numbers of enumerators, a line each. abi.sh compares them with abi.txt.
set -euo pipefail
cat <<'C'
#include <faro/faro.h>
#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("size " #type " %zu\n", sizeof(type))
#define MEMBER(type, name) printf("member " #type "." #name " %zu\n", offsetof(type, name))
#define NUMBER(name) printf("number " #name " %d\n", (int)(name))

int main(void) {
C
tr '\n' ' ' <"$1" | sed -E 's:/\*([^*]|\*+[^*/])*\*+/: :g' | grep -oE 'typedef (enum|struct) [a-z_]+ \{[^}]*\}' | awk -F '[{}]' '
  { split($1, head, " "); type = head[3] }
  head[2] == "enum" {
    count = split($2, names, ",")
    for (i = 1; i <= count; ++i) if (match(names[i], /[A-Z][A-Z0-9_]*/)) print "  NUMBER(" substr(names[i], RSTART, RLENGTH) ");"
  }
  head[2] == "struct" {
    print "  SIZE(" type ");"
    count = split($2, members, ";")
    for (i = 1; i <= count; ++i) {
      if (match(members[i], /\(\*[a-z_]+\)/)) members[i] = substr(members[i], RSTART + 2, RLENGTH - 3)  # a function
      several = split(members[i], names, ",")
      for (k = 1; k <= several; ++k) {
        sub(/\[.*/, "", names[k])
        if (match(names[k], /[a-z_]+ *$/)) { name = substr(names[k], RSTART); sub(/ *$/, "", name); print "  MEMBER(" type ", " name ");" }
      }
    }
  }'
echo '  return 0;'
echo '}'
