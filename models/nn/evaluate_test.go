// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn_test

import (
	"context"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/nn"
	"github.com/euryale-dev/euryale/tensor"
)

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
	if _, err := n.Evaluate(ctx, images); err == nil || !strings.Contains(err.Error(), "1 arrays, but the network has 2 inputs") {
		t.Error(err)
	}
	needs, err := nn.New(func(m *nn.Model, in []*ad.Node) nn.Outputs {
		y := m.Dense("a", nn.Flatten(in[0]), 1)
		return nn.Outputs{Loss: ad.Mean(y), Results: map[string]*ad.Node{"y": ad.Mul(y, ad.Reshape(ad.Float(in[1]), y.Shape()[0], 1))}}
	}, barInputs, nn.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := needs.Predict(ctx, images); err == nil || !strings.Contains(err.Error(), "depend on input label too") {
		t.Error(err)
	}
	if _, err := nn.Arrays(); err == nil {
		t.Error("examples of no arrays")
	}
	short, _ := tensor.From(make([]float64, 3), 3)
	if _, err := nn.Arrays(x, short); err == nil || !strings.Contains(err.Error(), "with 3 examples, but the first has [40 1 8 8], with 40") {
		t.Error(err)
	}
}
