// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Loss is a term of the objective that training minimises.
type Loss struct {
	Name   string
	Weight float64 // weight of the term in the sum. Default 1
	// Of returns the term as a scalar Node.
	Of func(p *Pass) *ad.Node
}

// terms returns the losses of a pass, each times its weight.
func terms(p *Pass, losses []Loss) []*ad.Node {
	out := make([]*ad.Node, len(losses))
	for i, l := range losses {
		w := l.Weight
		if w == 0 {
			w = 1
		}
		out[i] = ad.Scale(w, l.Of(p))
	}
	return out
}

// Readout assigns an assembly of an area to each label: the neurons Assemblies[c] stand for label c.
type Readout struct {
	Area       string
	Assemblies [][]int
}

func (r Readout) check(c *Circuit) error {
	a := c.area(r.Area)
	if a == nil || len(r.Assemblies) == 0 {
		return fmt.Errorf("connectome: the readout is of area %q and has %d assemblies: name an area of the circuit, and give at least one assembly", r.Area, len(r.Assemblies))
	}
	for l, set := range r.Assemblies {
		if len(set) == 0 {
			return fmt.Errorf("connectome: the assembly of label %d is empty: give it at least one neuron", l)
		}
		seen := map[int]bool{}
		for _, i := range set {
			if i < 0 || i >= a.N {
				return fmt.Errorf("connectome: the assembly of label %d contains neuron %d of area %s: want numbers from 0 to %d", l, i, r.Area, a.N-1)
			}
			if seen[i] {
				return fmt.Errorf("connectome: the assembly of label %d contains neuron %d twice: name each neuron once", l, i)
			}
			seen[i] = true
		}
	}
	return nil
}

// fires returns a matrix [labels, n] that is 1 where a neuron belongs to a label.
func fires(assemblies [][]int, n int) *ad.Node {
	v := make([]float64, len(assemblies)*n)
	for l, set := range assemblies {
		for _, i := range set {
			v[l*n+i] = 1
		}
	}
	return ad.Const(v, len(assemblies), n)
}

// shares returns the fraction of each assembly that fires in y [b, n]: [b, labels].
func (r Readout) shares(y *ad.Node) *ad.Node {
	size := make([]float64, len(r.Assemblies))
	for l, set := range r.Assemblies {
		size[l] = 1 / float64(len(set))
	}
	return ad.Mul(ad.MatMul(y, ad.T(fires(r.Assemblies, y.Shape()[1]))), ad.Const(size, 1, len(size)))
}

// Classification is the mean cross entropy of the labels under a softmax of scale times the share of
// each assembly that fires in the last step. A scale of 5 works well.
func (r Readout) Classification(scale float64) Loss {
	return Loss{Name: "classification", Of: func(p *Pass) *ad.Node {
		scores := ad.Scale(scale, r.shares(p.Last(r.Area)))
		return ad.Scale(-1/float64(p.Batch), ad.Sum(ad.Mul(p.Labels, ad.LogSoftmax(scores, 1))))
	}}
}

// Overlap is 1 minus the share of the label's assembly that fires in the last step.
func (r Readout) Overlap() Loss {
	return Loss{Name: "overlap", Of: func(p *Pass) *ad.Node {
		return missed(p, r.shares(p.Last(r.Area)))
	}}
}

func missed(p *Pass, shares *ad.Node) *ad.Node {
	return ad.Sub(ad.Scalar(1), ad.Scale(1/float64(p.Batch), ad.Sum(ad.Mul(p.Labels, shares))))
}

// CrossEntropy is the mean over neurons of the binary cross entropy between what fires
// in the last step and the label's assembly.
func (r Readout) CrossEntropy() Loss {
	return Loss{Name: "cross entropy", Of: func(p *Pass) *ad.Node {
		y := ad.Clip(p.Last(r.Area), 1e-7, 1-1e-7)
		if y.Err() != nil {
			return y
		}
		t := ad.MatMul(p.Labels, fires(r.Assemblies, y.Shape()[1]))
		one := ad.Scalar(1)
		terms := ad.Add(ad.Mul(t, ad.Log(y)), ad.Mul(ad.Sub(one, t), ad.Log(ad.Sub(one, y))))
		return ad.Neg(ad.Mean(terms))
	}}
}

// SequenceLoss is the mean over steps of 1 minus the fraction of the wanted neurons that fire,
// assemblies[t][c] for label c in step t; a step with nil assemblies does not count.
func SequenceLoss(area string, assemblies [][][]int) Loss {
	return Loss{Name: "sequence", Of: func(p *Pass) *ad.Node {
		total, steps := ad.Scalar(0), 0
		for t, set := range assemblies {
			if set == nil {
				continue
			}
			if err := (Readout{area, set}).check(p.Circuit); err != nil {
				return fault(err)
			}
			if t >= p.Circuit.Steps {
				return fault(fmt.Errorf("connectome: the sequence has %s, but the circuit runs for %d: shorten the sequence or raise Steps", errtext.Count(len(assemblies), "step"), p.Circuit.Steps))
			}
			total = ad.Add(total, missed(p, Readout{area, set}.shares(p.Activities[area][t])))
			steps++
		}
		return ad.Scale(1/float64(max(steps, 1)), total)
	}}
}

// pairs returns the overlap of every pair of examples in a batch as a fraction of k, [b, b], and a
// matrix that is 1 where two different examples have the same label.
func (p *Pass) pairs(area string) (overlap, same *ad.Node) {
	y := p.Last(area)
	if y.Err() != nil {
		return y, y
	}
	overlap = ad.Scale(1/float64(p.Circuit.area(area).K), ad.MatMul(y, ad.T(y)))
	return overlap, ad.Sub(ad.MatMul(p.Labels, ad.T(p.Labels)), ad.Eye(p.Batch))
}

func meanOver(x, where *ad.Node) *ad.Node {
	return ad.Div(ad.Sum(ad.Mul(x, where)), ad.Maximum(ad.Sum(where), ad.Scalar(1)))
}

// AssociationLoss is 1 minus the mean overlap, as a fraction of k, of the winners of different
// examples with the same label in the last step.
func AssociationLoss(area string) Loss {
	return Loss{Name: "association", Of: func(p *Pass) *ad.Node {
		overlap, same := p.pairs(area)
		return meanOver(ad.Sub(ad.Scalar(1), overlap), same)
	}}
}

// SeparationLoss is the mean over pairs of examples with different labels of the amount by which
// their overlap, as a fraction of k, exceeds the margin.
func SeparationLoss(area string, margin float64) Loss {
	return Loss{Name: "separation", Of: func(p *Pass) *ad.Node {
		overlap, _ := p.pairs(area)
		other := ad.Sub(ad.Scalar(1), ad.MatMul(p.Labels, ad.T(p.Labels)))
		return meanOver(ad.ReLU(ad.Shift(overlap, -margin)), other)
	}}
}

// StabilityLoss is the squared change of activity in the last step, divided by k.
func StabilityLoss(area string) Loss {
	return Loss{Name: "stability", Of: func(p *Pass) *ad.Node {
		run := p.Activities[area]
		if p.Last(area).Err() != nil || len(run) < 2 {
			return fault(fmt.Errorf("connectome: the stability of area %q cannot be measured in %s: name an area of the circuit, and run at least 2 steps", area, errtext.Count(len(run), "step")))
		}
		change := ad.Sum(ad.Square(ad.Sub(run[len(run)-1], run[len(run)-2])))
		return ad.Scale(1/float64(p.Batch*p.Circuit.area(area).K), change)
	}}
}

// WeightLoss is the mean square of the log-weights theta; it pulls the weights towards those before
// training.
func WeightLoss() Loss {
	return Loss{Name: "weights", Of: func(p *Pass) *ad.Node {
		sum, n := ad.Scalar(0), 0
		for _, theta := range p.Theta {
			sum, n = ad.Add(sum, ad.Sum(ad.Square(theta))), n+theta.Size()
		}
		return ad.Scale(1/float64(max(n, 1)), sum)
	}}
}

// ColumnLoss is the mean squared deviation of the sum of weights onto each neuron from the sum
// before training, relative to the latter; neurons without synapses do not count.
func ColumnLoss() Loss {
	return Loss{Name: "columns", Of: func(p *Pass) *ad.Node {
		sum, n := ad.Scalar(0), 0
		for k, f := range p.Circuit.Fibres {
			columns, before := make([]int, f.Edges.Len()), make([]float64, f.Edges.Targets)
			for e, w := range f.Edges.weights() {
				columns[e] = int(f.Edges.To[e])
				before[columns[e]] += f.gain() * w
			}
			scale := make([]float64, len(before))
			for j, b := range before {
				if b != 0 {
					scale[j] = 1 / b
					n++
				}
			}
			now := ad.ScatterAdd(p.Weights[k], ad.Ints(columns), 0, f.Edges.Targets)
			sum = ad.Add(sum, ad.Sum(ad.Square(ad.Mul(ad.Const(scale), ad.Sub(now, ad.Const(before))))))
		}
		return ad.Scale(1/float64(max(n, 1)), sum)
	}}
}
