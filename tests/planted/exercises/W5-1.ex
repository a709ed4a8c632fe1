==== check
# a line of a rank file, read by hand
is "$(echo IHRoZQ== | base64 -d | tr ' ' _)"
==== answer
_the
==== wrong
the
==== skeleton
# the token, with _ for a blank
