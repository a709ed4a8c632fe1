#!/bin/sh
# limit.sh -- does tests/checks/limit.c end what never ends?  A program that forks, leaves its group and its session, forks again and loops
# must be gone with all its children when the time is over, and also when only its parent ends.
set -eu
build=${BUILD:-build}; d=$build/limits; rm -rf "$d"; mkdir -p "$d"
[ "$build/limit" -nt tests/checks/limit.c ] || ${CC:-cc} -std=c11 -O2 tests/checks/limit.c -o "$build/limit"
cat > "$d/loops.c" <<'C'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void tell(void) { FILE *f = fopen(getenv("PIDS"), "a"); fprintf(f, "%d\n", (int) getpid()); fclose(f); }
static void loop(void) { signal(SIGTERM, SIG_IGN), signal(SIGHUP, SIG_IGN); tell(); for (;;) ; }
int main(int argc, char **argv)      /* loops [STATUS]: with a STATUS the first process ends, when all others loop */
{
  int ready[2];
  if (pipe(ready) != 0) return 9;
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      setpgid(0, 0);
      if (fork() == 0) { setsid(); tell(); (void) !write(ready[1], "x", 1); execlp("sh", "sh", "-c", "while :; do :; done", (char *) 0); }
      (void) !write(ready[1], "x", 1);
      loop();
    }
    if (argc > 1) { (void) !write(ready[1], "x", 1); tell(); _exit(0); }      /* an orphan at once */
    (void) !write(ready[1], "x", 1);
    loop();
  }
  char c;
  for (int i = 0; i < 3; i++) if (read(ready[0], &c, 1) != 1) return 9;
  usleep(100000);
  if (argc > 1) return atoi(argv[1]);
  loop();
}
C
${CC:-cc} -std=gnu11 -O1 -w "$d/loops.c" -o "$d/loops"
export PIDS="$d/pids"
gone() { # PROCESSES: so many told their numbers, and none of them is there
  [ "$(wc -l < "$PIDS")" = "$1" ] || { echo "$(wc -l < "$PIDS") processes, $1 expected"; exit 1; }
  while read -r p; do [ ! -d "/proc/$p" ] || { echo "process $p still lives"; kill -9 "$p"; exit 1; }; done < "$PIDS"
}
ends() { # STATUS COMMAND...
  want=$1; shift; rc=0
  "$@" 2> "$d/err" || rc=$?
  [ "$rc" = "$want" ] || { echo "$*: status $rc, $want expected"; cat "$d/err"; exit 1; }
}
: > "$PIDS"; ends 124 "$build/limit" 1 "$d/loops"; gone 4
: > "$PIDS"; ends 3 "$build/limit" 20 "$d/loops" 3; gone 3
: > "$PIDS"; ends 0 "$build/limit" 20 "$d/loops" 0; gone 3
: > "$PIDS"; ends 124 "$build/limit" 1.5 "$build/limit" 50 "$d/loops"; gone 4      # one within another
: > "$PIDS"; ends 143 sh -c "\"$build/limit\" 50 \"$d/loops\" & p=\$!; sleep 1; kill -TERM \$p; wait \$p"; gone 4
ends 0 "$build/limit" 5 true
ends 7 "$build/limit" 5 sh -c 'exit 7'
ends 137 "$build/limit" 5 sh -c 'kill -9 $$'
ends 127 "$build/limit" 5 /nowhere/at-all
ends 2 "$build/limit" 0 true
[ "$(echo word | "$build/limit" 5 cat)" = word ]
echo "what never ends is ended, with all its children"
