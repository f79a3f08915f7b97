// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package native makes machine code of straight-line arithmetic on single float64 numbers, on amd64; with AVX-512
// also on arrays of up to eight.
//
//	l := &native.List{}
//	x, y := l.Load(native.First, 0), l.Load(native.First, 1)
//	l.Store(native.First, 2, l.Do(native.Add, l.Do(native.Mul, x, y), l.Constant(0.5)))
//	if code := native.Compile(l); code != nil {
//		code.Run(code.Scratch(), []float64{3, 4, 0}, nil) // element 2 becomes 12.5
//	}
//
// Every operation is rounded as in Go, so that results have the bits of the same arithmetic there. Machine code is a leaf function without
// loops, calls or a stack frame of its own. The scheduler and the garbage collector treat it as they treat assembly: it is not preempted, and
// it ends within microseconds. Functions of Go, such as exp, are called between two pieces of it. Pages are never writable and executable at
// the same time. Compile returns nil on other processors, without AVX2, and where the system refuses executable pages; callers then run the
// same arithmetic in Go.
package native
