// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package safetensors reads and writes named arrays in the format safetensors, in which the weights of
// neural networks are exchanged: a header in JSON, followed by the numbers of one array after another.
// A file contains no code.
//
//	w, notes, err := safetensors.Load("network.safetensors")
//	if err != nil { ... }
//	fmt.Println(w["conv1.weight"].Shape(), notes["format"])
//	err = safetensors.Save("copy.safetensors", w, notes)
//
// Arrays keep F64, F32, F16, I64, I32 and BOOL unchanged; BF16 becomes float32, U8, I8, U16 and I16
// become int32, and U32 int64. Reading takes memory in proportion to the size of the file.
//
// Source: the specification of the format, https://github.com/huggingface/safetensors.
package safetensors
