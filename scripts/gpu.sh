#!/bin/sh
# Tests on a machine with a GPU that has neither Go nor a network.
#
#   scripts/gpu.sh build   here: makes .gpu/tests.tar.xz, self-contained test binaries of all packages
#                          with tests named TestGPU, and the benchmark; git ignores the folder
#   scripts/gpu.sh run     there, in a copy of the repository with .gpu: runs them and writes
#                          gpu.log and one line for each test into $OUT (default .gpu), then the
#                          benchmark, whose tables are bench.txt and bench.json there
#
# The binaries need only a driver and NVRTC; LD_LIBRARY_PATH is extended by the usual places of both.
# TIMEOUT (default 8m) ends a binary that hangs. Clocks and modes of the GPU are left alone.
set -eu
cd "$(dirname "$0")/.."
folder=.gpu

packages() { grep -rl --include='*_test.go' 'func TestGPU' kernels tensor autodiff optim infer sim models 2>/dev/null | xargs -n1 dirname | sort -u; }

# The binaries share most of their code, so one archive with a large window is a quarter of many.
pack() {
  (cd "$folder" && tar cf - *.test bench | xz -6 --lzma2=preset=6,dict=256MiB > tests.tar.xz && rm -f *.test bench)
}

unpack() {
  if command -v xz > /dev/null; then
    xz -dc "$1"
  else
    python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)' "$1"
  fi | tar xf - -C "$(dirname "$1")"
}

build() {
  rm -rf "$folder"
  mkdir -p "$folder"
  printf '*\n' > "$folder/.gitignore"
  for p in $(packages); do
    out="$folder/$(echo "$p" | tr / -).test"
    CGO_ENABLED=0 ${GO:-go} test -c -trimpath -ldflags='-s -w' -o "$out" "./$p"
  done
  CGO_ENABLED=0 ${GO:-go} build -trimpath -ldflags='-s -w' -o "$folder/bench" ./internal/gpubench/bench
  pack
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
  [ -f "$folder/tests.tar.xz" ] && unpack "$folder/tests.tar.xz"
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
  if "$top/$folder/bench" "$to/bench.json" > "$to/bench.txt" 2>> "$to/gpu.log"; then cat "$to/bench.txt"; else bad=1; fi
  grep -E '^(== |--- |PASS|FAIL|panic)' "$to/gpu.log" || true
  exit $bad
}

case "${1:-}" in
  build) build ;;
  run) run ;;
  *) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 64 ;;
esac
