// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn_test

import (
	"context"
	"fmt"
	"log"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/nn"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// This example trains a network with one hidden layer to tell points within a circle from those
// outside it. No straight line could separate the two.
func Example() {
	ctx := context.Background()
	var points, labels []float64
	for i := range 20 {
		for j := range 20 {
			x, y := float64(i)/9.5-1, float64(j)/9.5-1
			inside := 0.0
			if x*x+y*y < 0.5 {
				inside = 1
			}
			points, labels = append(points, x, y), append(labels, inside)
		}
	}
	x, err := tensor.From(points, 400, 2)
	if err != nil {
		log.Fatal(err)
	}
	y, err := tensor.From(labels, 400)
	if err != nil {
		log.Fatal(err)
	}
	data, err := nn.Arrays(x, y)
	if err != nil {
		log.Fatal(err)
	}
	build := func(m *nn.Model, in []*ad.Node) nn.Outputs {
		h := nn.SiLU(m.Dense("hidden", in[0], 16))
		logits := m.Dense("out", h, 2)
		return nn.Outputs{Loss: nn.CrossEntropy(logits, in[1], nn.Labels{}), Values: map[string]*ad.Node{"accuracy": nn.Accuracy(logits, in[1])}}
	}
	net, err := nn.New(build, []nn.Input{{Name: "point", Shape: []int{2}}, {Name: "label", Ints: true}}, nn.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := net.Train(ctx, data, nn.Training{Epochs: 60, Rule: optim.Adam{}, LR: 0.02}); err != nil {
		log.Fatal(err)
	}
	e, err := net.Evaluate(ctx, data)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(net.Size(), "parameters:", net.Names())
	fmt.Println("more than 95 % of the points are right:", e.Values["accuracy"] > 0.95)
	// Output:
	// 82 parameters: [hidden.weight hidden.bias out.weight out.bias]
	// more than 95 % of the points are right: true
}
