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
		{nn.Training{Frozen: []string{"weight", "bias"}}, "nothing to train"}} {
		c.training.Rule, c.training.LR = optim.Adam{}, 0.01
		if _, err := barNetwork(t, nn.Settings{}).Train(ctx, data, c.training); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// States that are kept in memory stay what they were when they were saved, also when training goes on from them.
func TestStatesInMemory(t *testing.T) {
	ctx, data := context.Background(), bars(t, 64, 1)
	var states []*nn.State
	training := nn.Training{Epochs: 3, Rule: optim.Adam{}, LR: 0.01}
	saving := training
	saving.Save = func(s *nn.State) error { states = append(states, s); return nil }
	whole := barNetwork(t, nn.Settings{Seed: 1})
	if _, err := whole.Train(ctx, data, saving); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		again := training
		again.Resume = states[0]
		n := barNetwork(t, nn.Settings{Seed: 1})
		if _, err := n.Train(ctx, data, again); err != nil {
			t.Fatal(err)
		}
		for name, w := range whole.Weights() {
			if !slices.Equal(w.Float64s(), n.Weights()[name].Float64s()) {
				t.Errorf("%s differs", name)
			}
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
		{Loss: 0.71234567, Values: map[string]float64{"accuracy": 0.5}, Validation: 0.7, Judged: map[string]float64{"accuracy": 0.55}, Rate: 0.1},
		{Loss: 0.5, Values: map[string]float64{"accuracy": 0.75}, Validation: 0.6, Judged: map[string]float64{"accuracy": 0.7}, Rate: 1e-3}}}
	want := `  epoch    loss  accuracy  validation loss  validation accuracy  learning rate
      1  0.7123       0.5              0.7                 0.55            0.1
     *2     0.5      0.75              0.6                  0.7          0.001
`
	if got := h.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Losses of weighted classes are those of PyTorch 2.15, float64.
func TestClassWeights(t *testing.T) {
	logits, labels := ad.Input("logits", 4, 3), ad.IntInput("labels", 4)
	values := [][]float64{{1, 2, -1, 0.5, 0, 0.25, -2, 1, 3, 0, 0, 1}, {0, 2, 1, 2}}
	weights := []float64{0.5, 2, 1}
	var outs []*ad.Node
	for _, s := range []nn.Labels{{}, {Ignore: []int{1}}, {Smoothing: 0.2}, {Smoothing: 0.2, Ignore: []int{1}}} {
		s.Weights = weights
		loss := nn.CrossEntropy(logits, labels, s)
		outs = append(outs, loss, ad.Slice(ad.Grad(loss, logits)[0], 0, 0, 1))
	}
	want := [][]float64{{1.469106527594883}, {-0.08227817107306454, 0.07837605696647124, 0.003902114106593303},
		{0.938115562688729}, {-0.14810070793151617, 0.14107690253964825, 0.007023805391867946},
		{1.477644346089495}, {-0.05977457224810397, 0.06964670919456728, -0.009872136946463297},
		{1.1090066515608688}, {-0.10759423004658715, 0.12536407655022114, -0.017769846503633932}}
	for i, got := range outputs(t, outs, []*ad.Node{logits, labels}, values, ad.Settings{}) {
		for k := range got {
			if math.Abs(got[k]-want[i][k]) > 1e-14 {
				t.Errorf("output %d is %v, want %v", i, got, want[i])
			}
		}
	}
	for _, s := range []nn.Labels{{Weights: []float64{1}}, {Smoothing: -0.1}} {
		if err := nn.CrossEntropy(logits, labels, s).Err(); err == nil || !strings.Contains(err.Error(), "a weight for each class") {
			t.Error(err)
		}
	}
}

// Of equal logits the first counts, and NaN is no success.
func TestTopAccuracy(t *testing.T) {
	logits, labels := ad.Input("logits", 5, 3), ad.IntInput("labels", 5)
	nan := math.NaN()
	values := [][]float64{{1, 2, 3, 3, 2, 1, 1, 1, 1, 1, 1, 1, nan, nan, nan}, {1, 0, 2, 0, 1}}
	outs := []*ad.Node{nn.TopAccuracy(logits, labels, 1), nn.TopAccuracy(logits, labels, 2), nn.Accuracy(ad.Slice(logits, 0, 0, 4), ad.FloorIndex(ad.Slice(ad.Float(labels), 0, 0, 4)))}
	got := outputs(t, outs, []*ad.Node{logits, labels}, values, ad.Settings{})
	if want := []float64{2. / 5, 3. / 5, 2. / 4}; math.Abs(got[0][0]-want[0])+math.Abs(got[1][0]-want[1])+math.Abs(got[2][0]-want[2]) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
	if err := nn.TopAccuracy(logits, labels, 4).Err(); err == nil || !strings.Contains(err.Error(), "1 to as many as there are classes") {
		t.Error(err)
	}
	if err := nn.GlobalAveragePool(logits).Err(); err == nil || !strings.Contains(err.Error(), "want (batch, channels, height, width)") {
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
		"squared error of results [32 1] and targets [32]": func(m *nn.Model, in []*ad.Node) *ad.Node { return nn.MSE(flat(m, in), ad.Float(in[1]), nn.Mean) },
		"reach beyond images": func(m *nn.Model, in []*ad.Node) *ad.Node {
			return m.Conv2D("c", in[0], 2, 9, ad.Convolution{})
		},
		"window reaches beyond": func(m *nn.Model, in []*ad.Node) *ad.Node { return ad.MaxPool2D(in[0], ad.Pooling{Size: [2]int{9, 2}}) },
		"results [32 1] and targets": func(m *nn.Model, in []*ad.Node) *ad.Node {
			return nn.BCEWithLogits(flat(m, in), ad.Float(in[1]), nn.Sum)
		},
		"and (steps, batch, inputs)": func(m *nn.Model, in []*ad.Node) *ad.Node { y, _ := m.RNN("r", nn.Flatten(in[0]), 2); return y },
	} {
		_, err := nn.New(build(f), barInputs, nn.Settings{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "training_test.go:") || strings.Count(err.Error(), ".go:") != 1 {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := nn.New(build(func(m *nn.Model, in []*ad.Node) *ad.Node { return m.Param("w", nil, 3) }), barInputs, nn.Settings{}); err == nil || !strings.Contains(err.Error(), "w has no initial values") {
		t.Error(err)
	}
	if _, err := nn.New(build(func(m *nn.Model, in []*ad.Node) *ad.Node { return m.BatchNorm("n", flat(m, in)) }), barInputs, nn.Settings{Batch: 1}); err == nil || !strings.Contains(err.Error(), "take a larger Settings.Batch") {
		t.Error(err)
	}
}

// A step whose gradient or update is not finite changes nothing, though its loss is finite.
func TestGradientNotFinite(t *testing.T) {
	n, err := nn.New(func(m *nn.Model, in []*ad.Node) nn.Outputs {
		return nn.Outputs{Loss: ad.Add(ad.Mean(m.Dense("a", nn.Flatten(in[0]), 1)), ad.Sum(ad.Sqrt(m.Param("w", nn.Constant(0), 3))))}
	}, barInputs, nn.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Train(context.Background(), bars(t, 32, 1), nn.Training{Rule: optim.SGD{}, LR: 0.1}); err == nil || !strings.Contains(err.Error(), "is not finite: look for roots of 0") {
		t.Error(err)
	}
	if w := n.Weights()["w"].Float64s(); !slices.Equal(w, []float64{0, 0, 0}) {
		t.Error(w)
	}
}

// Results can be predicted without the labels that only the loss needs.
func TestPredictWithoutLabels(t *testing.T) {
	ctx, n := context.Background(), barNetwork(t, nn.Settings{Seed: 1})
	x, err := tensor.From(make([]float64, 40*64), 40, 1, 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	images, err := nn.Arrays(x)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := n.Predict(ctx, images); err != nil || !p["probability"].Shape().Equal(tensor.Shape{40, 2}) {
		t.Errorf("%v, %v", p, err)
	}
	if _, err := n.Evaluate(ctx, images); err == nil || !strings.Contains(err.Error(), "1 arrays for a network of 2 inputs") {
		t.Error(err)
	}
	needs, err := nn.New(func(m *nn.Model, in []*ad.Node) nn.Outputs {
		y := m.Dense("a", nn.Flatten(in[0]), 1)
		return nn.Outputs{Loss: ad.Mean(y), Results: map[string]*ad.Node{"y": ad.Mul(y, ad.Reshape(ad.Float(in[1]), y.Shape()[0], 1))}}
	}, barInputs, nn.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := needs.Predict(ctx, images); err == nil || !strings.Contains(err.Error(), "depend on label too") {
		t.Error(err)
	}
	if _, err := nn.Arrays(); err == nil {
		t.Error("examples of no arrays")
	}
	short, _ := tensor.From(make([]float64, 3), 3)
	if _, err := nn.Arrays(x, short); err == nil || !strings.Contains(err.Error(), "of 3 examples, and the first [40 1 8 8], of 40") {
		t.Error(err)
	}
}
