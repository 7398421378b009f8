#!/bin/sh
# Runs Straddle with the Node.js beside it. Uses what every sh has built in; a link to this file is followed.
here=$0
[ -L "$here" ] && here=$(command -p readlink -f "$here")
folder=${here%/*}/..
exec "$folder/lib/node" "$folder/lib/straddle/bin/straddle.js" "$@"
