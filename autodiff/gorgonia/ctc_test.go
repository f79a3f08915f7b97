// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// ctcCase is a loss of 5 steps, 2 sequences and 3 labels, and its log-probabilities.
func ctcCase(targets [][]int, steps, lengths []int, reduction G.Reduction) (loss, lp *G.Node) {
	g := G.NewGraph()
	rng := newSketch(3, gt.Float64)
	lp = G.NewTensor(g, G.Float64, 3, G.WithName("lp"), G.WithShape(5, 2, 3),
		G.WithValue(gt.New(gt.WithShape(5, 2, 3), gt.WithBacking(rng.normals(30)))))
	whole := func(name string, v []int, shape ...int) *G.Node {
		return G.NewTensor(g, gt.Int, len(shape), G.WithName(name), G.WithShape(shape...), G.WithValue(gt.New(gt.WithShape(shape...), gt.WithBacking(v))))
	}
	flat := slices.Concat(targets...)
	return must(G.CTCLoss(lp, whole("targets", flat, 2, len(flat)/2), whole("steps", steps, 2), whole("lengths", lengths, 2), reduction)), lp
}

// Gorgonia's gradient of the mean is that of the sum, and it takes the
// log-probabilities for those of a softmax. Ours is that of differences.
func TestCTCGradient(t *testing.T) {
	for _, reduction := range []G.Reduction{G.ReductionMean, G.ReductionSum} {
		loss, lp := ctcCase([][]int{{1, 1}, {2, 1}}, []int{5, 5}, []int{2, 2}, reduction)
		f, at := trained(t, loss, lp), slices.Clone(data(lp.Value()))
		value, grad := f(at)
		near(t, "gradient", 1e-8, grad, differences(f, at))
		f(at)
		right, _, err := byDo(loss)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "value", 1e-13, []float64{value}, right[0])
		grads, err := G.Grad(loss, lp)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "Gorgonia's derivative, run here", 1e-14, here(t, grads[0])[0], grad)
		theirs, _, err := byDo(loss, grads[0])
		if err != nil {
			t.Fatal(err)
		}
		differs(t, theirs[1], grad)
	}
}

// After a LogSoftMax Gorgonia's gradient of the mean over 2 sequences of 2 labels
// is 4 times what it should be.
func TestCTCGradientAfterSoftmax(t *testing.T) {
	x := tensorInput(G.NewGraph(), []int{5, 2, 3})
	whole := func(name string, v ...int) *G.Node {
		return G.NewVector(x.Graph(), gt.Int, G.WithName(name), G.WithShape(len(v)), G.WithValue(gt.New(gt.WithBacking(v))))
	}
	loss := must(G.CTCLoss(must(G.LogSoftMax(x, 2)), whole("targets", 1, 2, 2, 1), whole("steps", 5, 5), whole("lengths", 2, 2), G.ReductionMean))
	f, at := trained(t, loss, x), slices.Clone(data(x.Value()))
	_, grad := f(at)
	near(t, "gradient", 1e-8, grad, differences(f, at))
	f(at)
	grads, err := G.Grad(loss, x)
	if err != nil {
		t.Fatal(err)
	}
	theirs, _, err := byDo(loss, grads[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range grad {
		grad[i] *= 4
	}
	near(t, "Gorgonia", 1e-12, theirs[1], grad)
}

// The loss of nothing to read is that of blanks; what cannot be read has none.
func TestCTCEdges(t *testing.T) {
	loss, lp := ctcCase([][]int{{1}, {1}}, []int{5, 4}, []int{0, 0}, G.ReductionSum)
	blanks, v := 0.0, data(lp.Value())
	for step := range 5 {
		blanks -= v[step*6]
		if step < 4 {
			blanks -= v[step*6+3]
		}
	}
	near(t, "blanks", 1e-14, here(t, loss)[0], []float64{blanks})

	loss, _ = ctcCase([][]int{{1, 1, 1}, {1, 2, 1}}, []int{4, 5}, []int{3, 3}, G.ReductionSum)
	near(t, "three equal labels in four steps", 0, here(t, loss)[0], []float64{math.Inf(1)})
}

func TestCTCRefuses(t *testing.T) {
	for want, c := range map[string]struct{ targets, steps, lengths []int }{
		"sequence 1 has 6 steps":     {[]int{1, 2}, []int{5, 6}, []int{1, 1}},
		"sequence 0 has 0 steps":     {[]int{1, 2}, []int{0, 5}, []int{1, 1}},
		"1 has 5 steps and 2 labels": {[]int{1, 2}, []int{5, 5}, []int{1, 2}},
		"label 0 of sequence 1 is 3": {[]int{1, 3}, []int{5, 5}, []int{1, 1}},
	} {
		loss, lp := ctcCase([][]int{c.targets[:1], c.targets[1:]}, c.steps, c.lengths, G.ReductionMean)
		vm, err := bridge.NewTrainer(loss, lp)
		if err != nil {
			t.Fatal(err)
		}
		if err := vm.RunAll(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
