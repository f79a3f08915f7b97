#!/bin/sh
# Fetches the programs and data of posteriordb (https://github.com/stan-dev/posteriordb, BSD-3-Clause; each model names its own licence),
# at the commit whose numbers the tests know, into a folder: scripts/posteriordb.sh DIR. Then
#
#   EURYALE_POSTERIORDB=DIR go test ./models/stan -run PosteriorDB
set -eu
commit=28f8d3d6e975315f42aa274a8399f21e07a43b30
dir=${1:?"usage: scripts/posteriordb.sh DIR"}
git clone --filter=blob:none --no-checkout https://github.com/stan-dev/posteriordb "$dir"
git -C "$dir" sparse-checkout set posterior_database/models/stan posterior_database/data/data posterior_database/posteriors posterior_database/reference_posteriors/draws/draws
git -C "$dir" checkout --quiet "$commit"
echo "posteriordb is in $dir"
