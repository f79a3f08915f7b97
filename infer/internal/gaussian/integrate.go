// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gaussian

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// Density is a log density as a graph.
type Density struct {
	LogProb *ad.Node   // a scalar
	Inputs  []*ad.Node // parameters
	// Given are the other inputs of the graph, with their values.
	Given       []*ad.Node
	GivenValues [][]float64
}

// Block is a parameter that is integrated out.
type Block struct {
	Input int // number among the inputs
	// Mean depends on the parameters that stay and on blocks that are integrated out later, and the precision on those that stay.
	Mean     *ad.Node // of the shape of the parameter
	Diagonal *ad.Node // of the precision, in a row
	Beside   *ad.Node // what stands beside the diagonal, nil where the precision is diagonal
}

// streamOfTrials is the random stream of the places that are looked at.
const streamOfTrials uint32 = 221

const (
	mostDearer      = 8.0
	quadraticPlaces = 3    // near 0 at which densities are compared
	quadraticTries  = 50   // places that are looked at until the density is finite at enough of them
	quadraticError  = 1e-9 // relative
)

// logDet returns the logarithm of the determinant of the precision.
func (b *Block) logDet() *ad.Node {
	if b.Beside != nil {
		return logDetBand(b.Diagonal, b.Beside)
	}
	return ad.Sum(ad.Log(b.Diagonal))
}

// solve returns the product of the inverse precision and a vector.
func (b *Block) solve(v *ad.Node) *ad.Node {
	if b.Beside != nil {
		return solveBand(b.Diagonal, b.Beside, v)
	}
	return ad.Div(v, b.Diagonal)
}

// integrator finds the blocks of a log density that can be integrated out.
type integrator struct {
	*Density
	lp *ad.Node // with the blocks so far integrated out
	// readers are those of the nodes of lp, nil until they are needed.
	readers map[*ad.Node][]*ad.Node
	blocks  []Block
	random  tensor.Stream
}

// Integrate returns the blocks that are integrated out, and the density of the other parameters; no blocks where nothing is gained.
func (m *Density) Integrate() (blocks []Block, lp *ad.Node) {
	guarded := *m
	guarded.LogProb = withoutGuards(m.LogProb)
	m = &guarded
	n := &integrator{Density: m, lp: m.LogProb, random: tensor.NewStream(0, streamOfTrials, 0)}
	order := numbers(len(m.Inputs))
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
	return graph.Replaced(lp, func(n *ad.Node) *ad.Node {
		if n.Op() == nil || n.Op().Name != "less" {
			return nil
		}
		in := n.In()
		if v := in[1].Numbers(); len(v) == 1 && math.IsInf(v[0], 1) && in[0].Op() != nil && in[0].Op().Name == "abs" {
			return ad.Full(1, n.Shape()...)
		}
		return nil
	})
}

// try integrates parameter i out if the density is quadratic in it and does not become much dearer.
func (n *integrator) try(i int) {
	x := n.Inputs[i]
	if n.readers == nil {
		n.readers = graph.Consumers(n.lp)
	}
	if !polynomial(n.readers, n.lp, x) {
		return
	}
	slope := ad.Grad(n.lp, x)[0]
	b := Block{Input: i, Diagonal: curvature(slope, x, ad.Full(1, x.Shape()...))}
	if b.Diagonal.Err() != nil || graph.Reads(b.Diagonal, x) {
		return
	}
	random := graph.Like(x, n.random.NormalTo(make([]float64, x.Size())))
	product := curvature(slope, x, random)
	if !n.zero(everywhere, ad.Sub(product, ad.Mul(random, b.Diagonal)), product) {
		if !b.neighbours(slope, x) || !n.zero(everywhere, ad.Sub(graph.Row(product), b.product(graph.Row(random))), product) {
			return
		}
	}
	b.Diagonal = graph.Row(b.Diagonal)
	at0 := func(v *ad.Node) *ad.Node {
		return ad.Substitute([]*ad.Node{v}, []*ad.Node{x}, []*ad.Node{ad.Full(0, x.Shape()...)})[0]
	}
	slope = graph.Row(at0(slope))
	b.Mean = b.solve(slope)
	lp := ad.AddN(at0(n.lp), ad.Scale(0.5, ad.Sum(ad.Mul(slope, b.Mean))), ad.Scale(-0.5, b.logDet()), ad.Scalar(float64(x.Size())/2*math.Log(2*math.Pi)))
	b.Mean = ad.Reshape(b.Mean, x.Shape()...)
	// The density at any x is that at the mean less half of the square of the distance.
	away := graph.Row(ad.Sub(x, b.Mean))
	height := ad.AddN(lp, ad.Scale(0.5, b.logDet()), ad.Scale(-0.5, ad.Sum(ad.Mul(away, b.product(away)))), ad.Scalar(-float64(x.Size())/2*math.Log(2*math.Pi)))
	if lp.Err() != nil || !n.zero(nearZero, ad.Sub(height, n.lp), ad.Add(ad.Scalar(1), ad.Sum(ad.Abs(ad.Mul(away, b.product(away))))), b.logDet()) {
		return
	}
	blocks := append(slices.Clip(n.blocks), b)
	rest := n.Left(blocks)
	if density := n.density(blocks); density.Err() != nil || operations(append(ad.Grad(density, rest...), density)...) > mostDearer*operations(append(ad.Grad(n.LogProb, n.Inputs...), n.LogProb)...) {
		return
	}
	n.blocks, n.lp, n.readers = blocks, lp, nil
}

// smooth lists the operations whose results are polynomials of what they are made of, or linear in it.
var smooth = map[string]bool{"add": true, "sub": true, "neg": true, "mul": true, "div": true, "square": true, "sum": true, "gather": true, "scatter_add": true, "reshape": true,
	"broadcast": true, "slice": true, "concat": true, "stack": true, "permute": true, "matmul": true, "where": true, "cumsum": true, "place": true, "band_solve": true, "custom": false}

// polynomial reports whether a node, of whose graph the readers are, depends on another by such operations alone, so that second derivatives that do not depend on it say all.
func polynomial(readers map[*ad.Node][]*ad.Node, out, x *ad.Node) bool {
	on := graph.Closure(readers, x)
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
func (b *Block) neighbours(slope, x *ad.Node) bool {
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
	b.Diagonal, b.Beside = ad.Gather(table, ad.Ints(diagonal), 0), ad.Gather(table, ad.Ints(beside), 0)
	return b.Diagonal.Err() == nil && !graph.Reads(b.Diagonal, x) && !graph.Reads(b.Beside, x)
}

// product returns the product of the precision and a vector.
func (b *Block) product(v *ad.Node) *ad.Node {
	out := ad.Mul(graph.Row(b.Diagonal), v)
	if b.Beside == nil {
		return out
	}
	n, none := v.Size(), ad.Full(0, 1)
	return ad.AddN(out, ad.Concat(0, ad.Mul(b.Beside, ad.Slice(v, 0, 1, n)), none), ad.Concat(0, none, ad.Mul(b.Beside, ad.Slice(v, 0, 0, n-1))))
}

// Places at which numbers are compared. Far from 0 densities lose too many digits to be.
const (
	nearZero   = false
	everywhere = true
)

// zero reports whether the elements of a node are 0, beside the sizes of others, at random places where the density is finite: at some near 0, and if asked for at others
// where one parameter is far from it.
func (n *integrator) zero(far bool, what *ad.Node, sizes ...*ad.Node) bool {
	outputs := []*ad.Node{n.lp, ad.Sum(ad.Abs(what))}
	for _, s := range sizes {
		outputs = append(outputs, ad.Sum(ad.Abs(s)))
	}
	prog, err := ad.Compile(outputs, ad.Settings{Inputs: slices.Concat(n.Inputs, n.Given), Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return false
	}
	s := graph.State(prog, len(n.Inputs), n.GivenValues)
	holds := func(place int) (finite, zero bool) {
		graph.Place(s, len(n.Inputs), place, &n.random)
		if s.Run() != nil || !linalg.Finite(s.Output(0)[0]) {
			return false, true
		}
		size := math.Abs(s.Output(0)[0])
		for k := range sizes {
			size += s.Output(2 + k)[0]
		}
		return true, s.Output(1)[0] <= quadraticError*size
	}
	found := 0
	for try := 0; found < quadraticPlaces; try++ {
		finite, zero := holds(-1)
		if !zero || try == quadraticTries {
			return false
		}
		if finite {
			found++
		}
	}
	for k := range graph.FarPlaces(len(n.Inputs)) {
		if !far {
			break
		}
		if _, zero := holds(k); !zero {
			return false
		}
	}
	return true
}

// Left returns the parameters that are not integrated out.
func (m *Density) Left(blocks []Block) (rest []*ad.Node) {
	for i, u := range m.Inputs {
		if !slices.ContainsFunc(blocks, func(b Block) bool { return b.Input == i }) {
			rest = append(rest, u)
		}
	}
	return rest
}

// density returns the density of the parameters that are left: at the means of the others, through which no gradient goes.
func (m *Density) density(blocks []Block) *ad.Node {
	parts := []*ad.Node{m.LogProb}
	for i := range blocks {
		b := &blocks[i]
		parts = append(parts, ad.Scale(-0.5, b.logDet()), ad.Scalar(float64(m.Inputs[b.Input].Size())/2*math.Log(2*math.Pi)))
	}
	lp := ad.AddN(parts...)
	for i := range blocks {
		lp = ad.Substitute([]*ad.Node{lp}, []*ad.Node{m.Inputs[blocks[i].Input]}, []*ad.Node{ad.StopGradient(blocks[i].Mean)})[0]
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

// numbers returns 0 to n-1.
func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
