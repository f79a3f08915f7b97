// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// Parameters that are normal given the others and the data, such as the effects of groups and the states of a random walk that are observed with normal errors,
// are integrated out of the log density and drawn afterwards. They are known by the density itself: it is a quadratic function of x,
//
//	l(x) = l(m) - (x - m)^T P (x - m)/2,
//
// where m and P depend on the other parameters. Then the density of the others is
//
//	l(m) - log det(P)/2 + n log(2 pi)/2,
//
// whose gradient needs none of m, at which the derivative of l is 0, and x given them is normal with mean m and precision P. P is diagonal, or has neighbours
// beside the diagonal. What is quadratic once x is gone, such as the slopes of the groups beside their means, goes next. Single numbers stay: to integrate out the
// mean of eight schools too makes gradients twice as dear and draws no better.

// gaussianBlock is a parameter that is integrated out.
type gaussianBlock struct {
	input int
	// mean depends on the parameters that stay and on blocks that are integrated out later, and the precision on those that stay.
	mean, diagonal *ad.Node
	beside         *ad.Node // nil where the precision is diagonal
}

const (
	mostDearer     = 8.0
	quadraticTries = 50   // places that are looked at until the density is finite at enough of them
	quadraticError = 1e-9 // relative
)

// logDet returns the logarithm of the determinant of the precision.
func (b *gaussianBlock) logDet() *ad.Node {
	if b.beside != nil {
		return logDetBand(b.diagonal, b.beside)
	}
	return ad.Sum(ad.Log(b.diagonal))
}

// solve returns the product of the inverse precision and a vector.
func (b *gaussianBlock) solve(v *ad.Node) *ad.Node {
	if b.beside != nil {
		return solveBand(b.diagonal, b.beside, v)
	}
	return ad.Div(v, b.diagonal)
}

// integrator finds the blocks of a log density that can be integrated out.
type integrator struct {
	*Movement
	lp     *ad.Node // with the blocks so far integrated out
	blocks []gaussianBlock
	random tensor.Stream
}

// integrated returns the blocks that are integrated out, and the density of the other parameters; no blocks where nothing is gained.
func (m *Movement) integrated() (blocks []gaussianBlock, lp *ad.Node) {
	guarded := *m
	guarded.LogProb = withoutGuards(m.LogProb)
	m = &guarded
	n := &integrator{Movement: m, lp: m.LogProb, random: tensor.NewStream(0, purposeMarginal, 0)}
	order := others(nil, len(m.Inputs))
	slices.SortStableFunc(order, func(a, b int) int { return m.Inputs[b].Size() - m.Inputs[a].Size() })
	for _, i := range order {
		if len(n.blocks) == len(m.Inputs)-1 || m.Inputs[i].Size() < 2 {
			break
		}
		n.try(i)
	}
	if len(n.blocks) == 0 {
		return nil, m.LogProb
	}
	return n.blocks, n.density(n.blocks)
}

// withoutGuards takes out the questions whether numbers are finite, which stand in the way of seeing that a density is quadratic.
func withoutGuards(lp *ad.Node) *ad.Node {
	var guards, ones []*ad.Node
	seen := map[*ad.Node]bool{}
	var visit func(n *ad.Node)
	visit = func(n *ad.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if n.Op() != nil && n.Op().Name == "less" {
			in := n.In()
			if v := in[1].Numbers(); len(v) == 1 && math.IsInf(v[0], 1) && in[0].Op() != nil && in[0].Op().Name == "abs" {
				guards, ones = append(guards, n), append(ones, ad.Full(1, n.Shape()...))
				return
			}
		}
		for _, x := range n.In() {
			visit(x)
		}
	}
	visit(lp)
	if len(guards) == 0 {
		return lp
	}
	return ad.Substitute([]*ad.Node{lp}, guards, ones)[0]
}

// try integrates parameter i out if the density is quadratic in it and does not become much dearer.
func (n *integrator) try(i int) {
	x := n.Inputs[i]
	if !polynomial(n.lp, x) {
		return
	}
	slope := ad.Grad(n.lp, x)[0]
	b := gaussianBlock{input: i, diagonal: curvature(slope, x, ad.Full(1, x.Shape()...))}
	if b.diagonal.Err() != nil || reads(b.diagonal, x) {
		return
	}
	random := constLike(x, n.random.NormalTo(make([]float64, x.Size())))
	product := curvature(slope, x, random)
	if !n.zero(x, ad.Sub(product, ad.Mul(random, b.diagonal)), product) {
		if !b.neighbours(slope, x) || !n.zero(x, ad.Sub(inRow(product), b.product(inRow(random))), product) {
			return
		}
	}
	b.diagonal = inRow(b.diagonal)
	at0 := func(v *ad.Node) *ad.Node {
		return ad.Substitute([]*ad.Node{v}, []*ad.Node{x}, []*ad.Node{ad.Full(0, x.Shape()...)})[0]
	}
	slope = inRow(at0(slope))
	b.mean = b.solve(slope)
	lp := ad.AddN(at0(n.lp), ad.Scale(0.5, ad.Sum(ad.Mul(slope, b.mean))), ad.Scale(-0.5, b.logDet()), ad.Scalar(float64(x.Size())/2*math.Log(2*math.Pi)))
	b.mean = ad.Reshape(b.mean, x.Shape()...)
	// The density at any x is that at the mean less half of the square of the distance.
	away := inRow(ad.Sub(x, b.mean))
	height := ad.AddN(lp, ad.Scale(0.5, b.logDet()), ad.Scale(-0.5, ad.Sum(ad.Mul(away, b.product(away)))), ad.Scalar(-float64(x.Size())/2*math.Log(2*math.Pi)))
	if lp.Err() != nil || !n.zero(x, ad.Sub(height, n.lp), ad.Add(ad.Scalar(1), ad.Sum(ad.Abs(ad.Mul(away, b.product(away))))), b.logDet()) {
		return
	}
	blocks := append(slices.Clip(n.blocks), b)
	rest := n.left(blocks)
	if density := n.density(blocks); density.Err() != nil || operations(append(ad.Grad(density, rest...), density)...) > mostDearer*operations(append(ad.Grad(n.LogProb, n.Inputs...), n.LogProb)...) {
		return
	}
	n.blocks, n.lp = blocks, lp
}

// smooth lists the operations whose results are polynomials of what they are made of, or linear in it.
var smooth = map[string]bool{"add": true, "sub": true, "neg": true, "mul": true, "div": true, "square": true, "sum": true, "gather": true, "scatter_add": true, "reshape": true,
	"broadcast": true, "slice": true, "concat": true, "stack": true, "permute": true, "matmul": true, "where": true, "cumsum": true, "place": true, "band_solve": true, "custom": false}

// polynomial reports whether a node depends on another by such operations alone, so that second derivatives that do not depend on it say all.
func polynomial(out, x *ad.Node) bool {
	on := closure(consumersOf(out), x)
	for n := range on {
		if n == x {
			continue
		}
		if op := n.Op().Name; !smooth[op] || op == "where" && on[n.In()[0]] || op == "div" && on[n.In()[1]] {
			return false
		}
	}
	return on[out]
}

// curvature returns minus the product of the second derivatives and a vector.
func curvature(slope, x, v *ad.Node) *ad.Node { return ad.Neg(ad.VJP(slope, v, x)[0]) }

// neighbours takes the precision from its products with vectors that are 1 at every third element.
func (b *gaussianBlock) neighbours(slope, x *ad.Node) bool {
	n := x.Size()
	if len(x.Shape()) != 1 || n < 3 {
		return false
	}
	var products []*ad.Node
	for k := range 3 {
		every := make([]float64, n)
		for i := k; i < n; i += 3 {
			every[i] = 1
		}
		products = append(products, curvature(slope, x, ad.Const(every)))
	}
	table := ad.Concat(0, products...)
	of := func(column, row int) int { return column%3*n + row }
	diagonal, beside := make([]int, n), make([]int, n-1)
	for i := range n {
		if diagonal[i] = of(i, i); i > 0 {
			beside[i-1] = of(i, i-1)
		}
	}
	b.diagonal, b.beside = ad.Gather(table, ad.Ints(diagonal), 0), ad.Gather(table, ad.Ints(beside), 0)
	return b.diagonal.Err() == nil && !reads(b.diagonal, x) && !reads(b.beside, x)
}

// product returns the product of the precision and a vector.
func (b *gaussianBlock) product(v *ad.Node) *ad.Node {
	out := ad.Mul(inRow(b.diagonal), v)
	if b.beside == nil {
		return out
	}
	n, none := v.Size(), ad.Full(0, 1)
	return ad.AddN(out, ad.Concat(0, ad.Mul(b.beside, ad.Slice(v, 0, 1, n)), none), ad.Concat(0, none, ad.Mul(b.beside, ad.Slice(v, 0, 0, n-1))))
}

// zero reports whether the elements of a node are 0 at random places, beside the sizes of others, where the density is finite.
func (n *integrator) zero(x, what *ad.Node, sizes ...*ad.Node) bool {
	outputs := []*ad.Node{n.lp, ad.Sum(ad.Abs(what))}
	for _, s := range sizes {
		outputs = append(outputs, ad.Sum(ad.Abs(s)))
	}
	prog, err := ad.Compile(outputs, ad.Settings{Inputs: slices.Concat(n.Inputs, n.Given), Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return false
	}
	s := stateWith(prog, len(n.Inputs), n.GivenValues)
	found := 0
	for range quadraticTries {
		q := s.InputSpan(0, len(n.Inputs))
		for i := range q {
			q[i] = 2*n.random.Float64() - 1
		}
		if s.Run() != nil || !linalg.Finite(s.Output(0)[0]) {
			continue
		}
		size := math.Abs(s.Output(0)[0])
		for k := range sizes {
			size += s.Output(2 + k)[0]
		}
		if !(s.Output(1)[0] <= quadraticError*size) {
			return false
		}
		if found++; found == 3 {
			return true
		}
	}
	return false
}

// left returns the parameters that are not integrated out.
func (m *Movement) left(blocks []gaussianBlock) (rest []*ad.Node) {
	for i, u := range m.Inputs {
		if !slices.ContainsFunc(blocks, func(b gaussianBlock) bool { return b.input == i }) {
			rest = append(rest, u)
		}
	}
	return rest
}

// density returns the density of the parameters that are left: at the means of the others, through which no gradient goes.
func (m *Movement) density(blocks []gaussianBlock) *ad.Node {
	parts := []*ad.Node{m.LogProb}
	for i := range blocks {
		b := &blocks[i]
		parts = append(parts, ad.Scale(-0.5, b.logDet()), ad.Scalar(float64(m.Inputs[b.input].Size())/2*math.Log(2*math.Pi)))
	}
	lp := ad.AddN(parts...)
	for i := range blocks {
		lp = ad.Substitute([]*ad.Node{lp}, []*ad.Node{m.Inputs[blocks[i].input]}, []*ad.Node{ad.StopGradient(blocks[i].mean)})[0]
	}
	return lp
}

// operations counts the elements that a graph computes.
func operations(outputs ...*ad.Node) float64 {
	seen := map[*ad.Node]bool{}
	count := 0.0
	var visit func(n *ad.Node)
	visit = func(n *ad.Node) {
		if seen[n] {
			return
		}
		if seen[n] = true; n.Op() != nil {
			count += float64(n.Size())
		}
		for _, x := range n.In() {
			visit(x)
		}
	}
	for _, n := range outputs {
		visit(n)
	}
	return count
}
