// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package correlate turns the frames of a detector into correlation functions.
//
// A [Movie] provides frames, dense or as lists of events; [Maps] say which pixels belong to which
// bin. [Multitau] computes g2 at delays that grow by levels, with errors and the covariance of its
// points; [Twotime] correlates every frame with every other. Both read a movie once (or once for
// each group of bins that fits in memory), keep sums instead of frames, and give the same bits for
// any number of threads.
//
//	movie := correlate.FromArray(frames, 1000, 512, 512) // float32, (frame, row, column)
//	maps := correlate.Maps{Height: 512, Width: 512, Dynamic: dynamic, Static: static}
//	r, err := correlate.Multitau(ctx, movie, maps, correlate.Settings{})
//	if err != nil { ... }
//	fmt.Println(r.Delay[0], r.G2[0][3], r.Err[0][3]) // 1 frame, first delay of bin 4
//
// On the CPU, products and sums over frames run as compiled graphs of package autodiff, in float32
// over at most 64 frames and in float64 beyond, so that whole counts are added without rounding. On
// GPUs, which Settings.Backend selects, special kernels sum in float64: frames go there in blocks
// through page-locked memory, in the type of their file where the Movie has Raw, and stay no longer
// than a block. Sums of whole counts are the same to the last bit, and several GPUs share the bins.
// A movie that needs more memory than is available is read several times.
package correlate
