// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Elementwise values of one shape and their sums are one job; only what others read is
// written.
func TestChainsFuse(t *testing.T) {
	x := vector("x")
	y := ad.Exp(ad.Sin(x))
	expect(t, "fusion", `
		stage 0: over [100]; v1 sin; v2* exp; v3* sum
		stage 1: over [100]; v4* div`,
		ad.Sum(y), ad.Div(y, ad.Sum(y)))
}

// What only a later job of the same shape reads is computed there.
func TestJobsWaitForTheirReader(t *testing.T) {
	x, y := vector("x"), ad.Input("y", 7)
	expect(t, "fusion", `
		stage 0: over [7]; v3* sum
		stage 1: over [100]; v2 exp; v4* mul`,
		ad.Mul(ad.Exp(x), ad.Sum(y)))
}

// Many values that have nothing to do with each other are several jobs; chains of them stay whole, and a long chain is one job.
func TestLargeJobsAreCut(t *testing.T) {
	x := vector("x")
	var chains []*ad.Node
	for i := range 150 {
		chains = append(chains, ad.Sum(ad.Exp(ad.Scale(1+float64(i), x)))) // 3 values each
	}
	p, err := ad.Compile(chains, ad.Settings{Inputs: []*ad.Node{x}})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(p.Explain(), "over [100];"); n != 4 { // 42 chains of 126 values each
		t.Errorf("%d jobs, want 4", n)
	}
	st := p.NewState()
	for i := range st.Input(0) {
		st.Input(0)[i] = 0.01 * float64(i)
	}
	if err := st.Run(); err != nil {
		t.Fatal(err)
	}
	for i := range chains {
		want := 0.0
		for _, v := range st.Input(0) {
			want += math.Exp((1 + float64(i)) * v)
		}
		if got := st.Output(i)[0]; math.Abs(got-want) > 1e-12*want {
			t.Errorf("sum %d is %v, want %v", i, got, want)
		}
	}
	y := vector("y")
	total := ad.Sum(ad.Square(y))
	for i := range chains { // the exponentials wait for the sum and join the products, five values each
		chains[i] = ad.Sum(ad.Mul(ad.Exp(ad.Shift(ad.Scale(1+float64(i), x), 1)), total))
	}
	if p, err = ad.Compile(chains, ad.Settings{Inputs: []*ad.Node{x, y}}); err != nil {
		t.Fatal(err)
	}
	for _, job := range strings.Split(p.Explain(), "stage ") {
		job, _, _ = strings.Cut(job, "\n")
		if n := strings.Count(job, ";"); n > 128 {
			t.Errorf("a job of %d values", n)
		}
	}
	long := x
	for i := range 200 {
		long = ad.Sin(ad.Shift(long, float64(i)))
	}
	if p, err = ad.Compile([]*ad.Node{long}, ad.Settings{Inputs: []*ad.Node{x}}); err != nil || strings.Count(p.Explain(), "over [100];") != 1 {
		t.Errorf("a chain of 400 values is cut: %v", err)
	}
}
