==== check
# a line of a rank file, read by hand
[ "$(grep -v '^#' "$1" | tr -d ' \n' | tr _ ' ')" = "$(echo IHRoZQ== | base64 -d)" ]
==== answer
_the
==== wrong
the
==== skeleton
# the token, with _ for a blank
