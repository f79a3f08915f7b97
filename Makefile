# Every target says in one line what it does; make alone lists them.
GO      ?= go
OUT     ?= run
PYTHON  ?= python3
MUTATE  ?= -n 10

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

build: ## build bin/euryale
	$(GO) build -o bin/euryale ./cmd/euryale

run: build ## the main job: fit and sample the demonstration file, write a report to run/
	./bin/euryale demo g2 --out $(OUT) --overwrite

test: ## the quick tier: 4 minutes on two cores with nothing installed but Go
	$(GO) test ./...

test-short: ## the tests of a minute
	$(GO) test -short ./...

test-slow: ## all tests, also those that take minutes
	$(GO) test -tags slow -timeout 60m ./...

# Tests of a package that call another program, themselves or by a function named here.
tools = /^func / { name = $$2; sub(/\(.*/, "", name) } \
  name ~ /^Test/ && /peer\.Python\(|gradcheck\.HostC\(|LookPath\(|checkWithPython\(|[ \t]python\(\)|[ \t]each\(t, func|(Skip|Log)f?\("lacks / { print name }
test-tools: ## the tests that need other programs (C compilers, Python, browsers), and a list of those that lack one
	@bad=0; lacks=; for d in $$(find . -name '*_test.go' -exec dirname {} + | sort -u); do \
	  names=$$(awk '$(tools)' $$d/*_test.go | sort -u | paste -sd '|' -); [ -z "$$names" ] && continue; \
	  out=$$($(GO) test -count=1 -v -run "^($$names)\$$" $$d 2>&1) || { bad=1; echo "$$out"; }; \
	  echo "$$out" | grep -E '^(---|ok|FAIL)'; \
	  lacks="$$lacks$$(echo "$$out" | grep -E '^ .*: lacks ' | sed "s|^ *|$$d/|")$$(printf '\n ')"; \
	done; echo; echo "What was not tested, and what it lacks:"; echo "$$lacks" | grep lacks | sed "s|^ *||" | sort -u | grep . || echo nothing; exit $$bad

race: ## tests under the race detector
	$(GO) test -race -short ./...

FUZZTIME ?= 60s
fuzz: ## fuzz every reader, FUZZTIME (60s) each: nightly
	@for f in $$(grep -rlE '^func Fuzz' --include='*_test.go' .); do \
	  for t in $$(grep -oE '^func Fuzz[A-Za-z0-9]*' $$f | sed 's/func //'); do \
	    echo "$$t in $$(dirname $$f)"; \
	    $(GO) test ./$$(dirname $$f) -run '^$$' -fuzz "^$$t\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x || exit 1; \
	  done; done

mutate: ## plant faults and see whether the tests notice, MUTATE="-n 10 -only data/": nightly
	$(GO) run ./internal/mutate $(MUTATE)

bench: ## measure speed, into bench/latest.txt
	@mkdir -p bench
	$(GO) test -run '^$$' -bench . -benchtime 0.5s ./autodiff/... ./kernels ./optim ./infer ./models/... | tee bench/latest.txt

EURYALE_PYTHON ?= .peers/bin/python
REFERENCE ?= ../shared/reference/inference/posteriors
bench-infer: ## samplers on posteriors with references, beside Stan, nutpie and NumPyro, into bench/infer.txt
	@mkdir -p bench
	$(GO) test -run '^$$' -bench Posteriors -benchtime 10x ./infer | tee bench/infer.txt
	@if command -v $(EURYALE_PYTHON) > /dev/null; then $(EURYALE_PYTHON) -W ignore scripts/peers.py $(REFERENCE) 2>&1 | tee -a bench/infer.txt; \
	  else echo "peers absent: no $(EURYALE_PYTHON); make peers installs nutpie and NumPyro, or set EURYALE_PYTHON" | tee -a bench/infer.txt; fi

bench-rsoxs: ## scattering of 32 x 512 x 512 voxels beside the direct algorithm, ours and NumPy's, into bench/rsoxs.txt
	@mkdir -p bench
	$(GO) test -run '^$$' -bench 'CoreShell/^(1x1|1x361|gradient|memory)$$' -benchtime 10x ./sim/rsoxs | tee bench/rsoxs.txt
	$(GO) test -run '^$$' -bench 'CoreShell/101x361' -benchtime 1x -timeout 60m ./sim/rsoxs | tee -a bench/rsoxs.txt
	@if $(EURYALE_PYTHON) -c 'import numpy, scipy' 2> /dev/null; then $(EURYALE_PYTHON) scripts/peer_rsoxs.py bench/rsoxs.txt 2>&1 | tee -a bench/rsoxs.txt; \
	  else echo "peer absent: no NumPy and SciPy for $(EURYALE_PYTHON); make peers installs them, or set EURYALE_PYTHON" | tee -a bench/rsoxs.txt; fi

bench-assembly: ## assemblies of neurons beside the reference's C++ and Python and Caerii, into bench/assembly.txt
	@mkdir -p bench
	@{ echo "commit $$(git rev-parse --short HEAD 2> /dev/null || echo unknown), $$($(GO) version), $$(uname -sm), $$(date -u +%Y-%m-%d), load$$(uptime | sed 's/.*load average://')"; \
	  echo "CPU-ms is of all threads, ms what the clock says, which other jobs make longer; C++ (-O2), brain.py and Caerii (NumPy): CPU of one thread"; \
	  echo "on a like machine, rough to 30 %; x-C++ is ours over that. A sentence takes brain.py 5 to 20 s."; } | tee bench/assembly.txt
	@{ $(GO) test -run '^$$' -bench 'Project|Associate|Merge' -cpu 1 -benchtime 0.5s -timeout 60m ./sim/assembly && \
	  $(GO) test -run '^$$' -bench 'Exact|Traffic|Growth' -benchtime 5x -timeout 60m ./sim/assembly && \
	  $(GO) test -run '^$$' -bench Sentence -benchtime 50x ./sim/assembly/language; } 2>&1 | awk '$(assembly-table)' | tee -a bench/assembly.txt

# A line for each benchmark, with a column for each common unit and the others behind.
assembly-table = BEGIN { n = split("ms CPU-ms C++-ms x-C++ brain.py-ms Caerii-ms brain-MB peak-MB C++-peak-MB", unit); \
    printf "%-44s", ""; for (u = 1; u <= n; u++) { printf " %11s", unit[u]; column[unit[u]] = 1 } print "" } \
  /^Benchmark/ { name = $$1; sub(/^Benchmark/, "", name); sub(/-[0-9]+$$/, "", name); split("", v); more = ""; \
    for (i = 3; i < NF; i += 2) { sub("ms/sentence", "ms", $$(i+1)); v[$$(i+1)] = $$i; if (!($$(i+1) in column) && $$(i+1) != "ns/op") more = more "  " $$i " " $$(i+1) } \
    printf "%-44s", name; for (u = 1; u <= n; u++) printf " %11s", v[unit[u]]; print more; fflush(); next } \
  /^(cpu|FAIL|panic|---)/ { print }

cover: ## test coverage by package
	$(GO) test -cover ./...

lint: ## gofmt, vet and the rules of the house
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) test ./internal/arch

fmt: ## format all code
	gofmt -w .

kernels: ## generate the SIMD assembly again
	$(GO) generate ./kernels

golden: ## rewrite golden files from today's output
	$(GO) test ./viz/... ./cmd/... -update

golden-pack: ## pack the references that may be distributed into internal/golden/testdata
	$(GO) run ./internal/golden/pack ../shared/reference internal/golden/testdata

cross: ## compile for other systems, without cgo
	CGO_ENABLED=0 $(GO) build ./...
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) build ./...
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) build ./...

peers: ## a Python environment in .peers for cross-checks (optional)
	$(PYTHON) -m venv .peers && .peers/bin/pip install -q numpy scipy pyfftw h5py xarray zarr netcdf4 h5netcdf pyarrow arviz cmdstanpy pymc nutpie numpyro

clean: ## remove what the other targets made
	rm -rf bin run .peers bench

.PHONY: help build run test test-short test-slow test-tools race fuzz mutate bench bench-infer bench-rsoxs bench-assembly cover lint fmt kernels golden golden-pack cross peers clean
