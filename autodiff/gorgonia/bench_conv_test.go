// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

func BenchmarkConvNet(b *testing.B) {
	for _, typ := range []gt.Dtype{gt.Float64, gt.Float32} {
		convNets(b, typ, "", 8, 1, 28, 16, 32)
		convNets(b, typ, "/wide", 16, 3, 32, 32, 64)
	}
}

// convNets times a network of two convolutions, with so many channels, on images of a size.
func convNets(b *testing.B, typ gt.Dtype, label string, batch, channels, size, first, second int) {
	build := func() (*G.Node, G.Nodes) {
		g := G.NewGraph()
		in := func(name string, s ...int) *G.Node {
			return G.NewTensor(g, typ, len(s), G.WithName(name), G.WithShape(s...), G.WithInit(G.GlorotN(1)))
		}
		x, w, w2 := in("x", batch, channels, size, size), in("w", first, channels, 3, 3), in("w2", second, first, 3, 3)
		y := must(G.Rectify(must(G.Conv2d(x, w, gt.Shape{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}))))
		y = must(G.MaxPool2D(y, gt.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
		y = must(G.Rectify(must(G.Conv2d(y, w2, gt.Shape{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}))))
		y = must(G.MaxPool2D(y, gt.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
		return must(G.Mean(must(G.Square(y)))), G.Nodes{w, w2}
	}
	b.Run(typ.String()+label+"/ours", func(b *testing.B) {
		cost, w := build()
		vm, err := bridge.NewTrainer(cost, w...)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := vm.RunAll(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run(typ.String()+label+"/tape", func(b *testing.B) {
		cost, w := build()
		if _, err := G.Grad(cost, w...); err != nil {
			b.Fatal(err)
		}
		vm := G.NewTapeMachine(cost.Graph())
		for b.Loop() {
			if err := vm.RunAll(); err != nil {
				b.Fatal(err)
			}
			vm.Reset()
		}
	})
}
