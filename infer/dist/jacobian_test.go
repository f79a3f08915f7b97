// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// The log Jacobian of every transform is the log determinant of the derivatives of the
// elements of y that are free, by autodiff.
func TestJacobiansAreDeterminants(t *testing.T) {
	for name, c := range everyTransform() {
		size := 1
		for _, k := range c.shape {
			size *= k
		}
		n, shape := c.tr.Free(size), []int{c.tr.Free(size)}
		if len(c.shape) == 0 {
			shape = []int{3} // three numbers, each for itself
			n, size = 3, 3
		}
		x := ad.Input("x", shape...)
		y, logJ := c.tr.Constrain(x)
		p, err := ad.Compile([]*ad.Node{y, logJ, ad.Jacobian(ad.Reshape(y, size), x)}, ad.Settings{Inputs: []*ad.Node{x}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := p.NewState()
		for _, scale := range []float64{0.01, 0.7, 3} {
			sum := 0.0
			for i := range s.Input(0) {
				s.Input(0)[i] = scale * math.Sin(float64(3*i+2))
				sum += s.Input(0)[i] * s.Input(0)[i]
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			want := 0.0
			if name == "unit_vector" { // not a map of as many free elements
				want = -sum / 2
			} else {
				var rows []float64
				for _, e := range freeElements(name, size) {
					rows = append(rows, s.Output(2)[e*n:(e+1)*n]...)
				}
				want, _ = mat.LogDet(mat.NewDense(n, n, rows))
			}
			if name == "zero_sum" { // lengths on the plane are kept, those of its shadow are not
				want += math.Log(float64(size)) / 2
			}
			if got := s.Output(1)[0]; math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
				t.Errorf("%s at %g: log Jacobian %.16g, log determinant %.16g", name, scale, got, want)
			}
		}
	}
}

// freeElements are those of y, row-major, that determine the others.
func freeElements(name string, size int) (out []int) {
	k := int(math.Round(math.Sqrt(float64(size))))
	for e := range size {
		row, column := e/k, e%k
		switch {
		case strings.HasPrefix(name, "simplex") || name == "zero_sum":
			if e == size-1 {
				continue
			}
		case strings.HasPrefix(name, "corr") && column >= row, strings.Contains(name, "cov") && column > row:
			continue
		}
		out = append(out, e)
	}
	return out
}
