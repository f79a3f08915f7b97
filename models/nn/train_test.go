// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/models/nn"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// bars are images of 8 x 8 with a bar that lies (0) or stands (1), and noise.
func bars(t *testing.T, n int, seed uint64) nn.Source {
	t.Helper()
	s := tensor.NewStream(seed, 9, 0)
	images, labels := make([]float64, n*64), make([]float64, n)
	for k := range n {
		labels[k] = float64(s.IntN(2))
		at := s.IntN(8)
		for i := range 64 {
			images[64*k+i] = 0.4 * s.Normal()
			if labels[k] == 0 && i/8 == at || labels[k] == 1 && i%8 == at {
				images[64*k+i]++
			}
		}
	}
	x, err := tensor.From(images, n, 1, 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	y, err := tensor.From(labels, n)
	if err != nil {
		t.Fatal(err)
	}
	source, err := nn.Arrays(x, y)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// convnet is a small network with all that makes training and evaluation differ.
func convnet(m *nn.Model, in []*ad.Node) nn.Outputs {
	h := nn.ReLU(m.BatchNorm("norm", m.Conv2D("conv", in[0], 4, 3, ad.Convolution{Pad: [2]int{1, 1}})))
	h = m.Dropout(nn.Flatten(ad.MaxPool2D(h, ad.Pooling{Size: [2]int{2, 2}})), 0.2)
	logits := m.Dense("out", h, 2)
	return nn.Outputs{Loss: nn.CrossEntropy(logits, in[1], nn.Labels{}), Values: map[string]*ad.Node{"accuracy": nn.Accuracy(logits, in[1])},
		Results: map[string]*ad.Node{"probability": ad.Softmax(logits, 1)}}
}

var barInputs = []nn.Input{{Name: "image", Shape: []int{1, 8, 8}}, {Name: "label", Ints: true}}

func barNetwork(t *testing.T, s nn.Settings) *nn.Network {
	t.Helper()
	n, err := nn.New(convnet, barInputs, s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTrain(t *testing.T) {
	n := barNetwork(t, nn.Settings{Seed: 2})
	test := bars(t, 201, 77)
	h, err := n.Train(context.Background(), bars(t, 500, 1), nn.Training{Epochs: 20, Rule: optim.Adam{}, LR: 0.01, Validation: test, Patience: 4, ClipNorm: 5})
	if err != nil {
		t.Fatal(err)
	}
	e, err := n.Evaluate(context.Background(), test)
	if err != nil {
		t.Fatal(err)
	}
	best := h.Epochs[h.Best]
	if e.Values["accuracy"] < 0.97 || math.Abs(e.Loss-best.Validation) > 1e-6 || len(h.Epochs) > h.Best+1+4 {
		t.Errorf("accuracy %g, loss %g; best of %d epochs is %d with %g", e.Values["accuracy"], e.Loss, len(h.Epochs), h.Best, best.Validation)
	}
	p, err := n.Predict(context.Background(), test)
	if err != nil {
		t.Fatal(err)
	}
	if s := p["probability"].Shape(); !s.Equal(tensor.Shape{201, 2}) {
		t.Error(s)
	}
	again := barNetwork(t, nn.Settings{Seed: 5})
	if err := again.SetWeights(n.Weights()); err != nil {
		t.Fatal(err)
	}
	if f, err := again.Evaluate(context.Background(), test); err != nil || f.Loss != e.Loss {
		t.Errorf("other weights: %v, %v", f, err)
	}
	w := n.Weights()
	delete(w, "out.bias")
	w["more"] = w["norm.weight"]
	if err := again.SetWeights(w); err == nil || !strings.Contains(err.Error(), "lack out.bias") || !strings.Contains(err.Error(), "weights more, which the network does not have") {
		t.Error(err)
	}
}

// A run that was interrupted goes on with the same bits, from a state that was written and read.
func TestResume(t *testing.T) {
	data := bars(t, 150, 3)
	for _, s := range []nn.Settings{{Seed: 4, Batch: 20}, {Seed: 4, Batch: 20, Precision: 64}} {
		training := nn.Training{Epochs: 4, Rule: optim.SGD{Momentum: 0.9, Nesterov: true}, LR: 0.05, Schedule: optim.OneCycle(28, 0.3), LossScale: 128, ScaleEvery: 5}
		whole := barNetwork(t, s)
		want, err := whole.Train(context.Background(), data, training)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var file bytes.Buffer
		cut := training
		cut.Progress = func(p nn.Progress) {
			if p.Step == 11 {
				cancel()
			}
		}
		cut.Save = func(s *nn.State) error {
			file.Reset()
			return nn.WriteState(&file, s)
		}
		part := barNetwork(t, s)
		if _, err := part.Train(ctx, data, cut); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		state, err := nn.ReadState(&file)
		if err != nil {
			t.Fatal(err)
		}
		if state.Step != 11 {
			t.Errorf("interrupted after %d steps, want 11", state.Step)
		}
		rest := training
		rest.Resume = state
		other := barNetwork(t, s)
		got, err := other.Train(context.Background(), data, rest)
		if err != nil {
			t.Fatal(err)
		}
		for name, w := range whole.Weights() {
			if !slices.Equal(w.Float64s(), other.Weights()[name].Float64s()) {
				t.Errorf("%s differs", name)
			}
		}
		if len(got.Epochs) != len(want.Epochs) || got.Epochs[1].Loss != want.Epochs[1].Loss {
			t.Errorf("%v, want %v", got.Epochs, want.Epochs)
		}
		rest.LR *= 2
		if _, err := other.Train(context.Background(), data, rest); err == nil || !strings.Contains(err.Error(), "is not this one") {
			t.Error(err)
		}
	}
}

// Steps whose gradient overflows are left out.
func TestLossScale(t *testing.T) {
	n := barNetwork(t, nn.Settings{Seed: 1})
	before := n.Weights()["out.weight"].Float64s()
	h, err := n.Train(context.Background(), bars(t, 32, 1), nn.Training{Epochs: 3, Rule: optim.Adam{}, LR: 0.01, LossScale: 3e38})
	if err != nil {
		t.Fatal(err)
	}
	skipped := 0
	for _, e := range h.Epochs {
		skipped += e.Skipped
	}
	if skipped == 0 || skipped == 3 && !slices.Equal(before, n.Weights()["out.weight"].Float64s()) {
		t.Errorf("%d steps were left out", skipped)
	}
}

// A network trains on a device as on the processor, but for rounding.
func TestTrainOnDevice(t *testing.T) {
	pretend.Shared(t)
	data := bars(t, 40, 8)
	var losses []float64
	for _, backend := range []ad.Backend{ad.CPU{}, ad.CUDA{}} {
		n, err := nn.New(convnet, barInputs, nn.Settings{Seed: 6, Batch: 10, Precision: 64, Backend: backend})
		if err != nil {
			t.Fatal(err)
		}
		h, err := n.Train(context.Background(), data, nn.Training{Epochs: 2, Rule: optim.Adam{AMSGrad: true, WeightDecay: 0.1}, LR: 0.01, Frozen: []string{"conv.bias"}, Spared: []string{"bias"}})
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, h.Epochs[1].Loss)
	}
	if math.Abs(losses[0]-losses[1]) > 1e-10 {
		t.Errorf("the loss is %.15g on the processor and %.15g on the device", losses[0], losses[1])
	}
}

// Parameters and the memory of the rule stay on the device: a step sends its examples, random numbers and rates, and fetches the loss and the values.
func TestParametersStayOnTheDevice(t *testing.T) {
	pretend.Shared(t)
	d, err := ad.DeviceFor(ad.CUDA{}, ad.Need{})
	if err != nil {
		t.Fatal(err)
	}
	data := bars(t, 40, 8)
	traffic := func(epochs int) (sent, fetched int) {
		n, err := nn.New(convnet, barInputs, nn.Settings{Seed: 6, Batch: 10, Precision: 64, Backend: ad.CUDA{}})
		if err != nil {
			t.Fatal(err)
		}
		d.ResetPeak()
		if _, err := n.Train(context.Background(), data, nn.Training{Epochs: epochs, Rule: optim.Adam{AMSGrad: true}, LR: 0.01}); err != nil {
			t.Fatal(err)
		}
		return int(d.Stats().Sent), int(d.Stats().Fetched)
	}
	sent, fetched := traffic(2)
	later, back := traffic(12)
	const steps, examples = 10 * 4, 10 * 8 * (64 + 1 + 64) // with the random numbers of the dropout
	if sent, fetched = (later-sent)/steps, (back-fetched)/steps; sent > examples+100 || fetched > 100 {
		t.Errorf("a step sends %d B, of which examples are %d, and fetches %d B", sent, examples, fetched)
	}
}

// Recurrent layers learn the parity of a few bits, which no layer without memory can.
func TestRecurrent(t *testing.T) {
	const n, steps = 256, 6
	s := tensor.NewStream(1, 8, 0)
	x, y := make([]float64, n*steps), make([]float64, n)
	for k := range n {
		parity := 0
		for i := range steps {
			bit := s.IntN(2)
			parity ^= bit
			x[k*steps+i] = float64(bit)
		}
		y[k] = float64(parity)
	}
	bits, _ := tensor.From(x, n, steps, 1)
	labels, _ := tensor.From(y, n)
	data, err := nn.Arrays(bits, labels)
	if err != nil {
		t.Fatal(err)
	}
	for name, layer := range map[string]func(m *nn.Model, x *ad.Node) *ad.Node{
		"lstm": func(m *nn.Model, x *ad.Node) *ad.Node { _, h, _ := m.LSTM("lstm", x, 16); return h },
		"gru":  func(m *nn.Model, x *ad.Node) *ad.Node { _, h := m.GRU("gru", x, 16); return h },
	} {
		net, err := nn.New(func(m *nn.Model, in []*ad.Node) nn.Outputs {
			logits := m.Dense("out", layer(m, in[0]), 2)
			return nn.Outputs{Loss: nn.CrossEntropy(logits, in[1], nn.Labels{}), Values: map[string]*ad.Node{"accuracy": nn.Accuracy(logits, in[1])}}
		}, []nn.Input{{Name: "bits", Shape: []int{steps, 1}, Later: true}, {Name: "parity", Ints: true}}, nn.Settings{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := net.Train(context.Background(), data, nn.Training{Epochs: 150, Rule: optim.Adam{}, LR: 0.01}); err != nil {
			t.Fatal(err)
		}
		if e, err := net.Evaluate(context.Background(), data); err != nil || e.Values["accuracy"] < 0.99 {
			t.Errorf("%s: %v %v", name, e, err)
		}
	}
}

// Frozen parameters stay, and weight decay leaves spared ones alone.
func TestFrozenAndSpared(t *testing.T) {
	ctx, data := context.Background(), bars(t, 64, 1)
	for _, rule := range []optim.Rule{optim.SGD{Momentum: 0.9, WeightDecay: 0.1}, optim.Adam{Decoupled: true, WeightDecay: 0.1}, optim.RMSProp{WeightDecay: 0.1}} {
		n := barNetwork(t, nn.Settings{Seed: 1})
		before := n.Weights()
		if _, err := n.Train(ctx, data, nn.Training{Epochs: 2, Rule: rule, LR: 0.01, ClipNorm: 1, Frozen: []string{"conv", "norm.weight"}}); err != nil {
			t.Fatal(err)
		}
		for name, w := range n.Weights() {
			frozen := strings.HasPrefix(name, "conv.") || name == "norm.weight"
			if same := slices.Equal(w.Float64s(), before[name].Float64s()); same != frozen {
				t.Errorf("%T: %s is the same: %v", rule, name, same)
			}
		}
	}
	// With a loss that does not depend on the parameters, only weight decay moves them.
	build := func(m *nn.Model, in []*ad.Node) nn.Outputs {
		return nn.Outputs{Loss: ad.Mean(ad.Scale(0, ad.Square(m.Dense("a", m.Dense("b", nn.Flatten(in[0]), 3), 2))))}
	}
	n, err := nn.New(build, barInputs, nn.Settings{Precision: 64})
	if err != nil {
		t.Fatal(err)
	}
	before := n.Weights()
	if _, err := n.Train(ctx, data, nn.Training{Epochs: 1, Rule: optim.SGD{WeightDecay: 0.5}, LR: 0.5, Spared: []string{"bias", "b"}}); err != nil {
		t.Fatal(err)
	}
	for name, w := range n.Weights() {
		want := 1.0
		if name == "a.weight" {
			want = 0.75 * 0.75 // two steps of 1 - 0.5 0.5
		}
		if got := w.Float64s()[0] / before[name].Float64s()[0]; math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is multiplied by %g, want %g", name, got, want)
		}
	}
	for _, c := range []struct {
		training nn.Training
		want     string
	}{{nn.Training{Frozen: []string{"conv.wieght"}}, "did you mean conv.weight?"}, {nn.Training{Spared: []string{"everything"}}, "the parameters are conv.weight, conv.bias"},
		{nn.Training{Frozen: []string{"weight", "bias"}}, "nothing to train"}, {nn.Training{Patience: -1}, "Training.Patience is -1"},
		{nn.Training{ClipNorm: math.NaN()}, "Training.ClipNorm is NaN"}} {
		c.training.Rule, c.training.LR = optim.Adam{}, 0.01
		if _, err := barNetwork(t, nn.Settings{}).Train(ctx, data, c.training); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// A Patience of all epochs keeps the best without ending early; the table of the history has a row for each epoch.
func TestHistory(t *testing.T) {
	ctx, unseen := context.Background(), bars(t, 40, 7)
	n := barNetwork(t, nn.Settings{Seed: 1})
	var rates []float64
	h, err := n.Train(ctx, bars(t, 64, 1), nn.Training{Epochs: 4, Rule: optim.SGD{}, LR: 0.5, Schedule: optim.StepDecay(2, 0.5), Validation: unseen, Patience: 4,
		Progress: func(p nn.Progress) { rates = append(rates, p.Rate) }})
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{0.5, 0.5, 0.25, 0.25, 0.125, 0.125, 0.0625, 0.0625}; !slices.Equal(rates, want) {
		t.Errorf("learning rates %v, want %v", rates, want)
	}
	e, err := n.Evaluate(ctx, unseen)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Epochs) != 4 || math.Abs(e.Loss-h.Epochs[h.Best].Validation) > 1e-6 {
		t.Errorf("loss %g after %d epochs, best %g", e.Loss, len(h.Epochs), h.Epochs[h.Best].Validation)
	}
	h = &nn.History{Best: 1, Epochs: []nn.Epoch{
		{Loss: 0.71234567, Values: map[string]float64{"accuracy": 0.5}, Validation: 0.7, ValidationValues: map[string]float64{"accuracy": 0.55}, Rate: 0.1},
		{Loss: 0.5, Values: map[string]float64{"accuracy": 0.75}, Validation: 0.6, ValidationValues: map[string]float64{"accuracy": 0.7}, Rate: 1e-3}}}
	want := `  epoch    loss  accuracy  validation loss  validation accuracy  learning rate
      1  0.7123       0.5              0.7                 0.55            0.1
     *2     0.5      0.75              0.6                  0.7          0.001
`
	if got := h.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
