// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"
)

// layers is the part of the table of operations of neural networks.
func layers() []operation {
	return []operation{
		{name: "SoftMax", draw: func(s *sketch) []*G.Node { x := s.array(); return one(G.SoftMax(x, s.axis(x)...)) }},
		{name: "LogSoftMax", draw: func(s *sketch) []*G.Node { x := s.array(); return one(G.LogSoftMax(x, s.axis(x)...)) }},
		{name: "Sparsemax", wrong: true, draw: func(s *sketch) []*G.Node {
			x := s.array()
			return one(G.Sparsemax(x, s.axis(x)...))
		}},
		{name: "BinaryXent", draw: func(s *sketch) []*G.Node {
			x := s.any()
			return one(G.BinaryXent(s.share(x), must(G.Sigmoid(s.shaped(x.Shape()...)))))
		}},
		{name: "Dropout", wrong: true, draw: func(s *sketch) []*G.Node {
			return one(G.Dropout(s.array(), map[bool]float64{true: 0.3}[s.eval]))
		}},
		{name: "Im2Col", draw: func(s *sketch) []*G.Node {
			x, kernel, pad, stride := s.window()
			return one(G.Im2Col(x, kernel, pad, stride, []int{1, 1}))
		}},
		{name: "Conv2d", draw: func(s *sketch) []*G.Node {
			x, kernel, pad, stride := s.window()
			w := s.shaped(1+s.IntN(2), x.Shape()[1], kernel[0], kernel[1])
			return one(G.Conv2d(s.small(x), s.small(w), kernel, pad, stride, []int{1, 1}))
		}},
		{name: "Conv1d", draw: func(s *sketch) []*G.Node {
			k := 1 + s.IntN(2)
			x := s.shaped(1+s.IntN(2), 1+s.IntN(2), 1, 3+s.IntN(3))
			w := s.shaped(1+s.IntN(2), x.Shape()[1], 1, k)
			return one(G.Conv1d(s.small(x), s.small(w), k, s.IntN(2), 1+s.IntN(2), 1+s.IntN(2)))
		}},
		{name: "MaxPool2D", draw: func(s *sketch) []*G.Node { x, k, p, d := s.window(); return one(G.MaxPool2D(x, k, p, d)) }},
		{name: "MaxPool1D", draw: func(s *sketch) []*G.Node {
			k := 1 + s.IntN(3)
			return one(G.MaxPool1D(s.shaped(1, 1+s.IntN(2), 1+s.IntN(2), 4), k, s.IntN(min(k, 2)), 1+s.IntN(2)))
		}},
		{name: "AveragePool2D", wrong: true, draw: func(s *sketch) []*G.Node { x, k, p, d := s.window(); return one(G.AveragePool2D(x, k, p, d)) }},
		{name: "AveragePool1D", draw: func(s *sketch) []*G.Node {
			k := 1 + s.IntN(3)
			return one(G.AveragePool1D(s.shaped(1, 1+s.IntN(2), 1+s.IntN(2), 4), k, s.IntN(min(k, 2)), 1+s.IntN(2)))
		}},
		{name: "GlobalAveragePool2D", draw: func(s *sketch) []*G.Node { return one(G.GlobalAveragePool2D(s.ranked(4))) }},
		{name: "BatchNorm", typ: gt.Float64, draw: func(s *sketch) []*G.Node {
			shape := gt.Shape{2 + s.IntN(2), 1 + s.IntN(2), 1 + s.IntN(2), 2}[:2+2*s.IntN(2)]
			x, of := s.shaped(shape...), gt.Shape{1, shape[1], 1, 1}[:len(shape)]
			y, _, _, _, err := G.BatchNorm(x, s.shaped(of...), s.shaped(of...), 0.9, 0.1)
			return one(y, err)
		}},
		{name: "GroupNorm", draw: func(s *sketch) []*G.Node {
			groups := 1 + s.IntN(2)
			x := s.shaped(1+s.IntN(2), groups*(1+s.IntN(2)), 2, 1+s.IntN(2))
			c := x.Shape()[1]
			return one(G.GroupNorm(x, s.shaped(1, c, 1, 1), s.shaped(1, c, 1, 1), groups, c, 0.1))
		}},
		{name: "CTCLoss", wrong: true, draw: (*sketch).ctc},
		{name: "YOLOv3", none: true, typ: gt.Float32, draw: func(s *sketch) []*G.Node {
			return one(G.YOLOv3(s.shaped(1, 12, 2, 2), []float32{10, 13, 16, 30}, []int{0, 1}, 32, 1, 0.7))
		}},
	}
}

// axis draws the axis of a softmax, or none.
func (s *sketch) axis(x *G.Node) []int {
	if s.chance(0.3) {
		return nil
	}
	return []int{s.IntN(x.Dims())}
}

// window draws images and what slides over them.
func (s *sketch) window() (x *G.Node, kernel gt.Shape, pad, stride []int) {
	x = s.shaped(1+s.IntN(2), 1+s.IntN(2), 2+s.IntN(3), 2+s.IntN(3))
	kernel = gt.Shape{1 + s.IntN(2), 1 + s.IntN(2)}
	return x, kernel, []int{s.IntN(kernel[0]), s.IntN(kernel[1])}, []int{1 + s.IntN(2), 1 + s.IntN(2)}
}

// ctc draws sequences of labels that their steps have room for.
func (s *sketch) ctc() []*G.Node {
	steps, batch, labels, longest := 4+s.IntN(3), 1+s.IntN(3), 2+s.IntN(3), 1+s.IntN(2)
	lp := s.small(s.shaped(steps, batch, labels))
	if s.chance(0.5) {
		lp = must(G.LogSoftMax(lp, 2))
	}
	packed := s.chance(0.3)
	var targets, lengths, used []int
	for range batch {
		n := 1 + s.IntN(longest)
		lengths, used = append(lengths, n), append(used, steps-s.IntN(2))
		for i := range longest {
			if i < n || !packed {
				targets = append(targets, 1+s.IntN(labels-1))
			}
		}
	}
	shape := []int{batch, longest}
	if packed {
		shape = []int{len(targets)}
	}
	return one(G.CTCLoss(lp, s.whole(targets, shape...), s.whole(used, batch), s.whole(lengths, batch), G.Reduction(s.IntN(2))))
}
