// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// ctc is the loss of connectionist temporal classification: minus the log of the
// probability that a sequence of labels and blanks (label 0) reads as the target,
// equal neighbours taken once and blanks left out.
//
// With mean set it is divided by the length of the target (at least 1) and
// averaged over the batch, else summed. Inputs: log-probabilities (steps, batch,
// labels), targets (batch, longest) or one after another, the steps and the
// labels that count of each sequence. Gradient: by the log-probabilities, each by
// itself; where a target cannot be read at all the loss is +Inf, the gradient NaN.
//
// Reference: Graves et al. 2006, equations 5 to 16.
type ctc struct {
	steps, batch, labels int
	// distance between the targets of two sequences; 0 if they are stored one after another
	stride int
	mean   bool
}

// lowerCTC lowers the loss, of log-probabilities, targets, steps and lengths.
func lowerCTC(l *lowering) *ad.Node { return newCTC(l).node(l.x[:4]) }

// lowerCTCDiff lowers its gradient, of the same inputs and the gradient of the loss.
func lowerCTCDiff(l *lowering) *ad.Node {
	return ad.VJP(newCTC(l).node(l.x[:4]), ad.Reshape(l.x[4]), l.x[0])[0]
}

func newCTC(l *lowering) *ctc {
	s := l.x[0].Shape()
	c := &ctc{steps: s[0], batch: s[1], labels: s[2], mean: l.v.FieldByName("reduction").Uint() == 0}
	if t := l.x[1].Shape(); len(t) == 2 {
		c.stride = t[1]
	}
	return c
}

func (c *ctc) node(x []*ad.Node) *ad.Node {
	in := make([]*ad.Node, len(x))
	for i := range x {
		in[i] = ad.Float(x[i])
	}
	return ad.Call(&ad.Custom{
		Name:    "ctc_loss",
		Shape:   func(...tensor.Shape) (tensor.Shape, error) { return tensor.Shape{}, nil },
		Forward: c.forward,
		Adjoint: c.adjoint,
	}, in...)
}

func (c *ctc) forward(out []float64, in ...[]float64) error {
	out[0] = 0
	return c.each(in, func(q *sequence, weight float64) {
		q.forward()
		out[0] -= weight * q.logProb()
	})
}

func (c *ctc) adjoint(dIn [][]float64, g, _ []float64, in ...[]float64) error {
	for _, d := range dIn {
		clear(d)
	}
	return c.each(in, func(q *sequence, weight float64) {
		q.forward()
		q.backward()
		q.addGradient(dIn[0], -g[0]*weight)
	})
}

// each visits the sequences and their weights in the loss.
func (c *ctc) each(in [][]float64, visit func(q *sequence, weight float64)) error {
	from := 0
	for b := range c.batch {
		if c.stride > 0 {
			from = b * c.stride
		}
		steps, length, end := int(in[2][b]), int(in[3][b]), len(in[1])
		if c.stride > 0 {
			end = from + c.stride
		}
		if steps < 1 || steps > c.steps || length < 0 || length > end-from {
			return fmt.Errorf("gorgonia: sequence %d has %d steps and %d labels: want 1..%d steps and 0..%d labels", b, steps, length, c.steps, end-from)
		}
		q := &sequence{ctc: c, b: b, steps: steps, lp: in[0], path: make([]int, 2*length+1)}
		for i, label := range in[1][from : from+length] {
			if label < 0 || int(label) >= c.labels {
				return fmt.Errorf("gorgonia: label %d of sequence %d is %v: want 0..%d", i, b, label, c.labels-1)
			}
			q.path[2*i+1] = int(label)
		}
		weight := 1.0
		if c.mean {
			weight = 1 / float64(max(1, length)*c.batch)
		}
		visit(q, weight)
		from += length
	}
	return nil
}

// sequence is one element of the batch: its labels with blanks between and around them, and the
// log-probabilities of the paths that lead to each place and from it.
type sequence struct {
	*ctc
	b, steps int
	lp       []float64
	path     []int
	to, from []float64 // log-probabilities of the paths to and from each place, [step, place]
}

// at returns the position of the log-probability of the label at place s.
func (q *sequence) at(t, s int) int { return (t*q.batch+q.b)*q.labels + q.path[s] }

// canSkip reports whether a path may go from place s-2 to s, over the blank between two different
// labels. Two blanks are never joined this way.
func (q *sequence) canSkip(s int) bool { return s >= 2 && q.path[s] != q.path[s-2] }

// forward computes to: the paths that end in a place, including what it emits.
func (q *sequence) forward() {
	n := len(q.path)
	q.to = make([]float64, q.steps*n)
	for t := range q.steps {
		for s := range n {
			ways := math.Inf(-1)
			switch {
			case t == 0 && s < 2:
				ways = 0
			case t > 0:
				before := q.to[(t-1)*n : t*n]
				ways = before[s]
				if s >= 1 {
					ways = logAddExp(ways, before[s-1])
				}
				if q.canSkip(s) {
					ways = logAddExp(ways, before[s-2])
				}
			}
			q.to[t*n+s] = ways + q.lp[q.at(t, s)]
		}
	}
}

// backward computes from: the paths that start in a place, without what it emits.
func (q *sequence) backward() {
	n := len(q.path)
	q.from = make([]float64, q.steps*n)
	for t := q.steps - 1; t >= 0; t-- {
		for s := range n {
			ways := math.Inf(-1)
			switch {
			case t == q.steps-1 && s >= n-2:
				ways = 0
			case t < q.steps-1:
				next := func(s int) float64 { return q.from[(t+1)*n+s] + q.lp[q.at(t+1, s)] }
				ways = next(s)
				if s+1 < n {
					ways = logAddExp(ways, next(s+1))
				}
				if s+2 < n && q.canSkip(s+2) {
					ways = logAddExp(ways, next(s+2))
				}
			}
			q.from[t*n+s] = ways
		}
	}
}

// logProb returns the log-probability of the target; forward must have run.
func (q *sequence) logProb() float64 {
	end := q.to[len(q.to)-len(q.path):]
	if n := len(end); n > 1 {
		return logAddExp(end[n-1], end[n-2])
	}
	return end[0]
}

// addGradient adds weight times the gradient of logProb: the probability of each place at each step,
// given the target.
func (q *sequence) addGradient(d []float64, weight float64) {
	total := q.logProb()
	for t := range q.steps {
		for s := range q.path {
			i := t*len(q.path) + s
			d[q.at(t, s)] += weight * math.Exp(q.to[i]+q.from[i]-total)
		}
	}
}

func logAddExp(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, 0) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}
