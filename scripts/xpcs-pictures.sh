#!/bin/sh
# Makes the pictures of docs/guide/xpcs.md and twotime.md again, from the demonstrations. $1: the command euryale.
set -e
euryale=$(realpath "${1:-bin/euryale}")
to=$(realpath docs/pictures)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
"$euryale" demo xpcs --out demo --quiet >/dev/null
"$euryale" correlate demo/movie.h5 --qmap demo/qmap.hdf --correlation twotime --bins 1 --average-frames 16 --suffix _slow --quiet >/dev/null
plot() { "$euryale" plot "$@" --overwrite --quiet; }
plot qmap demo/qmap.hdf "$to/xpcs-qmap.svg"
plot image demo/movie_results.hdf "$to/xpcs-image.svg"
plot saxs demo/movie_results.hdf "$to/xpcs-saxs.svg"
plot g2 demo/movie_results.hdf "$to/xpcs-g2.svg" --bins 1-6 --overlay
plot twotime movie_slow_results.hdf "$to/xpcs-twotime.svg"
cp demo/power/plots/fit.svg "$to/xpcs-power.svg"
cp demo/posterior/plots/posterior_curve.svg "$to/xpcs-posterior.svg"
"$euryale" demo twotime --data --out flow --quiet >/dev/null
"$euryale" fit twotime flow/flow.yaml --out fit --quiet >/dev/null
plot twotime fit "$to/twotime-maps.svg" --bins 1,3
