// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package roofline predicts the time of kernels on GPUs from what they do, for machines without one and for tables
// of predicted beside measured times. A [Card] is a GPU, a [Launch] a kernel with its [Work]:
//
//	card, err := roofline.Find("H100")
//	e := card.Predict(launch, false)
//	fmt.Println(e.Seconds, e.Bound)
//
// The model knows memory, the L2 cache, the units of multiprocessors, how many blocks these hold at once, and what waits
// for latencies. Its few constants are in card.go, each with its source. It knows nothing of contention between kernels, of translation of addresses,
// or of how a compiler orders instructions.
package roofline
