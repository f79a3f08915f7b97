// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package torch reads and writes checkpoints of PyTorch (.pt, .pth, .sav) without Python.
//
// A checkpoint is a tree of dictionaries, lists, tuples, numbers, strings and tensors. Python stores it
// as a pickle, a program that may call any function; this package understands the few calls that make
// tensors and ordered dictionaries, runs nothing, and refuses everything else in an error that names
// it.
//
//	root, err := torch.Load("network.pt")
//	if err != nil { ... }
//	state, _ := root.(*torch.Dict).Get("state_dict").(*torch.Dict)
//	weight, err := state.Tensor("model.lin_0.weight")
//	if err != nil { ... }                    // names the nearest keys
//	w, err := weight.Float32s()              // C order, whatever the strides in the file
//
// What Save writes, torch.load opens with weights_only=True.
//
// Values are nil, bool, int64, float64, string, []byte, *Dict, List, Tuple, DType and *Tensor. Tensors
// hold float16, bfloat16, float32, float64, bool and integers. Checkpoints of PyTorch before 1.6 and
// TorchScript archives are refused with advice.
//
// Loading takes memory in proportion to the size of the file, and reading a tensor at most 64 MiB plus
// 16 times that size: a tensor may repeat its elements.
package torch
