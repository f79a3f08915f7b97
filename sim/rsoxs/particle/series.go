// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package particle

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// SizeError says that bodies are too large for their transforms to be tabulated.
type SizeError struct{ Radius, Q float64 } // nm and 1/nm

func (e *SizeError) Error() string {
	return fmt.Sprintf("particle: bodies of a radius of up to %.4g nm at q of up to %.4g 1/nm are too large to be tabulated: want a product of at most %d: give smaller sizes, or bounds nearer to the sizes that can be", e.Radius, e.Q, mostReach)
}

// Reach says how far transforms are tabulated: up to the largest |q| of the pixels in 1/nm, for bodies up to a radius of Size in nm, their
// soft edges included. A q beyond is a [ReachError]; a body beyond loses accuracy.
type Reach struct{ Q, Size float64 }

// ReachError says that a pixel has a q for which nothing is tabulated.
type ReachError struct{ Q, Limit float64 }

func (e *ReachError) Error() string {
	return fmt.Sprintf("particle: q of a pixel is %.4g 1/nm, and transforms are tabulated up to %.4g: allow a larger q, or hold the centre and the distance of the detector nearer to their start", e.Q, e.Limit)
}

// series tabulates even functions of q as Chebyshev polynomials in q^2.
type series struct {
	limit float64 // largest q^2
	nodes []float64
	coef  *ad.Node // from values at the nodes to coefficients, [term, node]
}

// mostReach is the largest product of q and the radius of a body that is tabulated, by a matrix of 32 MB.
const mostReach = 4000

// extent is the product of q and the radius, as far as it is tabulated.
func (r Reach) extent() float64 { return min(r.Q*r.Size, mostReach) }

// newSeries returns a table for functions whose transform ends at a radius.
func (r Reach) newSeries(radius float64) *series {
	if !(r.Q*radius <= mostReach) {
		return &series{nodes: []float64{0}, coef: ad.Fail(&SizeError{radius, r.Q})}
	}
	n := int(math.Ceil(r.Q*radius/2)) + 14
	s := &series{limit: r.Q * r.Q, nodes: make([]float64, n)}
	c := make([]float64, n*n)
	for j := range n {
		angle := math.Pi * (float64(j) + 0.5) / float64(n)
		s.nodes[j] = r.Q * math.Sqrt((1+math.Cos(angle))/2)
		for i := range n {
			c[i*n+j] = 2 / float64(n) * math.Cos(float64(i)*angle)
		}
		c[j] /= 2
	}
	s.coef = ad.Const(c, n, n)
	return s
}

// q returns the nodes as a Node.
func (s *series) q() *ad.Node { return ad.Const(s.nodes) }

// at returns functions, given by their values at the nodes, at the places q2 = q^2.
func (s *series) at(q2 *ad.Node, values ...*ad.Node) []*ad.Node {
	t := ad.Shift(ad.Scale(2/s.limit, s.guarded(q2)), -1)
	twice := ad.Scale(2, t)
	coef := ad.MatMul(s.coef, ad.Stack(1, values...))
	out := make([]*ad.Node, len(values))
	for f := range out {
		c := ad.Index(coef, 1, f)
		// Clenshaw's recurrence.
		var b1, b2 *ad.Node
		for i := len(s.nodes) - 1; i > 0; i-- {
			b := ad.Index(c, 0, i)
			if b1 != nil {
				b = ad.Add(b, ad.Mul(twice, b1))
			}
			if b2 != nil {
				b = ad.Sub(b, b2)
			}
			b1, b2 = b, b1
		}
		out[f] = ad.Sub(ad.Add(ad.Index(c, 0, 0), ad.Mul(t, b1)), b2)
	}
	return out
}

// guarded returns q2, and fails a run in which it leaves the table.
func (s *series) guarded(q2 *ad.Node) *ad.Node {
	limit := s.limit
	return ad.Call(&ad.Custom{Name: "q within the table",
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return in[0], nil },
		Forward: func(out []float64, in ...[]float64) error {
			for i, x := range in[0] {
				if !(x <= limit*(1+1e-9)) {
					return &ReachError{math.Sqrt(x), math.Sqrt(limit)}
				}
				out[i] = x
			}
			return nil
		},
		VJP: func(g, _ *ad.Node, _ []*ad.Node) []*ad.Node { return []*ad.Node{g} }}, q2)
}
