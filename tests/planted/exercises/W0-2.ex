==== check
# bytes by which the accounts would be wrong: blocks times header
is $((200 * 8))
==== answer
1600
==== wrong
200
==== skeleton
# one integer, bytes
