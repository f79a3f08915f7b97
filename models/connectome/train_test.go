// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/sim/assembly"
	"github.com/euryale-dev/euryale/tensor"
)

// noisyClasses is the demonstration: m stimulus neurons, n neurons of which k fire,
// classes whose 20 core neurons fire with probability 1/2 and others with 0.05.
type noisyClasses struct {
	circuit     *Circuit
	readout     Readout
	train, test Examples
}

func demo(seed uint64, train, test int) noisyClasses {
	const m, n, k, classes, p = 200, 300, 15, 5, 0.1
	number := map[string]uint64{"S": 1, "A": 2}
	rule := assembly.Hashed(seed, func(from, _ string) uint64 { return number[from] })
	edges := func(from string, sources int) *Edges {
		return Connect(assembly.Fibre{From: from, To: "A", P: p, N: n}, sources, rule)
	}
	d := noisyClasses{circuit: &Circuit{Stimuli: []Stimulus{{"S", m}}, Areas: []Area{{"A", n, k}}, Steps: 3,
		Fibres: []*Fibre{{From: "S", To: "A", Edges: edges("S", m)}, {From: "A", To: "A", Edges: edges("A", n)}}}}
	src := tensor.NewStream(seed, 900, 0)
	order := src.Perm(n)
	d.readout.Area = "A"
	for c := range classes {
		d.readout.Assemblies = append(d.readout.Assemblies, order[c*k:(c+1)*k])
	}
	draw := func(count int) (e Examples) {
		for range count {
			label, x := src.IntN(classes), make([]float64, m)
			for i := range x {
				rate := 0.05
				if i/20 == label {
					rate = 0.5
				}
				if src.Float64() < rate {
					x[i] = 1
				}
			}
			e.Stimuli, e.Labels = append(e.Stimuli, x), append(e.Labels, label)
		}
		return e
	}
	d.train, d.test = draw(train), draw(test)
	return d
}

func (d noisyClasses) settings(cap KCap) TrainSettings {
	return TrainSettings{Losses: []Loss{d.readout.Classification(5)}, Cap: cap, Seed: 1, Readout: &d.readout, Test: d.test}
}

// A short training lifts hard assemblies far above what they do untrained.
func TestTrain(t *testing.T) {
	d := demo(1, 300, 310)
	before, err := d.circuit.Evaluate(context.Background(), d.circuit.Start(), d.test, d.readout)
	if err != nil {
		t.Fatal(err)
	}
	s := d.settings(KCap{})
	s.Steps, s.LR, s.Precision = 60, 0.1, "32"
	calls := 0
	s.Judge, s.Progress = 30, func(p TrainProgress) {
		if calls++; p.Step == 30 && p.Metrics == nil {
			t.Error("no metrics after 30 updates")
		}
	}
	got, err := Train(context.Background(), d.circuit, d.train, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("accuracy %.3f before, %.3f after; overlap %.3f", before.Accuracy, got.Metrics.Accuracy, got.Metrics.Overlap)
	if hard := got.Metrics.Terms[0]; !(hard > 0 && hard < got.Loss[0]) {
		t.Errorf("loss of hard assemblies %g after training, of soft ones %g before", hard, got.Loss[0])
	}
	if before.Accuracy > 0.4 || got.Metrics.Accuracy < 0.85 || calls != 6 || len(got.Loss) != 60 {
		t.Errorf("accuracy %.3f before and %.3f after; %d calls of Progress", before.Accuracy, got.Metrics.Accuracy, calls)
	}
}

// Training that was stopped, saved as JSON and resumed ends at the same bits, in every
// precision; bfloat16 keeps a finer copy.
func TestTrainResume(t *testing.T) {
	d := demo(2, 60, 60)
	for _, precision := range []string{"64", "32", "bf16"} {
		s := d.settings(KCap{Kind: CappedSimplex})
		s.Steps, s.Batch, s.Precision = 6, 8, precision
		whole, err := Train(context.Background(), d.circuit, d.train, s)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		var saved []byte
		s.SaveEvery, s.Save = 3, func(st TrainState) error {
			saved, err = json.Marshal(st)
			stop()
			return err
		}
		if part, err := Train(ctx, d.circuit, d.train, s); err != context.Canceled || part.Step != 3 {
			t.Fatalf("cancelled after %d updates: %v", part.Step, err)
		}
		var state TrainState
		if err := json.Unmarshal(saved, &state); err != nil {
			t.Fatal(err)
		}
		s.Save, s.Resume = nil, &state
		again, err := Train(context.Background(), d.circuit, d.train, s)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.Params, whole.Params) || !slices.Equal(again.Loss, whole.Loss) {
			t.Errorf("%s: resumed training differs", precision)
		}
		fine := make([]float64, len(whole.Params))
		if rounded(fine, whole.Params, "bf16"); slices.Equal(fine, whole.Params) {
			t.Errorf("%s: parameters have no more digits than bfloat16", precision)
		}
	}
}

// tiny is a circuit of two areas with everything trained.
func tiny(plastic, normalize bool) *Circuit {
	edges := func(id uint64, p float64, sources, n int) *Edges {
		e := Connect(assembly.Fibre{P: p, N: n, Seed: id}, sources, nil)
		e.Weight = make([]float64, e.Len())
		for i := range e.Weight {
			e.Weight[i] = 1 + 0.3*math.Sin(float64(i)+float64(id))
		}
		return e
	}
	return &Circuit{Stimuli: []Stimulus{{"S", 4}}, Areas: []Area{{"A", 6, 2}, {"B", 5, 2}}, Steps: 4, Plastic: plastic, Normalize: normalize,
		Fibres: []*Fibre{
			{From: "S", To: "A", Edges: edges(1, 0.7, 4, 6), Beta: 0.3, LearnBeta: true},
			{From: "A", To: "A", Edges: edges(2, 0.6, 6, 6), Beta: 0.2, LearnBeta: true, LearnGain: true},
			{From: "A", To: "B", Edges: edges(3, 0.7, 6, 5), Beta: 0.4, LearnBeta: true, Gain: 1.5},
			{From: "B", To: "B", Edges: edges(4, 0.5, 5, 5), FixWeights: true, LearnGain: true},
		}}
}

// Gradients of every loss through dynamics, with and without plasticity, by weights,
// gain and beta agree with central differences: learning to learn.
func TestCircuitGradients(t *testing.T) {
	sets := [][]int{{0, 1}, {2, 3}}
	r := Readout{"B", sets}
	losses := []Loss{r.Classification(5), r.Overlap(), r.CrossEntropy(), SequenceLoss("B", [][][]int{2: sets, 3: {{1, 2}, {3, 4}}}),
		AssociationLoss("B"), SeparationLoss("A", 0.1), StabilityLoss("B"), WeightLoss(), ColumnLoss()}
	for _, mode := range []struct{ plastic, normalize bool }{{false, false}, {true, false}, {true, true}} {
		c := tiny(mode.plastic, mode.normalize)
		if err := c.check(); err != nil {
			t.Fatal(err)
		}
		by, flat := c.layout()
		x := make([]*ad.Node, c.Steps)
		for i := range x { // the stimulus goes after two steps
			x[i] = ad.Const([]float64{1, 0, .5, .2, 0, 1, .3, 1, .4, .9, .1, 0}, 3, 4)
			if i > 1 {
				x[i] = ad.Full(0, 3, 4)
			}
		}
		p := c.forward(x, by, KCap{Temperature: 0.6})
		p.Labels = ad.Const([]float64{1, 0, 0, 1, 1, 0}, 3, 2)
		var values [][]float64
		at, start := 0, c.Start()
		for _, n := range flat {
			v := start[at : at+n.Size()]
			for i := range v {
				v[i] += 0.2 * math.Cos(float64(at+i))
			}
			values = append(values, v)
			at += n.Size()
		}
		total := ad.Scalar(0)
		for i, l := range losses {
			total = ad.Add(total, ad.Scale(1+0.2*float64(i), l.Of(p)))
		}
		gradtest.Check(t, "circuit", total, flat, values, false)
	}
}

func TestBadTraining(t *testing.T) {
	d := demo(1, 5, 5)
	bad := *d.circuit
	bad.Areas = []Area{{"A", 300, 0}}
	_, err := Train(context.Background(), &bad, d.train, TrainSettings{Precision: "8"})
	for _, want := range []string{"cap 0", "no losses", `precision is "8"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q in it", err, want)
		}
	}
	s := d.settings(KCap{})
	s.Losses = []Loss{StabilityLoss("nowhere")}
	if _, err := Train(context.Background(), d.circuit, d.train, s); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("loss of an unknown area: %v", err)
	}
	d.train.Stimuli[3] = []float64{1}
	if _, err := Train(context.Background(), d.circuit, d.train, d.settings(KCap{})); err == nil || !strings.Contains(err.Error(), "example 3 has 1") {
		t.Errorf("short example: %v", err)
	}
}
