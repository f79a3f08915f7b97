#!/bin/sh
# Tests on a machine with a GPU that has neither Go nor a network.
#
#   scripts/gpu.sh build           here: makes .gpu/tests.tar.xz, self-contained test binaries of all packages
#                                  with tests named TestGPU, and the benchmark; git ignores the folder
#   scripts/gpu.sh run [PART...]   there, in a copy of the repository with .gpu: runs the parts, all if none is
#                                  named, and writes gpu.log and the tables into $OUT (default .gpu)
#   scripts/gpu.sh experiment      there: what answers most in eight minutes, into $OUT/experiment.json, from which
#                                  euryale bench gpu --learn makes defaults of the card and tables
#
# The parts:
#
#   checks     tests named TestGPU that compare results, each in a process of its own, at the same time
#   speed      tests named TestGPUSpeed, one after the other
#   bench      euryale bench gpu: bench.txt and bench.json
#   peers      the same operations by PyTorch and CuPy: peers.txt and peers.json
#   sanitizer  NVIDIA's compute-sanitizer over the tests of kernels/..., or of what ONLY names
#   choices    times the values of every open choice (kernels/cuda/choices.go) for CHOICES_SECONDS (default 240): experiment.json
#
# ONLY is a pattern of the packages' folders (default all), and RUN one of what follows TestGPU in the names of tests. The binaries need only a
# driver and NVRTC; LD_LIBRARY_PATH is extended by the usual places of both, and libraries are also looked for in Python's
# environment. TIMEOUT (default 4m) ends a binary that hangs, PROFILE=1 keeps CPU profiles of the speed tests in $OUT. Clocks and modes of the GPU are left alone.
set -eu
cd "$(dirname "$0")/.."
folder=.gpu

packages() {
  grep -rl --include='*_test.go' "func ${1:-TestGPU}" kernels tensor autodiff optim infer sim models 2>/dev/null | xargs -n1 dirname | sort -u | grep -E "${ONLY:-.}" || true
}

binary() { echo "$top/$folder/$(echo "$1" | tr / -).test"; }

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
    CGO_ENABLED=0 ${GO:-go} test -c -trimpath -ldflags='-s -w' -o "$(binary "$p")" "./$p"
  done
  CGO_ENABLED=0 ${GO:-go} build -trimpath -ldflags='-s -w' -o "$folder/bench" ./internal/gpubench/bench
  pack
  size=$(du -sm "$folder" | cut -f1)
  if [ "$size" -gt 60 ]; then
    echo "$folder holds $size MB: want at most 60" >&2
    exit 1
  fi
}

# tests PACKAGE LOG [COMMAND...] runs a binary with $flags, under a command if one is given, from the package's folder, so
# that the paths of its data are right.
tests() {
  p=$1
  log=$2
  shift 2
  {
    echo "== $p $flags"
    begin=$(date +%s)
    (cd "$p" && "$@" "$(binary "$p")" -test.v -test.timeout "${TIMEOUT:-4m}" $flags) || echo "EXIT $?"
    echo "== $p took $(($(date +%s) - begin)) s"
  } > "$log" 2>&1
}

checks() {
  # The driver's tests fill the memory, so they come before the others.
  for p in $(packages 'TestGPU\([^S]\|S[^p]\)' | grep -x kernels/cuda); do
    flags="-test.run ^TestGPU(${RUN:-}) -test.skip ^TestGPUSpeed"
    tests "$p" "$to/.$(basename "$(binary "$p")").log"
  done
  for p in $(packages 'TestGPU\([^S]\|S[^p]\)' | grep -vx kernels/cuda); do
    for t in $("$(binary "$p")" -test.list "^TestGPU(${RUN:-})" | grep -v '^TestGPUSpeed'); do
      flags="-test.run ^$t\$"
      tests "$p" "$to/.$t.$(basename "$(binary "$p")").log" &
    done
  done
  wait
  for log in "$to"/.*.test.log; do
    [ ! -f "$log" ] || cat "$log" >> "$to/gpu.log" # there is none if ONLY and RUN leave no test
  done
  rm -f "$to"/.*.test.log
}

speed() {
  for p in $(packages TestGPUSpeed); do
    flags="-test.run ^TestGPUSpeed(${RUN:-})"
    [ -z "${PROFILE:-}" ] || flags="$flags -test.cpuprofile $(binary "$p" | sed "s|.*/|$to/|; s|test\$|prof|")"
    tests "$p" "$to/.log"
    cat "$to/.log" >> "$to/gpu.log"
    grep -vE '^(=== |PASS$)' "$to/.log"
    rm "$to/.log"
  done
}

bench() { "$top/$folder/bench" "$to/bench.json" > "$to/bench.txt" 2>> "$to/gpu.log" && cat "$to/bench.txt" || echo "EXIT bench" >> "$to/gpu.log"; }

# lacks says that a program is not there, and that what needs it is left out.
lacks() { echo "lacks $1: $2 is left out" | tee -a "$to/gpu.log"; }

peers() {
  python3 -c 'import torch' 2> /dev/null || { lacks PyTorch peers; return; }
  python3 scripts/peers/gpu.py "$to/peers.json" > "$to/peers.txt" 2>> "$to/gpu.log" && cat "$to/peers.txt" || echo "EXIT peers" >> "$to/gpu.log"
}

sanitizer() {
  command -v compute-sanitizer > /dev/null || { lacks compute-sanitizer sanitizer; return; }
  flags="-test.run ^TestGPU(${RUN:-}) -test.skip ^TestGPU(Speed|Fault|Memory)"
  for p in $(ONLY=${ONLY:-^kernels} packages); do
    tests "$p" "$to/.log" compute-sanitizer --report-api-errors no --error-exitcode 86 --print-limit 1000
    cat "$to/.log" >> "$to/gpu.log"
    grep -E '^(== |EXIT|=========.*(ERROR|Invalid|Leak))' "$to/.log" || true
    rm "$to/.log"
  done
}

choices() {
  "$top/$folder/bench" experiment "$to/experiment.json" "${CHOICES_SECONDS:-240}" 2> "$to/.log" || echo "EXIT choices" >> "$to/gpu.log"
  cat "$to/.log" >> "$to/gpu.log"
  rm "$to/.log"
}

# experiment runs each part in a group of processes with a time of its own, so that one that hangs loses itself only, and gathers what they left.
experiment() {
  built
  to=$(cd "${OUT:-$folder}" && pwd)
  rm -f "$to/experiment.json" "$to/bench.json" "$to/peers.json"
  : > "$to/experiment.log"
  part() {
    limit=$1
    shift
    echo "== $*, $limit s at most" >&2
    OUT=$to TIMEOUT=${limit}s timeout -k 5 "$limit" env "$@" > /dev/null 2>> "$to/experiment.log" || echo "EXIT $? of $* within $limit s" >> "$to/experiment.log"
    for log in "$to/gpu.log" "$to"/.*.test.log "$to/.log"; do
      [ ! -f "$log" ] || cat "$log" >> "$to/experiment.log"
      rm -f "$log"
    done
  }
  part 140 sh scripts/gpu.sh run checks
  part 190 CHOICES_SECONDS=150 sh scripts/gpu.sh run choices
  part 60 sh scripts/gpu.sh run bench
  part 50 ONLY='kernels/cuda/basic|autodiff' RUN='(Arrays|Operations)' sh scripts/gpu.sh run sanitizer
  part 30 sh scripts/gpu.sh run peers
  mv "$to/experiment.log" "$to/gpu.log"
  "$top/$folder/bench" gather "$to" "$to/experiment.json"
}

built() {
  if [ ! -d "$folder" ]; then
    echo "lacks $folder: run scripts/gpu.sh build first, and take the folder along" >&2
    exit 1
  fi
}

run() {
  [ $# -gt 0 ] || set -- checks speed bench peers sanitizer
  for part; do
    case "$part" in
      checks | speed | bench | peers | sanitizer | choices) ;;
      *) echo "there is no part $part: the parts are checks, speed, bench, peers, sanitizer and choices" >&2; exit 64 ;;
    esac
  done
  built
  LD_LIBRARY_PATH=/usr/local/cuda/lib64:/usr/local/nvidia/lib64:${LD_LIBRARY_PATH:-}
  export LD_LIBRARY_PATH
  : "${VIRTUAL_ENV:=$(python3 -c 'import sys; print(sys.prefix)' 2> /dev/null || true)}"
  export VIRTUAL_ENV
  to=$(cd "${OUT:-$folder}" && pwd)
  : > "$to/gpu.log"
  command -v nvidia-smi > /dev/null && nvidia-smi >> "$to/gpu.log" 2>&1
  if [ -f "$folder/tests.tar.xz" ] && ! [ "$folder/.unpacked" -nt "$folder/tests.tar.xz" ]; then
    unpack "$folder/tests.tar.xz"
    touch "$folder/.unpacked"
  fi
  for p in $(packages); do
    if [ ! -x "$(binary "$p")" ]; then
      echo "lacks $(binary "$p"): run scripts/gpu.sh build first" >&2
      exit 1
    fi
  done
  for part; do
    begin=$(date +%s)
    $part
    echo "== $part: $(($(date +%s) - begin)) s" | tee -a "$to/gpu.log"
  done
  grep -E '^ *(== .* took|--- (FAIL|SKIP)|FAIL|panic|EXIT)' "$to/gpu.log" || true
  ! grep -qE '^(--- FAIL|FAIL|panic|EXIT)' "$to/gpu.log"
}

top=$(pwd)
case "${1:-}" in
  build) build ;;
  run)
    shift
    run "$@"
    ;;
  experiment) experiment ;;
  *) sed -n '2,23s/^# \{0,1\}//p' "$0"; exit 64 ;;
esac
