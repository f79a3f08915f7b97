// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// Steps holds, for each operation that runs alone, the function that does it.
var Steps = map[*compiler.Op]func(c *Call) error{}

// Call is one step bound to its arrays: those of the machine's precision are set, the others are
// nil.
type Call struct {
	Op      *compiler.Op
	run     func(c *Call) error
	Attr    []int
	Obj     any
	Shape   tensor.Shape
	InShape []tensor.Shape
	strides [][]int // of the inputs of a product

	Out64   []float64
	In64    [][]float64
	Out32   []float32
	In32    [][]float32
	OutInts []int64
	Ints    [][]int64 // inputs that are indices; nil for the other inputs

	Isolate bool // whether lanes of a batch fail alone, see Settings
	Level   kernels.Level
	ws      *kernels.Workspace
	Threads int
	share   *productShare
	rows    rows
	factor  *kernels.Factor // second factor of a product that is the same in every step of a scan
	offsets []int           // positions of the batches of a product
	Parts   [][]float64     // gradients of the inputs, for the adjoint of a Custom
	lanes   []*Call         // one call per lane of a batched Custom
	work    any             // scratch memory that a matrix operation or a sort keeps between runs

	wide   []float64 // float64 copies for a Custom in float32
	wideIn [][]float64
}

func newCall[T Real](m *Machine[T], v *compiler.Value, ws *kernels.Workspace) *Call {
	c := &Call{Op: v.Op, run: Steps[v.Op], Attr: v.Attr, Obj: v.Obj, Shape: v.Shape, Isolate: m.o.Isolate, Level: m.o.Level, ws: ws, Threads: m.o.Threads}
	in := make([][]T, len(v.In))
	c.Ints = make([][]int64, len(v.In))
	for i, x := range v.In {
		c.InShape = append(c.InShape, x.Shape)
		root := x.Layout.Root
		if x.IsInt {
			from := m.indices(root.Place.Buf)
			c.Ints[i] = from[min(x.Layout.Offset, len(from)):][:x.Size()]
			continue
		}
		in[i] = m.array(root.Place.Buf, x.Layout.Offset)[:x.Span()]
		if v.Op.Code == compiler.MatMul {
			c.strides = append(c.strides, x.Strides())
		}
	}
	if v.IsInt {
		c.OutInts = m.indices(v.Place.Buf)
	}
	switch in := any(in).(type) {
	case [][]float64:
		c.In64 = in
	case [][]float32:
		c.In32 = in
	}
	if !v.IsInt {
		switch out := any(m.array(v.Place.Buf, 0)).(type) {
		case []float64:
			c.Out64 = out
		case []float32:
			c.Out32 = out
		}
	}
	return c
}

// NoResult fills out with NaN if lanes fail alone; otherwise it returns the fault.
func (c *Call) NoResult(out []float64, fault error) error {
	if !c.Isolate {
		return fault
	}
	for i := range out {
		out[i] = math.NaN()
	}
	return nil
}

// Each runs the function of the machine's precision.
func (c *Call) Each(f64 func(*Call, []float64, [][]float64) error, f32 func(*Call, []float32, [][]float32) error) error {
	if c.In32 != nil {
		return f32(c, c.Out32, c.In32)
	}
	return f64(c, c.Out64, c.In64)
}

// AsFloat64 returns the arrays, or float64 copies of them.
func (c *Call) AsFloat64() (out []float64, in [][]float64) {
	if c.In32 == nil {
		return c.Out64, c.In64
	}
	if c.wide == nil {
		c.wide = make([]float64, len(c.Out32))
		c.wideIn = make([][]float64, len(c.In32))
		for i, x := range c.In32 {
			c.wideIn[i] = make([]float64, len(x))
		}
	}
	for i, x := range c.In32 {
		for k, v := range x {
			c.wideIn[i][k] = float64(v)
		}
	}
	return c.wide, c.wideIn
}

// StoreFloat64 puts the copy of the result back.
func (c *Call) StoreFloat64() {
	for i, v := range c.wide {
		c.Out32[i] = float32(v)
	}
}
