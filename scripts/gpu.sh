#!/bin/sh
# Tests on a machine with a GPU that has neither Go nor a network.
#
#   scripts/gpu.sh build   here: makes .gpu/*.test, self-contained test binaries of all packages with
#                          tests named TestGPU; git ignores the folder
#   scripts/gpu.sh run     there, in a copy of the repository with .gpu: runs them and writes
#                          gpu.log and one line for each test into $OUT (default .gpu)
#
# The binaries need only a driver and NVRTC; LD_LIBRARY_PATH is extended by the usual places of both.
# TIMEOUT (default 8m) ends a binary that hangs. Clocks and modes of the GPU are left alone.
set -eu
cd "$(dirname "$0")/.."
folder=.gpu

packages() { grep -rl --include='*_test.go' 'func TestGPU' kernels tensor autodiff optim infer sim models 2>/dev/null | xargs -n1 dirname | sort -u; }

build() {
  mkdir -p "$folder"
  printf '*\n' > "$folder/.gitignore"
  for p in $(packages); do
    out="$folder/$(echo "$p" | tr / -).test"
    CGO_ENABLED=0 ${GO:-go} test -c -trimpath -ldflags='-s -w' -o "$out" "./$p"
    ls -l "$out" | awk '{printf "%s: %.1f MB\n", $NF, $5/1e6}'
  done
  size=$(du -sm "$folder" | cut -f1)
  if [ "$size" -gt 60 ]; then
    echo "$folder holds $size MB: want at most 60" >&2
    exit 1
  fi
}

run() {
  LD_LIBRARY_PATH=/usr/local/cuda/lib64:/usr/local/nvidia/lib64:${LD_LIBRARY_PATH:-}
  export LD_LIBRARY_PATH
  to=$(cd "${OUT:-$folder}" && pwd)
  top=$(pwd)
  bad=0
  : > "$to/gpu.log"
  command -v nvidia-smi > /dev/null && nvidia-smi >> "$to/gpu.log" 2>&1
  for p in $(packages); do
    binary="$top/$folder/$(echo "$p" | tr / -).test"
    if [ ! -x "$binary" ]; then
      echo "lacks $binary: run scripts/gpu.sh build first" >&2
      exit 1
    fi
    echo "== $p" | tee -a "$to/gpu.log"
    # From the package's folder, so that the paths of its data are right.
    (cd "$p" && "$binary" -test.v -test.timeout "${TIMEOUT:-8m}" -test.run '^TestGPU') >> "$to/gpu.log" 2>&1 || bad=1
  done
  grep -E '^(== |--- |PASS|FAIL|panic)' "$to/gpu.log" || true
  exit $bad
}

case "${1:-}" in
  build) build ;;
  run) run ;;
  *) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 64 ;;
esac
