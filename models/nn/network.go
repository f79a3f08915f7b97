// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// Build declares a network: the graph of a batch of examples, from Nodes of the inputs in their order. It is called for training, and for
// evaluation with each size of a batch, and must declare the same parameters each time.
type Build func(m *Model, in []*ad.Node) Outputs

// Outputs holds the Nodes that a network computes.
type Outputs struct {
	Loss    *ad.Node            // number that training lowers, a mean over the batch
	Values  map[string]*ad.Node // further numbers, means over the batch, such as an accuracy
	Results map[string]*ad.Node // arrays of the batch, whose first axis is the examples, for Predict
}

// Input describes what a network takes of each example.
type Input struct {
	Name  string
	Shape []int // shape of one example; nil for a number
	// Ints says that the input holds indices, such as a label.
	Ints bool
	// Later makes the batch the second axis of the Node, after the steps of a sequence; in data the
	// examples always come first.
	Later bool
}

// Settings say how a network is made. The zero value is the default.
type Settings struct {
	Batch     int // number of examples in a step of training. Default 32
	Precision int // precision of real numbers in bits, 32 or 64. Default 32
	Seed      uint64
	Backend   ad.Backend // backend that runs the programs. Default: the CPU
}

// Network is a network with its parameters. It belongs to one goroutine.
type Network struct {
	build    Build
	inputs   []Input
	settings Settings
	params   layout
	states   layout
	values   []float64 // all parameters, one after another
	running  []float64 // all statistics

	evaluations map[int]*evaluation // programs by the size of the batch
}

// layout says where variables are in a vector.
type layout struct {
	list  []variable
	at    []int
	total int
}

func layoutOf(list []variable) layout {
	l := layout{list: list}
	for _, v := range list {
		l.at = append(l.at, l.total)
		l.total += v.node.Size()
	}
	return l
}

// parts returns the variables as slices of a vector.
func (l *layout) parts(vector *ad.Node) []*ad.Node {
	out := make([]*ad.Node, len(l.list))
	for i, v := range l.list {
		out[i] = ad.Reshape(ad.Slice(vector, 0, l.at[i], l.at[i]+v.node.Size()), v.node.Shape()...)
	}
	return out
}

// nodes returns the inputs of the variables.
func (l *layout) nodes() (out []*ad.Node) {
	for _, v := range l.list {
		out = append(out, v.node)
	}
	return out
}

// joined returns values of the variables as one vector.
func joined(list []*ad.Node) *ad.Node {
	flat := make([]*ad.Node, len(list))
	for i, n := range list {
		if n.Err() != nil {
			return n
		}
		flat[i] = ad.Reshape(n, n.Size())
	}
	if len(flat) == 0 {
		return ad.Const([]float64{}, 0)
	}
	return ad.Concat(0, flat...)
}

// purposes of random streams.
const (
	purposeInit = iota
	purposeOrder
	purposeNoise
)

// New makes a network and its initial parameters.
func New(build Build, inputs []Input, s Settings) (*Network, error) {
	if s.Batch == 0 {
		s.Batch = 32
	}
	if s.Precision == 0 {
		s.Precision = 32
	}
	if build == nil || len(inputs) == 0 || s.Batch < 1 {
		return nil, fmt.Errorf("nn: the network has %d inputs and batches of %d, or no function: give a function, at least one input and one example", len(inputs), s.Batch)
	}
	n := &Network{build: build, inputs: inputs, settings: s, evaluations: map[int]*evaluation{}}
	g, err := n.graph(true, s.Batch)
	if err != nil {
		return nil, err
	}
	n.params, n.states = layoutOf(g.model.params), layoutOf(g.model.states)
	if n.params.total == 0 {
		return nil, errors.New("nn: the network declares no parameters, so there is nothing to train: use layers of the Model")
	}
	n.values, n.running = make([]float64, n.params.total), make([]float64, n.states.total)
	n.Reset()
	return n, nil
}

// Reset sets parameters and statistics to their initial values.
func (n *Network) Reset() {
	id := uint32(0)
	fill := func(l *layout, to []float64) {
		for i, v := range l.list {
			v.init(tensor.NewStream(n.settings.Seed, purposeInit, id), v.node.Shape(), to[l.at[i]:l.at[i]+v.node.Size()])
			id++
		}
	}
	fill(&n.params, n.values)
	fill(&n.states, n.running)
}

// graph is a network of batches of some size.
type graph struct {
	model *Model
	in    []*ad.Node
	Outputs
}

func (n *Network) graph(training bool, batch int) (*graph, error) {
	g := &graph{model: &Model{training: training}}
	for _, x := range n.inputs {
		shape := append([]int{batch}, x.Shape...)
		if x.Later {
			if len(x.Shape) == 0 {
				return nil, fmt.Errorf("nn: input %s is a single number and has no axis for the batch to come after: leave Later out", x.Name)
			}
			shape = slices.Insert(slices.Clone(x.Shape), 1, batch)
		}
		node := ad.Input(x.Name, shape...)
		if x.Ints {
			node = ad.IntInput(x.Name, shape...)
		}
		g.in = append(g.in, node)
	}
	g.Outputs = n.build(g.model, slices.Clone(g.in))
	if g.model.err != nil {
		return nil, g.model.err
	}
	all := []*ad.Node{g.Loss}
	for _, name := range slices.Sorted(maps.Keys(g.Values)) {
		all = append(all, g.Values[name])
	}
	if err := firstErr(all...); err != nil {
		return nil, err
	}
	for _, x := range all {
		if x.Size() != 1 {
			return nil, errors.New("nn: the loss and the values of a network must be single numbers: reduce them by a mean over the batch")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.Results)) {
		r := g.Results[name]
		if r != nil && r.Err() == nil && (len(r.Shape()) == 0 || r.Shape()[0] != batch) {
			return nil, fmt.Errorf("nn: result %s has shape %v, but its first axis must be the %d examples", name, r.Shape(), batch)
		}
		all = append(all, r)
	}
	if err := firstErr(all...); err != nil {
		return nil, err
	}
	if err := n.same(g.model); err != nil {
		return nil, err
	}
	return g, nil
}

// same compares the parameters that a graph declares with those of the network.
func (n *Network) same(m *Model) error {
	if n.params.list == nil {
		return nil
	}
	for _, p := range []struct{ was, is []variable }{{n.params.list, m.params}, {n.states.list, m.states}} {
		if !slices.EqualFunc(p.was, p.is, func(a, b variable) bool { return a.name == b.name && a.node.Shape().Equal(b.node.Shape()) }) {
			return errors.New("nn: the network declares other parameters for training than for evaluation, or for other batch sizes: declare the same ones, in the same order, each time")
		}
	}
	return nil
}

// evaluation is a program that computes a batch without changing anything.
type evaluation struct {
	state  *ad.State
	names  []string // of the values
	arrays []string // of the results
	needed []bool   // whether results depend on an input
}

func (n *Network) evaluation(batch int) (*evaluation, error) {
	if e := n.evaluations[batch]; e != nil {
		return e, nil
	}
	g, err := n.graph(false, batch)
	if err != nil {
		return nil, err
	}
	e := &evaluation{names: slices.Sorted(maps.Keys(g.Values)), arrays: slices.Sorted(maps.Keys(g.Results))}
	outs := []*ad.Node{ad.Reshape(g.Loss)}
	for _, name := range e.names {
		outs = append(outs, ad.Reshape(g.Values[name]))
	}
	seen := map[*ad.Node]bool{}
	for _, name := range e.arrays {
		outs = append(outs, g.Results[name])
		reach(g.Results[name], seen)
	}
	for _, x := range g.in {
		e.needed = append(e.needed, seen[x])
	}
	params, running := ad.Input("parameters", n.params.total), ad.Input("statistics", n.states.total)
	own := layout{g.model.params, n.params.at, n.params.total}
	statistics := layout{g.model.states, n.states.at, n.states.total}
	outs = ad.Substitute(outs, slices.Concat(own.nodes(), statistics.nodes()), slices.Concat(own.parts(params), statistics.parts(running)))
	p, err := ad.Compile(outs, ad.Settings{Inputs: append(slices.Clone(g.in), params, running), Precision: n.settings.Precision, Backend: n.settings.Backend})
	if err != nil {
		return nil, err
	}
	e.state = p.NewState()
	n.evaluations[batch] = e
	return e, nil
}

// reach notes all nodes that a node depends on.
func reach(n *ad.Node, seen map[*ad.Node]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	for _, x := range n.In() {
		reach(x, seen)
	}
}

// trainer is the program of a step of training.
type trainer struct {
	state  *ad.State
	p      *ad.Program
	names  []string // of the values
	noise  []int    // inputs of random numbers
	params int      // input of the parameters; then the rule's memory, the statistics, the scale and the rates
	memory int      // vectors of the rule's memory
}

// The first output of the program tells what a step found: these numbers and then the values. The others are the parameters and what follows them in the inputs, after the step.
const (
	toldLoss     = iota
	toldFine     // whether the gradient is finite, with LossScale
	toldInfinite // whether parameters or statistics are not finite after the step
	toldValues
)

// rates are the numbers that change from step to step: learning rate, number of the step, momentum.
const rates = 3

func (n *Network) trainer(t *Training, cycles bool) (*trainer, error) {
	memory, err := optim.Buffers(t.Rule, cycles)
	if err != nil {
		return nil, err
	}
	g, err := n.graph(true, n.settings.Batch)
	if err != nil {
		return nil, err
	}
	tr := &trainer{names: slices.Sorted(maps.Keys(g.Values)), memory: memory}
	loss := ad.Reshape(g.Loss)
	scale := ad.Input("scale", 2) // factor of the loss, and the steps since it changed
	own := layout{g.model.params, n.params.at, n.params.total}
	statistics := layout{g.model.states, n.states.at, n.states.total}
	frozen, err := own.chosen("Frozen", t.Frozen)
	if err != nil {
		return nil, err
	}
	spared, err := own.chosen("Spared", t.Spared)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(frozen, false) {
		return nil, errors.New("nn: all parameters are frozen, so there is nothing to train: leave some out")
	}
	scaled, factor := loss, ad.Index(scale, 0, 0)
	if t.LossScale > 0 {
		scaled = ad.Mul(loss, factor)
	}
	gradient := own.gradient(scaled, frozen)
	params, running, number := ad.Input("parameters", own.total), ad.Input("statistics", statistics.total), ad.Input("rates", rates)
	u := optim.UpdateNodes{X: params, G: gradient, Rate: ad.Index(number, 0, 0), Step: ad.Index(number, 0, 1)}
	u.Decay = own.others(spared)
	if cycles {
		u.Momentum = ad.Index(number, 0, 2)
	}
	for range memory {
		u.Memory = append(u.Memory, ad.Input("memory", own.total))
	}
	if t.LossScale > 0 {
		u.G = ad.Div(u.G, factor)
	}
	if t.ClipNorm > 0 {
		u.G = ad.Mul(u.G, ad.Minimum(ad.Scalar(1), ad.Div(ad.Scalar(t.ClipNorm), ad.Shift(ad.Norm(u.G), 1e-6))))
	}
	next, after := optim.Update(t.Rule, u)
	if trained := own.others(frozen); trained != nil {
		next = ad.Where(trained, next, params)
	}
	var stats []*ad.Node
	for _, s := range statistics.list {
		stats = append(stats, s.updated)
	}
	kept := append([]*ad.Node{next}, after...)
	kept = append(kept, joined(stats), scale)
	fine := ad.Scalar(1)
	if t.LossScale > 0 { // a step whose gradient overflows is left out, and the next loss is scaled less
		fine = ad.LessEqual(ad.Max(ad.Abs(gradient)), ad.Scalar(largestFloat32))
		for i, before := range append(append([]*ad.Node{params}, u.Memory...), running) {
			kept[i] = ad.Where(fine, kept[i], before)
		}
		since := ad.Shift(ad.Index(scale, 0, 1), 1)
		grows := ad.GreaterEqual(since, ad.Scalar(float64(t.ScaleEvery)))
		good := ad.Stack(0, ad.Where(grows, ad.Maximum(factor, ad.Minimum(ad.Scale(2, factor), ad.Scalar(1<<24))), factor), ad.Where(grows, ad.Scalar(0), since))
		kept[len(kept)-1] = ad.Where(fine, good, ad.Stack(0, ad.Maximum(ad.Scale(0.5, factor), ad.Scalar(1)), ad.Scalar(0)))
	}
	zeros := ad.Add(ad.Sum(ad.Scale(0, kept[0])), ad.Sum(ad.Scale(0, kept[1+memory])))
	told := []*ad.Node{loss, fine, ad.Reshape(ad.NotEqual(zeros, ad.Scalar(0)))}
	for _, name := range tr.names {
		told = append(told, ad.Reshape(g.Values[name]))
	}
	outs := append([]*ad.Node{ad.Stack(0, told...)}, kept...)
	outs = ad.Substitute(outs, slices.Concat(own.nodes(), statistics.nodes()), slices.Concat(own.parts(params), statistics.parts(running)))
	in := slices.Clone(g.in)
	for i := range g.model.noise {
		tr.noise = append(tr.noise, len(in)+i)
	}
	in = append(in, g.model.noise...)
	tr.params = len(in)
	in = append(append(append(in, params), u.Memory...), running, scale, number)
	tr.p, err = ad.Compile(outs, ad.Settings{Inputs: in, Precision: n.settings.Precision, Backend: n.settings.Backend})
	if err != nil {
		return nil, err
	}
	tr.state = tr.p.NewState()
	return tr, nil
}

// Names returns the names of the parameters and then of the statistics, in the order of their declaration.
func (n *Network) Names() (names []string) {
	for _, v := range slices.Concat(n.params.list, n.states.list) {
		names = append(names, v.name)
	}
	return names
}

// Size returns the number of parameters.
func (n *Network) Size() int { return n.params.total }

// Weights returns copies of all parameters and statistics by name, in the network's precision.
func (n *Network) Weights() map[string]*tensor.Tensor {
	out := map[string]*tensor.Tensor{}
	take := func(l *layout, from []float64) {
		for i, v := range l.list {
			w, err := tensor.From(slices.Clone(from[l.at[i]:l.at[i]+v.node.Size()]), v.node.Shape()...)
			if err != nil {
				panic(err) // the shape is that of a Node
			}
			if n.settings.Precision == 32 {
				w = w.Convert(tensor.Float32)
			}
			out[v.name] = w
		}
	}
	take(&n.params, n.values)
	take(&n.states, n.running)
	return out
}

// SetWeights replaces parameters and statistics by those of a map, which must have all of them, with their shapes, and no others.
// After an error nothing has changed.
func (n *Network) SetWeights(w map[string]*tensor.Tensor) error {
	var bad []error
	for _, name := range n.Names() {
		if w[name] == nil {
			bad = append(bad, fmt.Errorf("nn: the weights lack %s: load a file of this network", name))
		}
	}
	values, running := slices.Clone(n.values), slices.Clone(n.running)
	known := map[string]bool{}
	give := func(l *layout, to []float64) {
		for i, v := range l.list {
			known[v.name] = true
			x := w[v.name]
			if x == nil {
				continue
			}
			if !x.Shape().Equal(v.node.Shape()) {
				bad = append(bad, fmt.Errorf("nn: the weights %s have shape %v: want %v", v.name, x.Shape(), v.node.Shape()))
				continue
			}
			copy(to[l.at[i]:], x.Compact().Float64s())
		}
	}
	give(&n.params, values)
	give(&n.states, running)
	for _, name := range slices.Sorted(maps.Keys(w)) {
		if !known[name] {
			bad = append(bad, fmt.Errorf("nn: there are weights %s, which the network does not have: load a file of this network", name))
		}
	}
	if len(bad) > 0 {
		return errors.Join(bad...)
	}
	n.values, n.running = values, running
	return nil
}
