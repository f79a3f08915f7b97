// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package kernels

import (
	"math/rand"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// fenced is memory between two pages that cannot be touched.
type fenced []byte

func newFenced(t *testing.T, bytes int) fenced {
	page := syscall.Getpagesize()
	n := (bytes + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, n+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(all) })
	for _, fence := range [][]byte{all[:page], all[page+n:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return all[page : page+n]
}

// beside copies numbers to the end or to the beginning of the memory.
func beside[T any](m fenced, x []T, end bool) []T {
	if len(x) == 0 {
		return nil
	}
	at := 0
	if end {
		at = len(m) - len(x)*int(unsafe.Sizeof(x[0]))
	}
	to := unsafe.Slice((*T)(unsafe.Pointer(&m[at])), len(x))
	copy(to, x)
	return to
}

// Products of matrices and of counts touch nothing before or behind their matrices, although they fetch what comes next.
func TestNothingBesideMatricesIsTouched(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	sizes := []int{1, 2, 3, 7, 8, 9, 16, 17, 24, 25, 47, 48, 49, 50, 64, 96, 97, 129, 255, 256, 257, 511, 513}
	var room [3]fenced
	for i := range room {
		room[i] = newFenced(t, 1<<21)
	}
	random := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	for _, l := range Levels() {
		var ws Workspace
		for range 80 {
			m, n, k := sizes[r.Intn(len(sizes))], sizes[r.Intn(len(sizes))], sizes[r.Intn(len(sizes))]
			transA, transB, end := r.Intn(2) == 0, r.Intn(2) == 0, r.Intn(2) == 0
			lda, ldb := k, n
			if transA {
				lda = m
			}
			if transB {
				ldb = k
			}
			a, b, want := random(m*k), random(k*n), random(m*n)
			c := beside(room[2], want, end)
			Gemm32(l, &ws, transA, transB, m, n, k, 1, beside(room[0], a, end), lda, beside(room[1], b, end), ldb, 1, c, n)
			Gemm32(l, &ws, transA, transB, m, n, k, 1, a, lda, b, ldb, 1, want, n)
			if !slices.Equal(c, want) {
				t.Fatalf("%v: the product of %d x %d and %d x %d has other bits there", l, m, k, k, n)
			}
		}
		for n := 1; n < 140; n++ {
			x, end := make([]float32, n), n%2 == 0
			x[n-1] = MostCount
			if sum, ok := Counts(l, beside(room[1], make([]uint8, n), end), beside(room[0], x, end)); sum != MostCount || !ok {
				t.Fatalf("%v: the sum of %d counts is %d, %v", l, n, sum, ok)
			}
			ScaleCounts(l, beside(room[2], make([]float64, n), end), beside(room[0], make([]int32, n), end), beside(room[1], make([]float64, n), end), 1, end)
			CountProduct(l, n, beside(room[0], make([]uint32, n*PanelRows), end), beside(room[1], make([]uint32, n*PanelRows), end), n%50, beside(room[2], make([]int32, PanelRows*PanelRows), end), PanelRows, end, n%3 == 0)
		}
	}
}
