// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn_test

import (
	"context"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/models/nn"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// With arrays of 16 bits on a device and a scaled loss, a convolutional and a recurrent network learn as they do in float32.
func TestTrainIn16Bits(t *testing.T) {
	pretend.Shared(t)
	s := tensor.NewStream(1, 8, 0)
	const n, steps = 64, 4
	x, y := make([]float64, n*steps), make([]float64, n)
	for k := range n {
		for i := range steps {
			x[k*steps+i] = float64(s.IntN(2))
		}
		y[k] = x[k*steps] // remembered to the end
	}
	bits, _ := tensor.From(x, n, steps, 1)
	labels, _ := tensor.From(y, n)
	memory, err := nn.Arrays(bits, labels)
	if err != nil {
		t.Fatal(err)
	}
	recurrent := func(m *nn.Model, in []*ad.Node) nn.Outputs {
		_, h, _ := m.LSTM("lstm", in[0], 8)
		return nn.Outputs{Loss: nn.CrossEntropy(m.Dense("out", h, 2), in[1], nn.Labels{})}
	}
	for _, c := range []struct {
		name   string
		build  nn.Build
		inputs []nn.Input
		data   nn.Source
		epochs int
	}{
		{"convolutions", convnet, barInputs, bars(t, 64, 8), 6},
		{"lstm", recurrent, []nn.Input{{Name: "bits", Shape: []int{steps, 1}, Later: true}, {Name: "first", Ints: true}}, memory, 20},
	} {
		train := func(backend ad.Backend, scale float64) (first, last nn.Epoch) {
			net, err := nn.New(c.build, c.inputs, nn.Settings{Seed: 6, Batch: 16, Backend: backend})
			if err != nil {
				t.Fatal(err)
			}
			h, err := net.Train(context.Background(), c.data, nn.Training{Epochs: c.epochs, Rule: optim.Adam{}, LR: 0.02, LossScale: scale})
			if err != nil {
				t.Fatalf("%s, %+v: %v", c.name, backend, err)
			}
			return h.Epochs[0], h.Epochs[len(h.Epochs)-1]
		}
		_, want := train(ad.CPU{}, 0)
		for _, storage := range []ad.Storage{ad.Float16, ad.BFloat16} {
			first, got := train(ad.CUDA{Storage: storage}, 1024)
			t.Logf("%s, %s: loss %.3f, then %.3f; in float32 %.3f", c.name, storage, first.Loss, got.Loss, want.Loss)
			if !(got.Loss < 0.8*first.Loss) || math.Abs(got.Loss-want.Loss) > 0.1 || got.Skipped > 1 {
				t.Errorf("%s, %s: loss %g, then %g with %d steps left out; in float32 %g", c.name, storage, first.Loss, got.Loss, got.Skipped, want.Loss)
			}
		}
	}
}
