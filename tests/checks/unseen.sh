#!/bin/sh
# unseen.sh -- random models of every family and random tokenizers, as Hugging Face's libraries compute and cut them (unseen.py, unseen_words.py), and the models as GGUF files: UNSEEN=PYTHON names
# a python that has torch, transformers 5 and tokenizers; MANY=N models of each family (2), ten times as many as GGUF files, and as many tokenizers
set -eu
[ -n "${UNSEEN:-}" ] || { echo "UNSEEN=PYTHON names no python with torch, transformers and tokenizers"; exit 77; }
"$UNSEEN" tests/checks/unseen.py -n "${MANY:-2}"
"$UNSEEN" tests/checks/unseen.py --gguf -n "${MANY:-2}0"
"$UNSEEN" tests/checks/unseen_words.py -n "${MANY:-2}0"
