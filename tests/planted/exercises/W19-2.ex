==== check
# the status of the first test that fails: the key comes before length and fields (program/serve_routes.c, admit)
order=$(sed -n '/^static void admit/,/^}/p' program/serve_routes.c | grep -o 'refuse(h, x, [0-9]*' | grep -o '[0-9]*$' | awk '/^(401|413|400)$/ && !seen[$1]++ { print }' | head -1)
is "$order"
==== answer
401
==== wrong
413
==== skeleton
# a status
