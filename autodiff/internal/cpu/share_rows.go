// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"sync/atomic"

	"github.com/euryale-dev/euryale/kernels"
)

// shareRowsFrom is the number of multiplications from which the rows of a step are worth sharing
// between goroutines.
const shareRowsFrom = 1 << 17

// rowShare lets several goroutines take the rows of one step. Every row writes to its own place, so
// it does not matter which goroutine takes it.
type rowShare struct {
	f       func(hand, from, to int)
	n, each int // number of rows, and rows of a part
	next    atomic.Int64
	crew    crew
}

// EachRow calls f with parts from..to-1 of the rows 0..n-1, on several goroutines if there is work for
// them; work is the number of multiplications of all rows. hand, below c.Threads, tells the goroutines
// apart, so that f can keep scratch memory for each. f must be the same in every run: see Scratch.
func (c *Call) EachRow(n, work int, f func(hand, from, to int)) { c.eachRow(&c.rows, n, work, f) }

// rows keeps how rows are shared, for one f.
type rows struct{ share *rowShare }

func (c *Call) eachRow(r *rows, n, work int, f func(hand, from, to int)) {
	if c.Threads < 2 || n < 2 || work < shareRowsFrom {
		f(0, 0, n)
		return
	}
	if r.share == nil {
		r.share = &rowShare{f: f, n: n, each: max(1, n/(partsEach*c.Threads))}
		r.share.crew.take = r.share.take
	}
	s := r.share
	s.next.Store(0)
	s.crew.run(min(c.Threads, (n+s.each-1)/s.each))
}

func (s *rowShare) take(hand int) {
	for {
		from := (int(s.next.Add(1)) - 1) * s.each
		if from >= s.n {
			return
		}
		s.f(hand, from, min(s.n, from+s.each))
	}
}

// FMA returns the kernel dst = a*b + c, rounded once; with scalar, b is one number.
func FMA[T Real](c *Call, scalar bool) func(dst, a, b, add *T, n int) {
	if scalar {
		return kernelFMA[T](c.Level, "fma_s")
	}
	return kernelFMA[T](c.Level, "fma")
}

// Mul returns the kernel dst = a*b.
func Mul[T Real](c *Call) func(dst, a, b *T, n int) {
	f, _ := pick[T](kernels.Binary64(c.Level, "mul"), kernels.Binary32(c.Level, "mul")).(func(dst, a, b *T, n int))
	return f
}

// Add returns the kernel dst = a+b.
func Add[T Real](c *Call) func(dst, a, b *T, n int) {
	f, _ := pick[T](kernels.Binary64(c.Level, "add"), kernels.Binary32(c.Level, "add")).(func(dst, a, b *T, n int))
	return f
}

// Scaled returns the kernel dst = a*b for one number b.
func Scaled[T Real](c *Call) func(dst, a, b *T, n int) {
	f, _ := pick[T](kernels.Binary64(c.Level, "mul_s"), kernels.Binary32(c.Level, "mul_s")).(func(dst, a, b *T, n int))
	return f
}

// Dot returns the kernel of the inner product.
func Dot[T Real](c *Call) func(a, b *T, n int) float64 { return kernelDot[T](c.Level) }
