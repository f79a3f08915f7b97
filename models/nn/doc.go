// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package nn builds neural networks as graphs of package autodiff, and trains them.
//
// Layers, activations and losses are functions of Nodes, for images (batch, channels, height, width) and rows
// (batch, features). A Model declares parameters by name while its function builds a graph:
//
//	build := func(m *nn.Model, in []*ad.Node) nn.Outputs {
//		h := nn.ReLU(m.Conv2D("conv1", in[0], 8, 3, ad.Convolution{Pad: [2]int{1, 1}}))
//		h = ad.MaxPool2D(h, ad.Pooling{Size: [2]int{2, 2}})
//		logits := m.Dense("out", nn.Flatten(m.Dropout(h, 0.2)), 10)
//		return nn.Outputs{Loss: nn.CrossEntropy(logits, in[1], nn.Labels{}), Values: map[string]*ad.Node{"accuracy": nn.Accuracy(logits, in[1])}}
//	}
//	net, err := nn.New(build, inputs, nn.Settings{Seed: 1})
//	if err != nil { ... }
//	report, err := net.Train(ctx, data, nn.Training{Epochs: 5, Rule: optim.Adam{}, LR: 1e-3})
//
// The function is called for each program: for training, and for evaluation, in which dropout does
// nothing and batch normalisation uses running statistics. One program computes the loss, its
// gradient and the update of all parameters as one vector; it runs on the CPU or, with
// Settings.Backend, on a GPU, in float32 or float64.
//
// Results have the same bits for the same seed, also after an interruption and Resume. Parameters
// are read and written as safetensors and NPZ.
//
// Initial values follow He et al. (arXiv:1502.01852) and Glorot and Bengio (AISTATS 2010). Layers
// follow the conventions of PyTorch, so that weights carry over.
package nn

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
