==== check
# merges of five ranked tokens, and a spelling
digest 2a9d063160353931b88d4b7ce1f353f0
==== answer
4 abb abb
==== wrong
3 abb abb
==== skeleton
# the number of merges, and the tokens of abbabb, with blanks between
