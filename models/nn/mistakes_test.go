// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/nn"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

func TestMistakes(t *testing.T) {
	loss := func(m *nn.Model, in []*ad.Node) *ad.Node { return ad.Mean(m.Dense("a", nn.Flatten(in[0]), 1)) }
	for text, build := range map[string]nn.Build{
		"declared twice": func(m *nn.Model, in []*ad.Node) nn.Outputs { return nn.Outputs{Loss: ad.Add(loss(m, in), loss(m, in))} },
		"must be single numbers": func(m *nn.Model, in []*ad.Node) nn.Outputs {
			return nn.Outputs{Loss: m.Dense("a", nn.Flatten(in[0]), 1)}
		},
		"no parameters":           func(m *nn.Model, in []*ad.Node) nn.Outputs { return nn.Outputs{Loss: ad.Mean(in[0])} },
		"no initial":              func(m *nn.Model, in []*ad.Node) nn.Outputs { return nn.Outputs{Loss: ad.Sum(m.Param("a", nil, 1))} },
		"Node of the loss is nil": func(m *nn.Model, in []*ad.Node) nn.Outputs { return nn.Outputs{} },
		"less than 1":             func(m *nn.Model, in []*ad.Node) nn.Outputs { return nn.Outputs{Loss: ad.Mean(m.Dropout(in[0], 1))} },
		"heads divide": func(m *nn.Model, in []*ad.Node) nn.Outputs {
			return nn.Outputs{Loss: ad.Mean(m.Attention("a", ad.Reshape(in[0], 32, 8, 8), 3, false))}
		},
	} {
		if _, err := nn.New(build, barInputs, nn.Settings{}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
	other := func(m *nn.Model, in []*ad.Node) nn.Outputs {
		if !m.Training() {
			m.Param("more", nn.Constant(0), 1)
		}
		return nn.Outputs{Loss: loss(m, in)}
	}
	n, err := nn.New(other, barInputs, nn.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Evaluate(context.Background(), bars(t, 3, 1)); err == nil || !strings.Contains(err.Error(), "other parameters") {
		t.Error(err)
	}
	if _, err := n.Train(context.Background(), bars(t, 3, 1), nn.Training{Rule: optim.Adam{}, LR: 1}); err == nil || !strings.Contains(err.Error(), "fewer than the batch") {
		t.Error(err)
	}
	if _, err := n.Train(context.Background(), bars(t, 40, 1), nn.Training{Rule: optim.NAdam{}, LR: 1}); err == nil || !strings.Contains(err.Error(), "use Adagrad, Adam, RMSProp or SGD") {
		t.Error(err)
	}
	diverging := barNetwork(t, nn.Settings{})
	if _, err := diverging.Train(context.Background(), bars(t, 64, 1), nn.Training{Rule: optim.SGD{}, LR: 1e38}); err == nil || !strings.Contains(err.Error(), "lower the learning rate") {
		t.Error(err)
	}
}

// Mistakes are told with the line of the network's own function.
func TestMistakesOfUsers(t *testing.T) {
	build := func(f func(m *nn.Model, in []*ad.Node) *ad.Node) nn.Build {
		return func(m *nn.Model, in []*ad.Node) nn.Outputs { return nn.Outputs{Loss: ad.Mean(f(m, in))} }
	}
	flat := func(m *nn.Model, in []*ad.Node) *ad.Node { return m.Dense("a", nn.Flatten(in[0]), 1) }
	for want, f := range map[string]func(m *nn.Model, in []*ad.Node) *ad.Node{
		"squared error compares results [32 1] with targets [32]": func(m *nn.Model, in []*ad.Node) *ad.Node { return nn.MSE(flat(m, in), ad.Float(in[1]), nn.Mean) },
		"reach beyond images": func(m *nn.Model, in []*ad.Node) *ad.Node {
			return m.Conv2D("c", in[0], 2, 9, ad.Convolution{})
		},
		"window reaches beyond": func(m *nn.Model, in []*ad.Node) *ad.Node { return ad.MaxPool2D(in[0], ad.Pooling{Size: [2]int{9, 2}}) },
		"results [32 1] with targets": func(m *nn.Model, in []*ad.Node) *ad.Node {
			return nn.BCEWithLogits(flat(m, in), ad.Float(in[1]), nn.Sum)
		},
		"and (steps, batch, inputs)": func(m *nn.Model, in []*ad.Node) *ad.Node { y, _ := m.RNN("r", nn.Flatten(in[0]), 2); return y },
	} {
		_, err := nn.New(build(f), barInputs, nn.Settings{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "mistakes_test.go:") || strings.Count(err.Error(), ".go:") != 1 {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := nn.New(build(func(m *nn.Model, in []*ad.Node) *ad.Node { return m.Param("w", nil, 3) }), barInputs, nn.Settings{}); err == nil || !strings.Contains(err.Error(), "w has no initial values") {
		t.Error(err)
	}
	if _, err := nn.New(build(func(m *nn.Model, in []*ad.Node) *ad.Node { return m.BatchNorm("n", flat(m, in)) }), barInputs, nn.Settings{Batch: 1}); err == nil || !strings.Contains(err.Error(), "take a larger batch") {
		t.Error(err)
	}
}

// changed is a Source whose length or examples are changed.
type changed struct {
	nn.Source
	length  func() int
	example func(k int, to [][]float64)
}

func (c changed) Len() int {
	if c.length != nil {
		return c.length()
	}
	return c.Source.Len()
}

func (c changed) Read(k int, to [][]float64) error {
	err := c.Source.Read(k, to)
	if c.example != nil {
		c.example(k, to)
	}
	return err
}

// Wrong settings and wrong data are errors that say so, after which the network is one that can be used.
func TestWrongTraining(t *testing.T) {
	good := bars(t, 100, 1)
	pixel := func(v float64) nn.Source {
		return changed{Source: good, example: func(_ int, to [][]float64) { to[0][3] = v }}
	}
	label := func(v float64) nn.Source {
		return changed{Source: good, example: func(_ int, to [][]float64) { to[1][0] = v }}
	}
	number := func(v float64) func(*nn.Training) { return func(t *nn.Training) { t.LR = v } }
	scale := func(v float64) func(*nn.Training) { return func(t *nn.Training) { t.LossScale = v } }
	for _, c := range []struct {
		want   string
		data   nn.Source
		change func(*nn.Training)
	}{
		{"finite LR", good, number(0)}, {"finite LR", good, number(math.NaN())}, {"finite LR", good, number(math.Inf(1))},
		{"loss scale", good, scale(math.NaN())}, {"loss scale", good, scale(math.Inf(1))}, {"loss scale", good, scale(0.5)}, {"loss scale", good, scale(1e300)},
		{"Training.ClipNorm is NaN", good, func(t *nn.Training) { t.ClipNorm = math.NaN() }},
		{"position 0 is -1", label(-1), nil}, {"position 0 is 2", label(2), nil}, {"want an index", label(0.5), nil}, {"want an index", label(math.NaN()), nil},
		{"the loss is NaN", pixel(math.NaN()), nil}, {"is not finite", pixel(1e30), nil},
		{"is not finite", good, func(t *nn.Training) { // at the last step, after which no loss would tell
			t.Schedule = func(lr float64, step int) (float64, float64) {
				if step == 5 {
					lr = math.NaN()
				}
				return lr, math.NaN()
			}
		}},
		{"no examples", good, func(t *nn.Training) { t.Validation = changed{Source: good, length: func() int { return -3 }} }},
	} {
		training := nn.Training{Epochs: 2, Rule: optim.Adam{}, LR: 0.01}
		if c.change != nil {
			c.change(&training)
		}
		n := barNetwork(t, nn.Settings{Seed: 1})
		if _, err := n.Train(context.Background(), c.data, training); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if e, err := n.Evaluate(context.Background(), good); err != nil || math.IsNaN(e.Loss) {
			t.Errorf("%s: %v, %v", c.want, e, err)
		}
	}
}

// A loss may be finite where its gradient is not: at the root of 0. With a scaled loss the steps are left out, until the scale
// is 1.
func TestGradientOfNoNumber(t *testing.T) {
	n, err := nn.New(func(m *nn.Model, in []*ad.Node) nn.Outputs {
		return nn.Outputs{Loss: ad.Add(ad.Mean(in[0]), ad.Sum(ad.Sqrt(m.Param("w", nn.Constant(0), 1))))}
	}, []nn.Input{{Name: "x"}}, nn.Settings{Batch: 1})
	if err != nil {
		t.Fatal(err)
	}
	x, _ := tensor.From([]float64{1, 2, 3}, 3)
	data, err := nn.Arrays(x)
	if err != nil {
		t.Fatal(err)
	}
	for _, scale := range []float64{0, 1, 4} {
		if _, err := n.Train(context.Background(), data, nn.Training{Epochs: 2, Rule: optim.SGD{}, LR: 0.1, LossScale: scale}); err == nil || !strings.Contains(err.Error(), "is not finite: look for roots of 0") {
			t.Errorf("loss scale %g: %v", scale, err)
		}
		if w := n.Weights()["w"].Float64s()[0]; w != 0 {
			t.Errorf("loss scale %g: the parameter became %g", scale, w)
		}
	}
}

// A loss scale above what scales grow to stays, and no step counts as left out for it.
func TestLargeLossScale(t *testing.T) {
	n := barNetwork(t, nn.Settings{Seed: 1})
	var last *nn.State
	h, err := n.Train(context.Background(), bars(t, 100, 1), nn.Training{Epochs: 2, Rule: optim.SGD{}, LR: 0.01, LossScale: 1 << 26, ScaleEvery: 2, Save: func(s *nn.State) error { last = s; return nil }})
	if err != nil || h.Epochs[0].Skipped+h.Epochs[1].Skipped > 0 || last.Scale[0] != 1<<26 {
		t.Errorf("%+v, %v, scale %g", h, err, last.Scale[0])
	}
}

// A validation of which no loss is a number ends training, and leaves the last parameters. A Source may change its length.
func TestOddValidation(t *testing.T) {
	good := bars(t, 100, 1)
	training := nn.Training{Epochs: 5, Rule: optim.Adam{}, LR: 0.01, Patience: 2, Validation: changed{Source: good, example: func(_ int, to [][]float64) { to[0][3] = math.NaN() }}}
	n := barNetwork(t, nn.Settings{Seed: 1})
	if h, err := n.Train(context.Background(), good, training); err != nil || len(h.Epochs) != 3 {
		t.Error(h, err)
	}
	want, err := n.Evaluate(context.Background(), good)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	shrinks := changed{Source: good, length: func() int { calls++; return max(10, 100-15*(calls-1)) }}
	if got, err := n.Evaluate(context.Background(), shrinks); err != nil || got.Loss != want.Loss {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	calls = 0
	if _, err := n.Train(context.Background(), shrinks, nn.Training{Epochs: 2, Rule: optim.Adam{}, LR: 0.01}); err != nil {
		t.Error(err)
	}
}

// States that Save was given stay what they are, also when training goes on from them twice. One that was changed is an error.
func TestKeptStates(t *testing.T) {
	data := bars(t, 100, 1)
	training := nn.Training{Epochs: 2, Rule: optim.Adam{}, LR: 0.01}
	var states []*nn.State
	saving := training
	saving.SaveEvery, saving.Save = 1, func(s *nn.State) error { states = append(states, s); return nil }
	whole := barNetwork(t, nn.Settings{Seed: 1})
	if _, err := whole.Train(context.Background(), data, saving); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		again := training
		again.Resume = states[1]
		other := barNetwork(t, nn.Settings{Seed: 1})
		if _, err := other.Train(context.Background(), data, again); err != nil {
			t.Fatal(err)
		}
		for name, w := range whole.Weights() {
			if !slices.Equal(w.Float64s(), other.Weights()[name].Float64s()) {
				t.Errorf("%s differs", name)
			}
		}
	}
	for name, harm := range map[string]func(s *nn.State){
		"step":            func(s *nn.State) { s.Step = -1 },
		"far step":        func(s *nn.State) { s.Step = math.MaxInt },
		"memory":          func(s *nn.State) { s.Memory = make([][]float64, len(s.Memory)) },
		"best epoch":      func(s *nn.State) { s.History.Best = -100 },
		"scale":           func(s *nn.State) { s.Scale[0] = math.NaN() },
		"best parameters": func(s *nn.State) { s.BestParams = []float64{1} },
	} {
		s := *states[1]
		harm(&s)
		again := training
		again.Resume = &s
		if _, err := barNetwork(t, nn.Settings{Seed: 1}).Train(context.Background(), data, again); err == nil || !strings.Contains(err.Error(), "does not fit this network") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// One saved without patience has no best parameters: those of an epoch to come are the best.
	patient := training
	patient.Resume, patient.Patience, patient.Validation = states[2], 5, data
	n := barNetwork(t, nn.Settings{Seed: 1})
	if _, err := n.Train(context.Background(), data, patient); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Evaluate(context.Background(), data); err != nil {
		t.Error(err)
	}
}

// Errors about examples count arrays from 1 and show no types of Go.
func TestArraysAreCountedFromOne(t *testing.T) {
	x, _ := tensor.From(make([]float64, 6), 3, 2)
	for _, c := range []struct {
		arrays []*tensor.Tensor
		want   string
	}{{[]*tensor.Tensor{x, nil}, "array 2 of 2 is missing"}, {[]*tensor.Tensor{nil, x}, "array 1 of 2 is missing"}} {
		if _, err := nn.Arrays(c.arrays...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
