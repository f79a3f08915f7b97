// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"
	"testing"
)

// Loops that are cut into blocks treat every element once: sums of ones are their
// number, whole and by rows, at lengths around those of blocks.
func TestBlocksCoverEveryElementOnce(t *testing.T) {
	for _, shape := range [][]int{{32767}, {32768}, {32769}, {100000}, {3, 40000}, {40000, 3}, {700, 300}, {200000, 1}} {
		size := 1
		for _, n := range shape {
			size *= n
		}
		x := Input("x", shape...)
		ones := Exp(Scale(0, x))
		outs := []*Node{Sum(ones), Add(ones, x)}
		if len(shape) == 2 {
			outs = append(outs, SumAxes(Add(ones, x), 1))
		}
		p, err := Compile(outs, Settings{Inputs: []*Node{x}})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		for i := range s.Input(0) {
			s.Input(0)[i] = float64(i)
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		if got := s.Output(0)[0]; got != float64(size) {
			t.Errorf("%v: %d ones sum to %g", shape, size, got)
		}
		for i, v := range s.Output(1) {
			if v != float64(i)+1 {
				t.Fatalf("%v: element %d is %g", shape, i, v)
			}
		}
		if len(shape) < 2 {
			continue
		}
		for r, got := range s.Output(2) {
			first := float64(r * shape[1])
			want := float64(shape[1]) * (first + 1 + float64(shape[1]-1)/2)
			if math.Abs(got-want) > 1e-12*want {
				t.Fatalf("%v: row %d sums to %g, want %g", shape, r, got, want)
			}
		}
	}
}
