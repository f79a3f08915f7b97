// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"context"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/assembly"
)

// Learning to learn: a stimulus is shown for four steps, its half for the last two;
// plasticity and initial weights are trained until the half brings back what the whole
// had made fire. No readout is given: the losses are what is reported, of hard
// assemblies too.
func TestLearnToLearn(t *testing.T) {
	const m, n, k, steps = 20, 60, 6, 6
	edges := func(id uint64, p float64, sources int) *Edges {
		return Connect(assembly.Fibre{P: p, N: n, Seed: id}, sources, nil)
	}
	c := &Circuit{Stimuli: []Stimulus{{"S", m}}, Areas: []Area{{"A", n, k}}, Steps: steps, Plastic: true, MaxWeight: 20,
		Fibres: []*Fibre{{From: "S", To: "A", Edges: edges(1, .4, m), Beta: .05, LearnBeta: true},
			{From: "A", To: "A", Edges: edges(2, .3, n), Beta: .05, LearnBeta: true}}}
	var e Examples
	for label := range 4 {
		x := make([]float64, m*steps)
		for s := range steps {
			for i := range 5 {
				if s < 4 || i < 2 {
					x[s*m+label*5+i] = 1
				}
			}
		}
		e.Stimuli, e.Labels = append(e.Stimuli, x), append(e.Labels, label)
	}
	recall := Loss{Name: "recall", Of: func(p *Pass) *ad.Node {
		y := p.Activities["A"]
		return ad.Sub(ad.Scalar(1), ad.Scale(1/float64(k*p.Batch), ad.Sum(ad.Mul(y[3], y[5]))))
	}}
	got, err := Train(context.Background(), c, e, TrainSettings{Losses: []Loss{recall, SeparationLoss("A", .1)}, Steps: 60, Batch: 8, Warm: 1, Cold: .3, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	before, err := c.judge(e, nil, []Loss{recall}, 0)
	if err != nil {
		t.Fatal(err)
	}
	was, err := before.metrics(context.Background(), c.Start())
	if err != nil {
		t.Fatal(err)
	}
	now, err := c.Read(got.Params)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("loss %.3f to %.3f; recall lost by hard assemblies %.3f, terms after %.3f; beta %.3f and %.3f", got.Loss[0], got.Loss[len(got.Loss)-1], was.Terms, got.Metrics.Terms, now["S>A"].Beta, now["A>A"].Beta)
	if !(got.Loss[59] < 0.5*got.Loss[0]) || !(got.Metrics.Terms[0] < 0.5*was.Terms[0]) || now["A>A"].Beta == .05 || len(got.Metrics.Predicted) != 0 {
		t.Errorf("loss %.3f to %.3f, beta %g", got.Loss[0], got.Loss[59], now["A>A"].Beta)
	}
}
