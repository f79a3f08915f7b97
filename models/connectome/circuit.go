// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"errors"
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Stimulus is a set of external neurons whose activities are given.
type Stimulus struct {
	Name string
	N    int
}

// Area has N neurons of which K fire at a time.
type Area struct {
	Name string
	N, K int
}

// Fibre holds the synapses from a stimulus or an area to an area, and says what is trained. A weight
// is
//
//	W = gain w0 exp(theta)
//
// with w0 from Edges: training keeps the signs of weights and makes no new synapses.
type Fibre struct {
	From, To string
	Edges    *Edges
	Gain     float64 // common factor of the weights. Default 1
	Beta     float64 // plasticity of the synapses; used in plastic circuits

	// FixWeights keeps theta as it is.
	FixWeights bool
	// LearnGain trains Gain and Beta, through softplus so that they stay above 0.
	LearnGain, LearnBeta bool
}

// Name returns the name of the fibre, From>To.
func (f *Fibre) Name() string { return f.From + ">" + f.To }

func (f *Fibre) gain() float64 {
	if f.Gain == 0 {
		return 1
	}
	return f.Gain
}

// Circuit is a set of stimuli and areas joined by fibres, all of which are active in every step.
// Areas read the other areas' activities of the previous step, and the stimuli's of the same step;
// areas are silent at first.
type Circuit struct {
	Stimuli []Stimulus
	Areas   []Area
	Fibres  []*Fibre
	Steps   int
	// Plastic strengthens the weights while each example runs, starting from the trained ones: W *=
	// 1 + beta pre post. Training then learns to learn.
	Plastic   bool
	MaxWeight float64 // largest weight under plasticity; 0 for no bound
	// Normalize divides the weights onto each neuron by their sum before use.
	Normalize bool
}

// Pass is the graph of one run of a circuit on a batch of examples.
type Pass struct {
	Batch      int
	Activities map[string][]*ad.Node // activities of areas and stimuli by step, [batch, n]
	Labels     *ad.Node              // labels of the examples, [batch, classes], with 1 at the label of each
	Theta      []*ad.Node            // log-weights by fibre, [synapses]
	Weights    []*ad.Node            // trained weights by fibre, [synapses]
	Circuit    *Circuit
}

// Last returns the activities of an area in the last step, [batch, n].
func (p *Pass) Last(area string) *ad.Node {
	run := p.Activities[area]
	if len(run) == 0 || p.Circuit.area(area) == nil {
		return fault(fmt.Errorf("connectome: the circuit has no area %q whose activity was computed: name one of its areas", area))
	}
	return run[len(run)-1]
}

func (c *Circuit) area(name string) *Area {
	for i := range c.Areas {
		if c.Areas[i].Name == name {
			return &c.Areas[i]
		}
	}
	return nil
}

// size returns the number of neurons of a stimulus or an area.
func (c *Circuit) size(name string) (n int, found bool) {
	for _, s := range c.Stimuli {
		if s.Name == name {
			return s.N, true
		}
	}
	if a := c.area(name); a != nil {
		return a.N, true
	}
	return 0, false
}

// inputs returns the number of neurons of all stimuli.
func (c *Circuit) inputs() (n int) {
	for _, s := range c.Stimuli {
		n += s.N
	}
	return n
}

// check lists everything that is wrong with the circuit.
func (c *Circuit) check() error {
	var bad []error
	say := func(format string, v ...any) { bad = append(bad, fmt.Errorf("connectome: "+format, v...)) }
	seen := map[string]bool{}
	claim := func(name string, n int) {
		if seen[name] || name == "" {
			say("the name %q of an area or a stimulus is empty or appears twice: give each a name of its own", name)
		}
		if seen[name] = true; n < 1 {
			say("%s has %s: want at least 1", name, errtext.Count(n, "neuron"))
		}
	}
	for _, s := range c.Stimuli {
		claim(s.Name, s.N)
	}
	for _, a := range c.Areas {
		if claim(a.Name, a.N); a.K < 1 {
			say("area %s has cap %d: want at least 1", a.Name, a.K)
		}
	}
	if c.Steps < 1 {
		say("the circuit runs for %s: want at least 1", errtext.Count(c.Steps, "step"))
	}
	if !(c.MaxWeight >= 0) {
		say("the largest weight is %g: want it above 0, or 0 for no bound", c.MaxWeight)
	}
	joined := map[string]bool{}
	for _, f := range c.Fibres {
		if joined[f.Name()] {
			say("fibre %s appears twice: give one for each pair", f.Name())
		}
		joined[f.Name()] = true
		n, found := c.size(f.From)
		a := c.area(f.To)
		if !found || a == nil {
			say("fibre %s leads nowhere: name a stimulus or an area before the arrow and an area after it", f.Name())
			continue
		}
		if err := f.Edges.check(); err != nil {
			say("fibre %s: %w", f.Name(), err)
		} else if f.Edges.Sources != n || f.Edges.Targets != a.N {
			say("fibre %s has edges from %d to %d neurons, but its ends have %d and %d: make the edges for these", f.Name(), f.Edges.Sources, f.Edges.Targets, n, a.N)
		}
		if !(f.gain() > 0) || !(f.Beta >= 0) || math.IsInf(f.gain()+f.Beta, 1) || f.LearnBeta && f.Beta == 0 {
			say("fibre %s has gain %g and plasticity %g: want finite numbers above 0 (0 for no plasticity, which is not trained)", f.Name(), f.Gain, f.Beta)
		}
	}
	return errors.Join(bad...)
}

// forward unrolls the circuit. x is [batch, inputs] for each step, params the inputs
// that layout made.
func (c *Circuit) forward(x []*ad.Node, params []parameters, cap KCap) *Pass {
	p := &Pass{Batch: x[0].Shape()[0], Activities: map[string][]*ad.Node{}, Circuit: c}
	used := make([]*ad.Node, len(c.Fibres))
	for i, f := range c.Fibres {
		theta, w := params[i].weights(f)
		p.Theta, p.Weights = append(p.Theta, theta), append(p.Weights, w)
		used[i] = ad.Reshape(ad.ScatterAdd(w, ad.Ints(f.Edges.places()), 0, f.Edges.Sources*f.Edges.Targets), f.Edges.Sources, f.Edges.Targets)
	}
	for t := range c.Steps {
		at := 0
		for _, s := range c.Stimuli {
			p.Activities[s.Name] = append(p.Activities[s.Name], ad.Slice(x[t], 1, at, at+s.N))
			at += s.N
		}
		c.step(p, used, params, cap, t)
	}
	return p
}

// source returns the activity of f's source in step t, or nil while it is silent.
func (c *Circuit) source(p *Pass, f *Fibre, t int) *ad.Node {
	if c.area(f.From) != nil {
		t--
	}
	if t < 0 {
		return nil
	}
	return p.Activities[f.From][t]
}

func (c *Circuit) step(p *Pass, used []*ad.Node, params []parameters, cap KCap, t int) {
	d := Dynamics{Normalize: c.Normalize, MaxWeight: c.MaxWeight}
	next := make([]*ad.Node, len(c.Areas))
	for i, a := range c.Areas {
		var h []*ad.Node
		for k, f := range c.Fibres {
			if pre := c.source(p, f, t); f.To == a.Name && pre != nil {
				h = append(h, onto(pre, d.used(used[k])))
			}
		}
		if len(h) == 0 { // nothing reaches it yet
			next[i] = ad.Full(0, p.Batch, a.N)
			continue
		}
		next[i] = cap.Of(ad.AddN(h...), ad.Scalar(float64(a.K)))
	}
	for i, a := range c.Areas {
		p.Activities[a.Name] = append(p.Activities[a.Name], next[i])
	}
	for k, f := range c.Fibres {
		if pre := c.source(p, f, t); c.Plastic && f.Beta > 0 && pre != nil {
			used[k] = d.strengthenedEach(used[k], params[k].plasticity(f), pre, p.Activities[f.To][t])
		}
	}
}

// onto returns the inputs that activities [b, s] give through weights [s, t] or [b, s, t].
func onto(pre, w *ad.Node) *ad.Node {
	if len(w.Shape()) == 2 {
		return ad.MatMul(pre, w)
	}
	b, n := pre.Shape()[0], w.Shape()[2]
	return ad.Reshape(ad.MatMul(ad.Reshape(pre, b, 1, pre.Shape()[1]), w), b, n)
}

// strengthenedEach applies Hebb's rule to each example of a batch.
func (d Dynamics) strengthenedEach(w, beta, before, now *ad.Node) *ad.Node {
	b, s, t := before.Shape()[0], before.Shape()[1], now.Shape()[1]
	pair := ad.Mul(ad.Reshape(before, b, s, 1), ad.Reshape(now, b, 1, t))
	w = ad.Mul(w, ad.Shift(ad.Mul(beta, pair), 1))
	if d.MaxWeight > 0 {
		w = ad.Minimum(w, ad.Scalar(d.MaxWeight))
	}
	return w
}

// fault makes a Node that carries an error.
func fault(err error) *ad.Node {
	return ad.Call(&ad.Custom{Name: "connectome", Shape: failing(err)}, ad.Scalar(0))
}
