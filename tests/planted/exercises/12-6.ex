==== check
# whole pages in the cache, for the longest text and for the text that comes
is "$(echo 20 16 100 30 | awk '{ print int($1 / int(($3 + $2 - 1) / $2)), int($1 / int(($4 + $2 - 1) / $2)) }')"
==== answer
2 10
==== wrong
3 10
==== skeleton
# two numbers: requests with reserved pages, and requests with pages that are taken when needed
