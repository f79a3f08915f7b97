// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command gen writes the assembly of package kernels, its stubs and the tables from names to stubs.
// With -arch arm64 it translates the code for AVX2 to NEON.
//
//	go run . -kind elementwise -out ../elementwise_amd64.s -stubs ../elementwise_amd64.go -pkg kernels -table ../tables_amd64.go
package main

import (
	"flag"
	"log"
	"os"
	"regexp"
	"sort"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
)

var (
	processor = flag.String("arch", "amd64", "amd64 or arm64")
	machines  = []machine{{double: true}, {}, {wide: true, double: true}, {wide: true}}
)

func main() {
	kind := flag.String("kind", "", "elementwise, reduce, gemm, images, random, fft, chain or counts")
	table := flag.String("table", "", "file of the tables from names to stubs (elementwise, gemm, images, fft)")
	out := flag.Lookup("out")
	flag.Parse()
	var compiled *ir.File
	if *processor == "arm64" {
		machines = []machine{{neon: true, double: true}, {neon: true}}
		pass.Compile = pass.Concat(pass.Compile, pass.Func(func(f *ir.File) error { compiled = f; return nil }))
	}
	ConstraintExpr(*processor + ",!purego")
	switch *kind {
	case "elementwise":
		ks := kernels()
		for _, m := range machines {
			for _, k := range ks {
				k.emit(m)
			}
			emitSinCos(m)
		}
		writeTable(*table, ks)
	case "reduce":
		for _, m := range machines {
			for _, r := range reductions() {
				r.emit(m)
			}
			for _, k := range scaledKernels() {
				k.emit(m)
			}
			emitPairs(m, false)
			emitPairs(m, true)
			emitFill(m)
			if m.double {
				emitCorners(m)
			}
		}
	case "gemm":
		emitGemm()
		writeGemmTable(*table)
	case "images":
		emitImages()
		writeImageTable(*table)
	case "random":
		for _, m := range machines {
			if m.double {
				emitPhilox(m)
				quantiles().emit(m)
			}
		}
	case "fft":
		emitFFT()
		writeFFTTable(*table)
	case "chain":
		emitChains()
	case "counts":
		emitCounts()
	default:
		log.Fatalf("gen: unknown kind %q", *kind)
	}
	Generate()
	check(out.Value.String())
	if compiled != nil {
		writeNEON(out.Value.String(), compiled)
	}
}

func kernels() []kernel {
	var ks []kernel
	for _, list := range [][]kernel{arithmetic(), exponentials(), logarithms(), trigonometric(), inverseTangents(), errorFunctions()} {
		ks = append(ks, list...)
	}
	sort.Slice(ks, func(i, j int) bool { return ks[i].name < ks[j].name })
	return ks
}

// newer matches registers and instructions that only AVX-512 has.
var newer = regexp.MustCompile(`\b([XY](1[6-9]|2[0-9]|3[01])|Z[0-9]+|K[0-7]|VPXORQ|VP?(ANDN?|OR)[QD]|V\w+X[24]|VRNDSCALE\w+|VRANGE\w+|V\w+\.Z|V\w+\.BCST)\b`)

// check refuses AVX2 functions that need AVX-512.
func check(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	name := ""
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "TEXT ") {
			name = line
		}
		if strings.Contains(name, "AVX2") && newer.MatchString(line) {
			log.Fatalf("%s:%d: AVX-512 in %s", file, i+1, name)
		}
	}
}
