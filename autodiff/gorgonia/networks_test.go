// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// netInputs makes the inputs of a network from one stream of random numbers.
type netInputs struct {
	g   *G.ExprGraph
	rng *rand.Rand
	w   G.Nodes // trained
}

func (l *netInputs) array(scale float64, s ...int) *G.Node {
	d := make([]float64, gt.Shape(s).TotalSize())
	for i := range d {
		d[i] = scale * l.rng.NormFloat64()
	}
	return G.NewTensor(l.g, G.Float64, len(s), G.WithName(fmt.Sprint("n", len(l.g.AllNodes()))), G.WithShape(s...), G.WithValue(gt.New(gt.WithShape(s...), gt.WithBacking(d))))
}

func (l *netInputs) weights(scale float64, s ...int) *G.Node {
	w := l.array(scale, s...)
	l.w = append(l.w, w)
	return w
}

func (l *netInputs) dense(x *G.Node, outputs int) *G.Node {
	return must(G.BroadcastAdd(must(G.Mul(x, l.weights(0.3, x.Shape()[1], outputs))), l.weights(0.1, 1, outputs), nil, []byte{0}))
}

func (l *netInputs) conv(x *G.Node, outputs, size, stride int) *G.Node {
	return must(G.Conv2d(x, l.weights(0.3, outputs, x.Shape()[1], size, size), gt.Shape{size, size}, []int{size / 2, size / 2}, []int{stride, stride}, []int{1, 1}))
}

// classes is the cross entropy of scores with classes in turn.
func (l *netInputs) classes(scores *G.Node) *G.Node {
	n, k := scores.Shape()[0], scores.Shape()[1]
	one := make([]float64, n*k)
	for i := range n {
		one[i*k+i%k] = 1
	}
	target := G.NewMatrix(l.g, G.Float64, G.WithName("target"), G.WithShape(n, k), G.WithValue(gt.New(gt.WithShape(n, k), gt.WithBacking(one))))
	return must(G.Neg(must(G.Mean(must(G.HadamardProd(must(G.Log(must(G.SoftMax(scores, 1)))), target))))))
}

func (l *netInputs) square(x *G.Node) *G.Node { return must(G.Mean(must(G.Square(x)))) }

func (l *netInputs) flat(x *G.Node) *G.Node {
	s := x.Shape()
	return must(G.Reshape(x, gt.Shape{s[0], s.TotalSize() / s[0]}))
}

// networks are the kinds of networks of Gorgonia's own examples.
var networks = map[string]func(l *netInputs) *G.Node{
	"logistic regression": func(l *netInputs) *G.Node {
		p := must(G.Sigmoid(l.dense(l.array(1, 12, 4), 1)))
		return l.square(must(G.Sub(p, l.array(0.3, 12, 1))))
	},
	"perceptron": func(l *netInputs) *G.Node {
		return l.classes(l.dense(must(G.Tanh(l.dense(must(G.Rectify(l.dense(l.array(1, 9, 6), 8))), 5))), 3))
	},
	"convolutions": func(l *netInputs) *G.Node {
		h := must(G.MaxPool2D(must(G.Rectify(l.conv(l.array(1, 4, 1, 12, 12), 4, 3, 1))), gt.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
		h = must(G.MaxPool2D(must(G.Rectify(l.conv(h, 6, 3, 1))), gt.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
		return l.classes(l.dense(l.flat(h), 3))
	},
	"autoencoder": func(l *netInputs) *G.Node {
		x := l.array(1, 10, 7)
		return l.square(must(G.Sub(l.dense(must(G.Sigmoid(l.dense(must(G.Tanh(l.dense(x, 5))), 2))), 7), x)))
	},
	"long short-term memory": func(l *netInputs) *G.Node {
		const steps, rows, inputs, units = 4, 3, 2, 4
		var wx, wh, b [4]*G.Node
		for k := range 4 {
			wx[k], wh[k], b[k] = l.weights(0.4, inputs, units), l.weights(0.4, units, units), l.weights(0.1, 1, units)
		}
		h, c := l.array(0, rows, units), l.array(0, rows, units)
		for range steps {
			x := l.array(1, rows, inputs)
			gate := func(k int) *G.Node {
				return must(G.BroadcastAdd(must(G.Add(must(G.Mul(x, wx[k])), must(G.Mul(h, wh[k])))), b[k], nil, []byte{0}))
			}
			c = must(G.Add(must(G.HadamardProd(must(G.Sigmoid(gate(0))), c)), must(G.HadamardProd(must(G.Sigmoid(gate(1))), must(G.Tanh(gate(2)))))))
			h = must(G.HadamardProd(must(G.Sigmoid(gate(3))), must(G.Tanh(c))))
		}
		return l.square(must(G.Sub(h, l.array(0.5, rows, units))))
	},
	"detector": func(l *netInputs) *G.Node { // two scales, joined, as in YOLO
		leaky := func(x *G.Node) *G.Node { return must(G.LeakyRelu(x, 0.1)) }
		fine := leaky(l.conv(l.array(1, 2, 2, 8, 8), 4, 3, 1))
		coarse := leaky(l.conv(fine, 6, 3, 2))
		joined := must(G.Concat(1, fine, must(G.Upsample2D(leaky(l.conv(coarse, 3, 1, 1)), 2))))
		return l.square(must(G.Sub(l.conv(joined, 5, 1, 1), l.array(0.5, 2, 5, 8, 8))))
	},
}

// Networks as in Gorgonia's examples train to the same weights as by TapeMachine, in 50 steps.
func TestNetworksTrainTheSame(t *testing.T) {
	for name, build := range networks {
		t.Run(name, func(t *testing.T) {
			train := func(ours bool) (losses, weights []float64) {
				l := &netInputs{g: G.NewGraph(), rng: rand.New(rand.NewPCG(4, 2))}
				cost := build(l)
				var seen G.Value
				G.Read(cost, &seen)
				var vm G.VM
				if ours {
					m, err := bridge.NewTrainer(cost, l.w...)
					if err != nil {
						t.Fatal(err)
					}
					vm = m
				} else {
					if _, err := G.Grad(cost, l.w...); err != nil {
						t.Fatal(err)
					}
					vm = G.NewTapeMachine(l.g, G.BindDualValues(l.w...))
				}
				defer vm.Close()
				solver := G.NewAdamSolver(G.WithLearnRate(0.01))
				for range 50 {
					if err := vm.RunAll(); err != nil {
						t.Fatal(err)
					}
					if err := solver.Step(G.NodesToValueGrads(l.w)); err != nil {
						t.Fatal(err)
					}
					vm.Reset()
					losses = append(losses, data(seen)[0])
				}
				for _, n := range l.w {
					weights = append(weights, data(n.Value())...)
				}
				return losses, weights
			}
			losses, weights := train(false)
			if losses[49] > 0.98*losses[0] {
				t.Errorf("TapeMachine's loss went from %g to %g only", losses[0], losses[49])
			}
			l, w := train(true)
			near(t, "losses", 1e-7, l, losses)
			near(t, "weights", 1e-6, w, weights)
		})
	}
}
