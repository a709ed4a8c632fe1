==== check
# the second prompt with its answer, and the third, as lists of ids; what is not alike from the front is computed
compute() { # 1: the system's words in the last question, 0: in the first
  awk -v moved=$1 'function put(to, who, n) { for (k = 0; k < n; k++) text[to, ++len[to]] = who k }
    function prompt(to, questions,   q) { for (q = 1; q <= questions; q++) { if (q == (moved ? questions : 1)) put(to, "s", 40); put(to, "q" q, 20); if (q < questions) put(to, "a" q, 20) } }
    BEGIN { prompt("old", 2); put("old", "a2", 20); prompt("new", 3)
      while (same < len["old"] && text["old", same + 1] == text["new", same + 1]) same++
      print len["new"] - same }'
}
is $(compute 1) $(compute 0)
==== answer
# rows for the third question, if the words move and if they stay, with a blank between
100 20
==== wrong
# rows for the third question, if the words move and if they stay, with a blank between
60 20
==== skeleton
# rows for the third question, if the words move and if they stay, with a blank between
