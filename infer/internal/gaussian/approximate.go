// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gaussian

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/tensor"
)

// Approximation is the density of parameters h of which others, x, are integrated out by Laplace's approximation:
//
//	log p(h) = l(m, h) - log det(P)/2 + n log(2 pi)/2
//
// where m is the mode of l given h, and P minus its second derivatives there. Its gradient is
//
//	d log p/dh = d/dh [l - log det(P)/2 + slope . v],  v = -P^-1 d/dx [log det(P)]/2
//
// with the slope of l along x, which is 0 at m: the last term is the way of the mode.
//
// Reference: Margossian, Vehtari, Simpson and Agrawal, arXiv:2004.12550.
type Approximation struct {
	Inputs    []int // numbers of x among the inputs
	Precision Precision
	// LogProb, Gradient, Slope and Step are at any x: the log density above, its gradient along each h, the slope of l, and the step of Newton's method, P^-1 slope.
	LogProb     *ad.Node
	Gradient    []*ad.Node
	Slope, Step *ad.Node
	// Damping is an input, a number above 0 where the precision is not positive definite, as far from the mode. Step and Damped, the precision, depend on it.
	Damping *ad.Node
	Damped  Precision
}

// LogDet returns the logarithm of the determinant of the damped precision, NaN where that is not positive definite.
func (a *Approximation) LogDet() *ad.Node { return a.Damped.logDet() }

// Approximate returns the approximation for all arrays that are normal but for the data that are seen, nil where there are none. Precisions are those of nodes that are linear in
// x, of each element of which the log density has a term of its own, and are compared with second derivatives.
func (m *Density) Approximate() *Approximation {
	n := &integrator{Density: m, lp: withoutGuards(m.LogProb), random: tensor.NewStream(0, streamOfTrials, 1)}
	order := numbers(len(m.Inputs))
	slices.SortStableFunc(order, func(a, b int) int { return m.Inputs[b].Size() - m.Inputs[a].Size() })
	readers := graph.Consumers(n.lp)
	var which []int
	var best Precision
	for _, i := range order {
		if m.Inputs[i].Size() < 2 || len(which) == len(m.Inputs)-1 {
			break
		}
		with := append(slices.Clip(which), i)
		x := m.of(with)
		if c, ok := curvaturesAt(n.lp, newSight(readers, x)); ok {
			// Far from 0, where a rate may be 0, derivatives may be none; what is missed there is corrected.
			if p := c.best(); p != nil && n.right(x, p, nearZero) {
				which, best = with, p
			}
		}
	}
	if best == nil {
		return nil
	}
	return n.approximation(which, best)
}

func (n *integrator) approximation(which []int, p Precision) *Approximation {
	x, size := n.of(which), 0
	for _, u := range x {
		size += u.Size()
	}
	h := n.Left([]Block{{Inputs: which}})
	a := &Approximation{Inputs: which, Precision: p, Slope: rows(ad.Grad(n.lp, x...)), Damping: ad.Input("damping")}
	a.Damped = p.damped(a.Damping)
	a.Step = a.Damped.solve(a.Slope)
	half := ad.Scale(0.5, p.logDet())
	a.LogProb = ad.AddN(n.lp, ad.Neg(half), ad.Scalar(float64(size)/2*math.Log(2*math.Pi)))
	v := ad.StopGradient(p.solve(ad.Neg(rows(ad.Grad(half, x...)))))
	a.Gradient = ad.Grad(ad.Add(a.LogProb, ad.Sum(ad.Mul(a.Slope, v))), h...)
	return a
}

// of returns inputs by their numbers.
func (m *Density) of(which []int) (x []*ad.Node) {
	for _, i := range which {
		x = append(x, m.Inputs[i])
	}
	return x
}

// curvaturesAt returns the second derivatives of a log density where x is: those of products whose weights do not depend on x, as for curvaturesOf, and those along nodes that are
// linear in x and on which other operations depend, element by element. Whether there are others is not looked at.
func curvaturesAt(lp *ad.Node, s *sight) (*curvatures, bool) {
	c := &curvatures{sight: s}
	var pairs, others []*ad.Node
	for _, n := range upward(lp) {
		switch {
		case !s.on[n] || n.Op() == nil:
		case s.pairs(n) && !slices.ContainsFunc(n.In(), func(e *ad.Node) bool { return s.derivatives(e) == nil }):
			pairs = append(pairs, n)
		case s.bends(n):
			others = append(others, n)
		}
	}
	var gone, zeros []*ad.Node
	for i, w := range ad.Grad(lp, pairs...) {
		if slices.ContainsFunc(s.x, func(x *ad.Node) bool { return graph.Reads(w, x) }) {
			others = append(others, pairs[i])
			continue
		}
		if w.Err() != nil || !c.add(pairs[i], w) {
			return nil, false
		}
		gone, zeros = append(gone, pairs[i]), append(zeros, ad.Full(0, pairs[i].Shape()...))
	}
	rest := ad.Substitute([]*ad.Node{lp}, gone, zeros)[0]
	var front, at []*ad.Node // nodes that are linear in x, each by itself
	for _, n := range others {
		for _, e := range n.In() {
			if s.on[e] && !slices.Contains(front, e) && s.derivatives(e) != nil {
				front, at = append(front, e), append(at, ad.Input("linear", e.Shape()...))
			}
		}
	}
	slopes := ad.Grad(ad.Substitute([]*ad.Node{rest}, front, at)[0], at...)
	for k, e := range front {
		w := ad.Substitute([]*ad.Node{ad.VJP(slopes[k], ad.Full(0.5, e.Shape()...), at[k])[0]}, at, front)[0]
		if d := s.derivatives(e); w.Err() != nil || !c.pair(d, d, s.coefficients(w)) {
			return nil, false
		}
	}
	return c, len(pairs)+len(others) > 0
}

// bends reports whether an operation is not linear in those of its inputs that depend on x.
func (s *sight) bends(n *ad.Node) bool {
	op := n.Op().Name
	return !smooth[op] || s.pairs(n) || op == "div" && s.on[n.In()[1]] || op == "where" && s.on[n.In()[0]] || op == "solve_triangular" && s.on[n.In()[0]]
}
