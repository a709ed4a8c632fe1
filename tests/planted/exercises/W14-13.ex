==== check
# five lines of pull: the exit status of each
export HF_ENDPOINT=http://127.0.0.1:1 XDG_CACHE_HOME=$work
unset http_proxy https_proxy all_proxy HF_TOKEN
got=
for line in 'gpt2' 'a/b' 'a/../b' 'a/b:Q4_K_M --dry-run' '--list'; do
  rc=0; $build/incipit pull $line > /dev/null 2>&1 || rc=$?
  got="$got $rc"
done
is $got
==== answer
2
1
2
1
0
==== wrong
1
1
1
1
0
==== skeleton
# five lines: the exit status of each
