package connectome

import (
	"context"
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Metrics say how well hard assemblies, exactly k neurons of each area, do.
type Metrics struct {
	Accuracy  float64 // part of the examples whose label has the largest share firing
	Overlap   float64 // mean share of the label's assembly that fires
	Predicted []int   // label of each example
}

// evaluationBatch is how many examples are run at once.
const evaluationBatch = 50

// Evaluate runs examples with hard caps and the parameters x and reads the area in the
// last step.
func (c *Circuit) Evaluate(ctx context.Context, x []float64, e Examples, r Readout) (Metrics, error) {
	judge, err := c.judge(e, r, 0)
	if err != nil {
		return Metrics{}, err
	}
	if _, err := c.Read(x); err != nil {
		return Metrics{}, err
	}
	return judge(ctx, x)
}

// judge compiles Evaluate.
func (c *Circuit) judge(e Examples, r Readout, threads int) (func(context.Context, []float64) (Metrics, error), error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := r.check(c); err != nil {
		return nil, err
	}
	labels := len(r.Assemblies)
	if err := e.check(c, labels); err != nil {
		return nil, err
	}
	m, err := c.compile(min(evaluationBatch, e.Len()), labels, e.perStep(c), KCap{Hard: true}, "64", threads, func(p *Pass, _ []*ad.Node) []*ad.Node {
		return []*ad.Node{r.shares(p.Last(r.Area))}
	})
	if err != nil {
		return nil, fmt.Errorf("connectome: %w", err)
	}
	return func(ctx context.Context, x []float64) (Metrics, error) { return m.judge(ctx, x, e) }, nil
}

func (m *machine) judge(ctx context.Context, x []float64, e Examples) (out Metrics, err error) {
	for i := 0; i < e.Len(); i += m.batch {
		var which []int
		for b := i; b < min(i+m.batch, e.Len()); b++ {
			which = append(which, b)
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if err := m.load(e, which); err != nil {
			return out, err
		}
		if err := m.run(x, 1); err != nil {
			return out, fmt.Errorf("connectome: %w", err)
		}
		for b, k := range which {
			out.add(m.state.Output(0)[b*m.classes:(b+1)*m.classes], e.Labels[k], e.Len())
		}
	}
	return out, nil
}

// add counts one example by the shares of the labels.
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
