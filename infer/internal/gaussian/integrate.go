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
	// Changing says that the values will change, so that they stay inputs of what is integrated.
	Changing bool

	sampled []int // parameters that must not be integrated out
}

// Block are parameters that are integrated out together.
type Block struct {
	Inputs []int // numbers among the inputs
	// Mean has the elements of the parameters in a row. It depends on the parameters that stay and on blocks that are integrated out later, and the precision on those that stay.
	Mean      *ad.Node
	Precision Precision
}

// Size returns the number of elements.
func (b *Block) Size() int { return b.Mean.Size() }

// streamOfTrials is the random stream of the places that are looked at.
const streamOfTrials uint32 = 221

const (
	// mostDearer is how many times as dear gradients may become, counted in elements of arrays, and mostTogether that where elements interact that are no neighbours. Chains then move
	// well enough without.
	mostDearer   = 8.0
	mostTogether = 10.0
	// mostUntold is the same for coefficients of regressions with an unknown scale that data do not tell. Chains then move 10 to 200 times as well without.
	mostUntold = 100.0
	// fewestTogether is the number of elements from which on these are integrated out. Coefficients of small regressions are no obstacle.
	fewestTogether  = 8
	quadraticPlaces = 3    // near 0 at which densities are compared
	quadraticTries  = 50   // places that are looked at until the density is finite at enough of them
	quadraticError  = 1e-9 // relative
)

// integrator finds the blocks of a log density that can be integrated out.
type integrator struct {
	*Density
	lp *ad.Node // with the blocks so far integrated out
	// readers are those of the nodes of lp, nil until they are needed.
	readers map[*ad.Node][]*ad.Node
	blocks  []Block
	bands   bool // whether chains are looked for
	random  tensor.Stream
}

// Integrate returns the blocks that are integrated out, and the density of the other parameters; no blocks where nothing is gained.
func (m *Density) Integrate() (blocks []Block, lp *ad.Node) {
	guarded := *m
	guarded.LogProb = withoutGuards(m.known())
	best := guarded.integrateCrossed()
	if len(best.blocks) == 0 {
		return nil, m.LogProb
	}
	return best.blocks, best.density(best.blocks)
}

// integrateBest looks for blocks, with chains or without.
func (m *Density) integrateBest() *integrator {
	best := m.integrate(true)
	if best.chain() && best.open() { // what was integrated out as a chain may have been in the way of more
		if n := m.integrate(false); n.size() > best.size() {
			return n
		}
	}
	return best
}

// begin returns an integrator without blocks.
func (m *Density) begin(bands bool) *integrator {
	return &integrator{Density: m, lp: m.LogProb, bands: bands, random: tensor.NewStream(0, streamOfTrials, 0)}
}

// order lists the parameters that may be integrated out, larger ones first.
func (m *Density) order() []int {
	order := slices.DeleteFunc(numbers(len(m.Inputs)), func(i int) bool { return slices.Contains(m.sampled, i) })
	slices.SortStableFunc(order, func(a, b int) int { return m.Inputs[b].Size() - m.Inputs[a].Size() })
	return order
}

// integrate looks for blocks: first for parameters with a diagonal precision, or that of a chain if bands are wanted, one by one and larger ones first, then for any precision.
func (m *Density) integrate(bands bool) *integrator {
	n := m.begin(bands)
	order := n.order()
	for _, i := range order {
		if len(n.blocks) == len(m.Inputs)-1 || m.Inputs[i].Size() < 2 {
			break
		}
		n.try(i)
	}
	n.tryTogether(order)
	return n
}

// chain reports whether a chain is integrated out.
func (n *integrator) chain() bool {
	return slices.ContainsFunc(n.blocks, func(b Block) bool { _, is := b.Precision.(band); return is })
}

// open reports whether a parameter is left in which the density was quadratic.
func (n *integrator) open() bool {
	readers := graph.Consumers(n.LogProb)
	return slices.ContainsFunc(n.Left(n.blocks), func(x *ad.Node) bool { return x.Size() > 1 && polynomial(readers, n.LogProb, x) })
}

// size is the number of elements that are integrated out.
func (n *integrator) size() (size int) {
	for i := range n.blocks {
		size += n.blocks[i].Size()
	}
	return size
}

// known returns the log density with what is given as constants, of which products need not be computed at every gradient.
func (m *Density) known() *ad.Node {
	values := make([]*ad.Node, len(m.Given))
	for i, g := range m.Given {
		if values[i] = g; !g.IsInt() && !m.Changing {
			values[i] = graph.Like(g, m.GivenValues[i])
		}
	}
	return ad.Substitute([]*ad.Node{m.LogProb}, m.Given, values)[0]
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
	own := curvature(slope, x, ad.Full(1, x.Shape()...))
	if own.Err() != nil || graph.Reads(own, x) {
		return
	}
	random := graph.Like(x, n.random.NormalTo(make([]float64, x.Size())))
	seen := graph.Row(curvature(slope, x, random))
	p := Precision(diagonal{graph.Row(own)})
	holds := func() bool { return n.zero(everywhere, ad.Sub(seen, p.product(graph.Row(random))), seen) }
	if !holds() {
		if p = n.neighbours(slope, x); p == nil || !holds() {
			return
		}
	}
	n.take([]int{i}, slope, p, mostDearer)
}

// tryTogether integrates parameters out that are left, are quadratic together and have any precision: all at once, or one of them.
func (n *integrator) tryTogether(order []int) bool {
	var all []int
	for _, i := range order {
		if n.readers == nil {
			n.readers = graph.Consumers(n.lp)
		}
		if !n.integrated(i) && n.Inputs[i].Size() >= 2 && polynomial(n.readers, n.lp, n.Inputs[i]) {
			all = append(all, i)
		}
	}
	if len(all) > 1 && n.together(all) {
		return true
	}
	return slices.ContainsFunc(all, func(i int) bool { return n.together([]int{i}) })
}

// together integrates parameters out whose precision is seen in the graph, unless all are coefficients with given priors.
func (n *integrator) together(which []int) bool {
	var x []*ad.Node
	for _, i := range which {
		x = append(x, n.Inputs[i])
	}
	size := 0
	for _, u := range x {
		size += u.Size()
	}
	if len(n.Left(n.blocks)) == len(x) || size < fewestTogether {
		return false
	}
	if !slices.ContainsFunc(which, func(i int) bool { return !n.coefficients(i) }) {
		return false
	}
	c, ok := curvaturesOf(n.lp, newSight(graph.Consumers(n.lp), x))
	if !ok {
		return false
	}
	p := c.best()
	if p == nil {
		return false
	}
	dearest := mostTogether
	if slices.ContainsFunc(which, func(i int) bool { return n.untold(i) }) {
		dearest = mostUntold
	}
	return n.right(x, p, everywhere) && n.take(which, rows(ad.Grad(n.lp, x...)), p, dearest)
}

// right compares a precision with products of the second derivatives and a random vector.
func (n *integrator) right(x []*ad.Node, p Precision, far bool) bool {
	var seen, random []*ad.Node
	for _, u := range x {
		random = append(random, graph.Like(u, n.random.NormalTo(make([]float64, u.Size()))))
	}
	for _, v := range ad.HVP(n.lp, x, random) {
		seen = append(seen, graph.Row(ad.Neg(v)))
	}
	product := ad.Concat(0, seen...)
	return n.zero(far, ad.Sub(product, p.product(rows(random))), product)
}

// best returns the precision in the form that takes fewer operations, nil where both take too many.
func (c *curvatures) best() Precision {
	p := newSparse(c)
	switch n := float64(c.size); {
	case c.size <= mostDense && (p == nil || n*n*n/quick < p.cost()):
		return newDense(c)
	case p == nil:
		return nil
	}
	return p
}

// rows joins the elements of nodes in a row.
func rows(list []*ad.Node) *ad.Node {
	out := make([]*ad.Node, len(list))
	for i, n := range list {
		out[i] = graph.Row(n)
	}
	return ad.Concat(0, out...)
}

// take integrates parameters out whose slopes and precision are known, if the density at any place is what they say and gradients do not become much dearer.
func (n *integrator) take(which []int, slope *ad.Node, p Precision, dearest float64) bool {
	var x, zeros []*ad.Node
	for _, i := range which {
		x, zeros = append(x, n.Inputs[i]), append(zeros, ad.Full(0, n.Inputs[i].Shape()...))
	}
	at0 := ad.Substitute([]*ad.Node{graph.Row(slope), n.lp}, x, zeros)
	b := Block{which, p.solve(at0[0]), p}
	constant := ad.Scalar(float64(b.Size()) / 2 * math.Log(2*math.Pi))
	lp := ad.AddN(at0[1], ad.Scale(0.5, ad.Sum(ad.Mul(at0[0], b.Mean))), ad.Scale(-0.5, p.logDet()), constant)
	// The density at any x is that at the mean less half of the square of the distance.
	away := ad.Sub(rows(x), b.Mean)
	square := ad.Mul(away, p.product(away))
	height := ad.Sub(ad.AddN(lp, ad.Scale(0.5, p.logDet()), ad.Scale(-0.5, ad.Sum(square))), constant)
	if lp.Err() != nil || !n.zero(nearZero, ad.Sub(height, n.lp), ad.Add(ad.Scalar(1), ad.Sum(ad.Abs(square))), p.logDet()) {
		return false
	}
	blocks := append(slices.Clip(n.blocks), b)
	density := n.density(blocks)
	if density.Err() != nil {
		return false
	}
	cost := operations(append(ad.Grad(density, n.Left(blocks)...), density)...)
	for _, b := range blocks {
		cost += b.Precision.cost()
	}
	before := operations(append(ad.Grad(n.LogProb, n.Inputs...), n.LogProb)...)
	if cost > dearest*before {
		return false
	}
	n.blocks, n.lp, n.readers = blocks, lp, nil
	return true
}

// smooth lists the operations whose results are polynomials of what they are made of, or linear in it.
var smooth = map[string]bool{"add": true, "sub": true, "neg": true, "mul": true, "div": true, "square": true, "sum": true, "gather": true, "scatter_add": true, "reshape": true,
	"broadcast": true, "slice": true, "concat": true, "stack": true, "permute": true, "matmul": true, "where": true, "cumsum": true, "place": true, "band_solve": true, "embed": true, "solve_triangular": true, "custom": false}

// polynomial reports whether a node, of whose graph the readers are, depends on another by such operations alone, so that second derivatives that do not depend on it say all.
func polynomial(readers map[*ad.Node][]*ad.Node, out, x *ad.Node) bool {
	on := graph.Closure(readers, x)
	for n := range on {
		if n == x {
			continue
		}
		if op := n.Op().Name; !smooth[op] || op == "where" && on[n.In()[0]] || op == "div" && on[n.In()[1]] || op == "solve_triangular" && on[n.In()[0]] {
			return false
		}
	}
	return on[out]
}

// curvature returns minus the product of the second derivatives and a vector.
func curvature(slope, x, v *ad.Node) *ad.Node { return ad.Neg(ad.VJP(slope, v, x)[0]) }

// neighbours takes the precision from its products with vectors that are 1 at every third element, nil where it has none of this form.
func (m *integrator) neighbours(slope, x *ad.Node) Precision {
	n := x.Size()
	if !m.bands || len(x.Shape()) != 1 || n < 3 {
		return nil
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
	b := band{ad.Gather(table, ad.Ints(diagonal), 0), ad.Gather(table, ad.Ints(beside), 0)}
	if b.diagonal.Err() != nil || graph.Reads(b.diagonal, x) || graph.Reads(b.beside, x) {
		return nil
	}
	return b
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
		if !slices.ContainsFunc(blocks, func(b Block) bool { return slices.Contains(b.Inputs, i) }) {
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
		parts = append(parts, ad.Scale(-0.5, b.Precision.logDet()), ad.Scalar(float64(b.Size())/2*math.Log(2*math.Pi)))
	}
	lp := ad.AddN(parts...)
	for i := range blocks {
		x, at, first := []*ad.Node(nil), []*ad.Node(nil), 0
		for _, k := range blocks[i].Inputs {
			u := m.Inputs[k]
			x, at = append(x, u), append(at, ad.Reshape(ad.Slice(ad.StopGradient(blocks[i].Mean), 0, first, first+u.Size()), u.Shape()...))
			first += u.Size()
		}
		lp = ad.Substitute([]*ad.Node{lp}, x, at)[0]
	}
	return lp
}

const (
	// quick is how many products of numbers in the multiplication or factorisation of matrices take as long as an element of an array.
	quick = 8
	// atLeast is how many elements take as long as an operation does beside them.
	atLeast = 20
)

// operations counts the elements that a graph computes, and what operations and products of matrices take in units of them.
func operations(outputs ...*ad.Node) float64 {
	count := 0.0
	seen := map[*ad.Node]bool{}
	for _, out := range outputs {
		for _, n := range upwardUnless(seen, out) {
			if n.Op() == nil {
				continue
			}
			count += atLeast + float64(n.Size())
			switch n.Op().Name {
			case "gather", "scatter_add":
				count += (gathering - 1) * float64(max(n.Size(), n.In()[0].Size()))
			case "matmul", "solve_triangular", "cholesky", "cholesky_grad":
				shape := n.In()[0].Shape()
				count += float64(n.Size()*shape[len(shape)-1]) / quick
			}
		}
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
