// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"context"
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Metrics measure the performance of hard assemblies, with exactly k neurons firing in each area.
type Metrics struct {
	Accuracy  float64   // fraction of the examples whose label's assembly has the largest share firing
	Overlap   float64   // mean share of the label's assembly that fires
	Predicted []int     // predicted label of each example
	Terms     []float64 // values of the losses, each times its weight; losses of pairs are computed within batches of 50
}

// evaluationBatch is the number of examples that are run at once.
const evaluationBatch = 50

// Evaluate runs examples with hard caps and the parameters x, reads the area in the
// last step and returns the losses of hard assemblies.
func (c *Circuit) Evaluate(ctx context.Context, x []float64, e Examples, r Readout, losses ...Loss) (Metrics, error) {
	j, err := c.judge(e, &r, losses, 0)
	if err != nil {
		return Metrics{}, err
	}
	if _, err := c.Read(x); err != nil {
		return Metrics{}, err
	}
	return j.metrics(ctx, x)
}

// judge is a compiled evaluation.
type judge struct {
	examples Examples
	read     bool       // whether there is a readout, which is the first output
	losses   int        // number of losses, the outputs after it
	machines []*machine // machines for whole batches and for the remaining examples
}

// judge compiles an evaluation; without a readout, it evaluates only the losses.
func (c *Circuit) judge(e Examples, r *Readout, losses []Loss, threads int) (*judge, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	labels := e.classes()
	if r != nil {
		if err := r.check(c); err != nil {
			return nil, err
		}
		labels = len(r.Assemblies)
	}
	if err := e.check(c, labels); err != nil {
		return nil, err
	}
	j := &judge{examples: e, read: r != nil, losses: len(losses)}
	outputs := func(p *Pass, _ []*ad.Node) (out []*ad.Node) {
		if r != nil {
			out = append(out, r.shares(p.Last(r.Area)))
		}
		return append(out, terms(p, losses)...)
	}
	for _, size := range []int{min(evaluationBatch, e.Len()), e.Len() % evaluationBatch} {
		m := (*machine)(nil)
		if size > 0 {
			var err error
			if m, err = c.compile(size, labels, e.perStep(c), KCap{Hard: true}, "64", ad.CPU{Threads: threads}, outputs); err != nil {
				return nil, fmt.Errorf("connectome: %w", err)
			}
		}
		j.machines = append(j.machines, m)
	}
	return j, nil
}

func (j *judge) metrics(ctx context.Context, x []float64) (Metrics, error) {
	out := Metrics{Terms: make([]float64, j.losses)}
	for i := 0; i < j.examples.Len(); i += evaluationBatch {
		m := j.machines[0]
		if left := j.examples.Len() - i; left < m.batch {
			m = j.machines[1]
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if err := j.batch(&out, m, x, i); err != nil {
			return out, err
		}
	}
	return out, nil
}

// batch evaluates the examples from first on.
func (j *judge) batch(out *Metrics, m *machine, x []float64, first int) error {
	which := make([]int, m.batch)
	for b := range which {
		which[b] = first + b
	}
	if err := m.load(j.examples, which); err != nil {
		return err
	}
	if err := m.run(x, 1); err != nil {
		return fmt.Errorf("connectome: %w", err)
	}
	at := 0
	if j.read {
		for b, k := range which {
			out.add(m.state.Output(0)[b*m.classes:(b+1)*m.classes], j.examples.Labels[k], j.examples.Len())
		}
		at = 1
	}
	for i := range out.Terms {
		out.Terms[i] += m.state.Output(at + i)[0] * float64(m.batch) / float64(j.examples.Len())
	}
	return nil
}

// add counts one example, given the shares of the labels.
func (m *Metrics) add(shares []float64, label, examples int) {
	best := 0
	for l, s := range shares {
		if s > shares[best] {
			best = l
		}
	}
	m.Predicted = append(m.Predicted, best)
	m.Overlap += shares[label] / float64(examples)
	if best == label {
		m.Accuracy += 1 / float64(examples)
	}
}
