// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn_test

import (
	"context"
	"math"
	"runtime"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/models/nn"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// raced is a network of scripts/peers/nn.py with its examples.
type raced struct {
	name, what     string
	examples       int
	batch, classes int
	words          int
	shape          []int
	later          bool
	rule           optim.Rule
	result         func(m *nn.Model, x *ad.Node) *ad.Node
}

func depthwise(m *nn.Model, name string, x *ad.Node) *ad.Node {
	c := x.Shape()[1]
	x = nn.ReLU6(m.BatchNorm(name+".norm1", m.Conv2D(name+".each", x, c, 3, ad.Convolution{Pad: [2]int{1, 1}, Groups: c})))
	return nn.ReLU6(m.BatchNorm(name+".norm2", m.Conv2D(name+".all", x, 2*c, 1, ad.Convolution{})))
}

func block(m *nn.Model, name string, x *ad.Node) *ad.Node {
	x = ad.Add(x, m.Attention(name+".attention", m.LayerNorm(name+".norm1", x), 4, true))
	return ad.Add(x, m.Dense(name+".narrow", nn.GELU(m.Dense(name+".wide", m.LayerNorm(name+".norm2", x), 256)), 64))
}

var races = []raced{
	{"convnet", "2048 images of 28x28 through two convolutions", 2048, 64, 10, 0, []int{1, 28, 28}, false, optim.Adam{}, func(m *nn.Model, x *ad.Node) *ad.Node {
		same, half := ad.Convolution{Pad: [2]int{1, 1}}, ad.Pooling{Size: [2]int{2, 2}}
		h := ad.MaxPool2D(nn.ReLU(m.BatchNorm("norm1", m.Conv2D("conv1", x, 16, 3, same))), half)
		h = ad.MaxPool2D(nn.ReLU(m.BatchNorm("norm2", m.Conv2D("conv2", h, 32, 3, same))), half)
		return m.Dense("out", nn.ReLU(m.Dense("dense", nn.Flatten(h), 64)), 10)
	}},
	{"depthwise", "256 images of 16x32x32 through depthwise convolutions", 256, 32, 10, 0, []int{16, 32, 32}, false, optim.Adam{}, func(m *nn.Model, x *ad.Node) *ad.Node {
		h := depthwise(m, "b", depthwise(m, "a", x))
		return m.Dense("out", nn.Flatten(ad.AdaptiveAveragePool2D(h, 1, 1)), 10)
	}},
	{"mlp", "8192 spectra of 512 points through three layers", 8192, 128, 0, 0, []int{512}, false, optim.Adam{}, func(m *nn.Model, x *ad.Node) *ad.Node {
		return m.Dense("c", nn.SiLU(m.Dense("b", nn.SiLU(m.Dense("a", x, 256)), 256)), 5)
	}},
	{"lstm", "1024 sequences of 60 steps through an LSTM of 64 units", 1024, 64, 4, 0, []int{60, 8}, true, optim.Adam{}, func(m *nn.Model, x *ad.Node) *ad.Node {
		_, h, _ := m.LSTM("layer", x, 64)
		return m.Dense("out", h, 4)
	}},
	{"transformer", "512 texts of 64 words through two blocks of attention", 512, 32, 4, 100, []int{64}, false, optim.Adam{Decoupled: true, WeightDecay: 0.01}, func(m *nn.Model, x *ad.Node) *ad.Node {
		h := block(m, "b", block(m, "a", m.Embedding("words", x, 100, 64)))
		return m.Dense("out", ad.MeanAxes(h, 1), 4)
	}},
}

// train returns a function that trains for an epoch, on so many threads.
func (r raced) train(b *testing.B, threads int) func() error {
	build := func(m *nn.Model, in []*ad.Node) nn.Outputs {
		y := r.result(m, in[0])
		if r.classes > 0 {
			return nn.Outputs{Loss: nn.CrossEntropy(y, in[1], nn.Labels{})}
		}
		return nn.Outputs{Loss: nn.MSE(y, in[1], nn.Mean)}
	}
	target := nn.Input{Name: "y", Ints: r.classes > 0}
	size := []int{r.examples}
	if r.classes == 0 {
		target.Shape, size = []int{5}, []int{r.examples, 5}
	}
	net, err := nn.New(build, []nn.Input{{Name: "x", Shape: r.shape, Ints: r.words > 0, Later: r.later}, target}, nn.Settings{Seed: 1, Batch: r.batch, Backend: ad.CPU{Threads: threads}})
	if err != nil {
		b.Fatal(err)
	}
	draw := func(seed uint64, classes int, shape []int) *tensor.Tensor {
		s := tensor.NewStream(seed, 4, 0)
		v := make([]float64, tensor.Shape(shape).Size())
		for i := range v {
			if v[i] = s.Normal(); classes > 0 {
				v[i] = float64(s.IntN(classes))
			}
		}
		x, err := tensor.From(v, shape...)
		if err != nil {
			b.Fatal(err)
		}
		return x
	}
	data, err := nn.Arrays(draw(1, r.words, append([]int{r.examples}, r.shape...)), draw(2, r.classes, size))
	if err != nil {
		b.Fatal(err)
	}
	return func() error {
		_, err := net.Train(context.Background(), data, nn.Training{Epochs: 1, Rule: r.rule, LR: 1e-3})
		return err
	}
}

// BenchmarkPeerTrain trains networks for an epoch; ours are compiled each time.
func BenchmarkPeerTrain(b *testing.B) {
	for _, r := range races {
		b.Run(r.name, func(b *testing.B) {
			ours := map[int]func() error{1: r.train(b, 1), 2: r.train(b, 2)}
			peer.Race{
				Name: r.what + ", an epoch, float32", Ours: func() (peer.Done, error) { return peer.Done{Check: math.NaN()}, ours[runtime.GOMAXPROCS(0)]() },
				Peers: []peer.Rival{{Name: "PyTorch", Script: "nn.py", Args: []string{r.name}}}, Single: true,
			}.Run(b)
		})
	}
}

// BenchmarkTrain trains the same networks for an epoch on one thread.
func BenchmarkTrain(b *testing.B) {
	for _, r := range races {
		b.Run(r.name, func(b *testing.B) {
			train := r.train(b, 1)
			for b.Loop() {
				if err := train(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.examples)*float64(b.N)/b.Elapsed().Seconds(), "examples/s")
		})
	}
}
