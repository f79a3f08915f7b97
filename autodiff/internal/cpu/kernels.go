// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"unsafe"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/kernels"
)

// kernel1 returns the whole-slice form of op: the assembly of package kernels,
// or that of its definition, or a loop around op's Go function.
func kernel1[T Real](l kernels.Level, op *compiler.Op) func(dst, a *T, n int) {
	if op.Code == compiler.Copy {
		return func(dst, a *T, n int) {
			if dst != a { // a scan may have put both at one place
				copy(unsafe.Slice(dst, n), unsafe.Slice(a, n))
			}
		}
	}
	if f, _ := pick[T](kernels.Unary64(l, op.Kernel), kernels.Unary32(l, op.Kernel)).(func(dst, a *T, n int)); f != nil {
		return f
	}
	if f, _ := pick[T](op.Slices[0], op.Slices[1]).(func(y, x []T)); f != nil {
		return func(dst, a *T, n int) { f(unsafe.Slice(dst, n), unsafe.Slice(a, n)) }
	}
	g := op.F1
	return func(dst, a *T, n int) {
		d, x := unsafe.Slice(dst, n), unsafe.Slice(a, n)
		for i, v := range x {
			d[i] = T(g(float64(v)))
		}
	}
}

func kernel2[T Real](l kernels.Level, f compiler.Form, op *compiler.Op) func(dst, a, b *T, n int) {
	name := [...]string{compiler.Arrays: op.Kernel, compiler.ByNumber: op.ByNumber, compiler.NumberBy: op.NumberBy}[f]
	if f, _ := pick[T](kernels.Binary64(l, name), kernels.Binary32(l, name)).(func(dst, a, b *T, n int)); f != nil {
		return f
	}
	if f, _ := pick[T](op.Slices[0], op.Slices[1]).(func(z, x, y []T)); f != nil {
		return func(dst, a, b *T, n int) { f(unsafe.Slice(dst, n), unsafe.Slice(a, n), unsafe.Slice(b, n)) }
	}
	g := op.F2
	return func(dst, a, b *T, n int) {
		d, x, y := unsafe.Slice(dst, n), unsafe.Slice(a, n), unsafe.Slice(b, n)
		for i, v := range x {
			d[i] = T(g(float64(v), float64(y[i])))
		}
	}
}

func kernel3[T Real](l kernels.Level, op *compiler.Op) func(dst, a, b, c *T, n int) {
	if f, _ := pick[T](kernels.Ternary64(l, op.Kernel), kernels.Ternary32(l, op.Kernel)).(func(dst, a, b, c *T, n int)); f != nil {
		return f
	}
	if f, _ := pick[T](op.Slices[0], op.Slices[1]).(func(w, x, y, z []T)); f != nil {
		return func(dst, a, b, c *T, n int) {
			f(unsafe.Slice(dst, n), unsafe.Slice(a, n), unsafe.Slice(b, n), unsafe.Slice(c, n))
		}
	}
	g := op.F3
	return func(dst, a, b, c *T, n int) {
		d, x, y, z := unsafe.Slice(dst, n), unsafe.Slice(a, n), unsafe.Slice(b, n), unsafe.Slice(c, n)
		for i, v := range x {
			d[i] = T(g(float64(v), float64(y[i]), float64(z[i])))
		}
	}
}

func kernelReduce[T Real](l kernels.Level, name string) func(a *T, n int) float64 {
	f, _ := pick[T](kernels.Reduce64(l, name), kernels.Reduce32(l, name)).(func(a *T, n int) float64)
	return f
}

func kernelDot[T Real](l kernels.Level) func(a, b *T, n int) float64 {
	f, _ := pick[T](kernels.Dot64(l), kernels.Dot32(l)).(func(a, b *T, n int) float64)
	return f
}

func kernelFMA[T Real](l kernels.Level, name string) func(dst, a, b, c *T, n int) {
	f, _ := pick[T](kernels.Ternary64(l, name), kernels.Ternary32(l, name)).(func(dst, a, b, c *T, n int))
	return f
}

// pick returns the argument for T.
func pick[T Real](f64, f32 any) any {
	var z T
	if _, ok := any(z).(float64); ok {
		return f64
	}
	return f32
}
