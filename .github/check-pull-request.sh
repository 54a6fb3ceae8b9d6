#!/usr/bin/env bash
# Checks a pull request with the checker that is built here, from the base. The pull request is fetched as Git
# objects and never checked out, so nothing in it is run, no link is followed and no file is converted.
#
#   HEAD_SHA   the last commit of the pull request
#   BASE_SHA   the commit that it would be merged into (default: the one that is checked out in CATALOGUE)
#   CATALOGUE  the clone of the catalogue's base branch (default: here)
#   FORMAT     text, github or json (default: github)
set -euo pipefail

code=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export BOTSHELF_CATALOGUE=${CATALOGUE:-$code}
BASE_SHA=${BASE_SHA:-$(git -C "$BOTSHELF_CATALOGUE" rev-parse HEAD)}

for sha in "$BASE_SHA" "$HEAD_SHA"; do
  [[ $sha =~ ^[0-9a-f]{40,64}$ ]] || { echo "BASE_SHA and HEAD_SHA are commit ids, not ${sha@Q}" >&2; exit 2; }
done
git -C "$BOTSHELF_CATALOGUE" -c core.hooksPath=/dev/null -c fetch.fsckObjects=true fetch --quiet --no-tags \
  --no-recurse-submodules --no-write-fetch-head origin "$HEAD_SHA" || {
  echo 'The pull request cannot be fetched, or has broken objects: the reason that Git gave is above' >&2
  exit 2
}
exec node "$code/dist/src/main.js" check --base "$BASE_SHA" --head "$HEAD_SHA" --format "${FORMAT:-github}"
