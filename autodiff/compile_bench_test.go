// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// The time and memory of compiling a graph of 1e5 operations on numbers and short vectors, of the kind that
// programs with unrolled loops have.
func BenchmarkCompile(b *testing.B) {
	x, v := ad.Input("x"), ad.Input("v", 20)
	y, w := x, v
	for i := range 12_500 {
		c := 1 + float64(i%7)/10
		y = ad.Add(ad.Mul(y, ad.Scalar(c)), ad.Sin(ad.Sub(x, ad.Scalar(float64(i)))))
		w = ad.Add(ad.Mul(w, y), ad.Tanh(ad.Mul(v, ad.Scalar(c))))
	}
	out := []*ad.Node{y, ad.Sum(w)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ad.Compile(out, ad.Settings{Backend: ad.CPU{Threads: 1}}); err != nil {
			b.Fatal(err)
		}
	}
}
