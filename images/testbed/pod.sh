#!/bin/sh
# Prints a pod of one program of the test bed in one state, for "apply -f -": pod.sh PROGRAM STATE. See README.md.
exec node "$(dirname "$0")/pod.cjs" "$@"
