#!/bin/sh
# Fetches a measured anisotropy A(q, E) of polymer-grafted nanoparticles and the optical constants of their materials into a folder, from
# the validation data of NRSS (https://github.com/usnistgov/NRSS, works of NIST employees, free to use with the notice in its LICENSE,
# which is fetched too), at the commit whose checksums stand below: scripts/grafted-particles.sh DIR. Then
#
#   euryale invert rsoxs DIR/problem.json
#   EURYALE_GRAFTED_PARTICLES=DIR go test ./app/rsoxs -run GraftedParticles
#
# The measurement: Mukherjee et al., Nature Communications 12, 4896 (2021), doi:10.1038/s41467-021-25176-4.
# The files come from the folder GRAFTED_PARTICLES_FROM instead if that is set, such as one that was fetched on another machine.
set -eu
dir=${1:?"usage: scripts/grafted-particles.sh DIR"}
from=https://raw.githubusercontent.com/usnistgov/NRSS/f8d89d44c65aa04c0dd077cef066b65d882f7307
mkdir -p "$dir"
while read -r sum path; do
	name=$(basename "$path")
	part="$dir/$name.part"
	if [ -n "${GRAFTED_PARTICLES_FROM:-}" ]; then
		cp "$GRAFTED_PARTICLES_FROM/$name" "$part"
	else
		curl --fail --silent --show-error --location --output "$part" "$from/$path"
	fi
	if ! echo "$sum  $part" | sha256sum --check --status; then
		echo "$name has another SHA-256 than $sum: it is not the file of this commit, and was not kept" >&2
		rm -f "$part"
		exit 1
	fi
	mv "$part" "$dir/$name"
done <<'FILES'
3747803bc1157be8f890b5e90fceb8c759511a223e554d1853e2a58245fd04b3 tests/validation/data/core_shell/CS_reference.nc
58aeee0e9d7feda5169c0bbdbb2d3c3a9b1e7ece350de5f593b9cb4b460b085f tests/validation/data/core_shell/Material1.txt
be78ab8be054583f47a2f538f42bfb89f2aa348d582c035b46d06f583a08332d tests/validation/data/core_shell/Material2.txt
be78ab8be054583f47a2f538f42bfb89f2aa348d582c035b46d06f583a08332d tests/validation/data/core_shell/Material3.txt
09205491f529e149f26e4a8644a21b14ac55a2c54fa082b497eaae99080a9d0a LICENSE
FILES
cp "$(dirname "$0")/../examples/grafted-particles/problem.json" "$dir"
echo "the measurement is in $dir: euryale invert rsoxs $dir/problem.json"
