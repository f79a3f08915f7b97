// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unsafe"
)

var update = flag.Bool("update", false, "write the checksums of kernels again")

const bitsFile = "testdata/bits.golden.txt"

// TestBitsOfAllProcessors compares checksums of the results of each level with those in the file, which are the same for AVX2,
// AVX-512 and NEON.
func TestBitsOfAllProcessors(t *testing.T) {
	for _, l := range Levels()[1:] {
		var b strings.Builder
		sums(&b, "float64", l, lookup[float64]{Unary64, Binary64, Ternary64}, GemmPart64)
		sums(&b, "float32", l, lookup[float32]{Unary32, Binary32, Ternary32}, GemmPart32)
		philoxSum(&b, l)
		if *update {
			if err := os.WriteFile(bitsFile, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(bitsFile)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if !strings.Contains(string(want), line) {
				t.Errorf("%v: %s is not in %s", l, strings.TrimSpace(line), bitsFile)
			}
		}
	}
}

// portable is n values whose bits no function of package math has made: of sizes from 2^-60 to 2^16, and some zeros.
func portable[T float](n int, seed uint64) []T {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]T, n)
	for i := range x {
		if r.IntN(16) > 0 {
			x[i] = T(math.Ldexp(2*float64(r.Uint32())-0x1p32, r.IntN(77)-92))
		}
	}
	return x
}

// sums writes a line for each elementwise kernel and for products of matrices.
func sums[T float](b *strings.Builder, typ string, l Level, k lookup[T], gemm gemmPart[T]) {
	const n = 3001
	x := [][]T{portable[T](n, 1), portable[T](n, 2), portable[T](n, 3)}
	for operands := 1; operands <= 3; operands++ {
		for _, name := range Names(operands) {
			dst := make([]T, n)
			k.call(l, name, &dst[0], x[:operands], n)
			fmt.Fprintf(b, "%s %s %016x\n", name, typ, checksum(dst))
		}
	}
	for _, size := range [][3]int{{7, 5, 30}, {24, 49, 300}, {2, 70, 9}} {
		dst := make([]T, size[0]*size[1])
		var ws Workspace
		a, c := portable[T](size[0]*size[2], 4), portable[T](size[2]*size[1], 5)
		gemm(l, &ws, false, false, size[0], size[1], size[2], 0.75, a, size[2], c, size[1], 0, dst, size[1], 0, size[0], 0, size[1])
		fmt.Fprintf(b, "product%v %s %016x\n", size, typ, checksum(dst))
	}
}

func philoxSum(b *strings.Builder, l Level) {
	words, normal := make([]uint64, 512), make([]float64, 512)
	Philox(l, words, 1<<40, 5, 7)
	for i := range words {
		normal[i] = math.Float64frombits(words[i])
	}
	fmt.Fprintf(b, "philox float64 %016x\n", checksum(normal))
	NormalQuantiles(l, normal, words)
	fmt.Fprintf(b, "normal quantiles float64 %016x\n", checksum(normal))
}

// checksum is the hash of the bits; all NaN are one.
func checksum[T float](x []T) uint64 {
	h := fnv.New64a()
	for _, v := range x {
		if v != v {
			v = T(math.NaN())
		}
		h.Write(unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)))
	}
	return h.Sum64()
}
