package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// steps holds, for each operation that runs alone, the function that does it.
var steps = map[*primitive]func(c *call) error{}

// call is one step bound to its arrays: those of the machine's precision are set,
// the others are nil.
type call struct {
	op      *primitive
	run     func(c *call) error
	attr    []int
	obj     any
	shape   tensor.Shape
	inShape []tensor.Shape

	out64   []float64
	in64    [][]float64
	out32   []float32
	in32    [][]float32
	outInts []int64
	ints    [][]int64 // inputs of indices, nil elsewhere

	isolate bool // see Settings
	level   kernels.Level
	ws      *kernels.Workspace
	threads int
	share   *productShare
	offsets []int       // of the batches of a product
	parts   [][]float64 // of a Custom's adjoint
	lanes   []*call     // of a batched Custom
	work    any         // scratch that a matrix operation or a sort keeps between runs

	wide   []float64 // float64 copies for a Custom in float32
	wideIn [][]float64
}

func newCall[T real](m *machine[T], v *value, ws *kernels.Workspace) *call {
	c := &call{op: v.op, run: steps[v.op], attr: v.attr, obj: v.obj, shape: v.shape, isolate: m.o.Isolate, level: m.o.Level, ws: ws, threads: m.o.Threads}
	in := make([][]T, len(v.in))
	c.ints = make([][]int64, len(v.in))
	for i, x := range v.in {
		c.inShape = append(c.inShape, x.shape)
		root := x.layout.root
		if x.isInt {
			from := m.p.buffers[root.place.buf]
			at := from.offset + min(x.layout.offset, from.size)
			c.ints[i] = m.ints[at : at+x.size()]
			continue
		}
		in[i] = m.array(root.place.buf, x.layout.offset)[:x.size()]
	}
	b := m.p.buffers[v.place.buf]
	if v.isInt {
		c.outInts = m.ints[b.offset : b.offset+b.size]
	}
	switch in := any(in).(type) {
	case [][]float64:
		c.in64 = in
	case [][]float32:
		c.in32 = in
	}
	if !v.isInt {
		switch out := any(m.array(v.place.buf, 0)).(type) {
		case []float64:
			c.out64 = out
		case []float32:
			c.out32 = out
		}
	}
	return c
}

// none writes that there is no result, or returns the fault of the numbers.
func (c *call) none(out []float64, fault error) error {
	if !c.isolate {
		return fault
	}
	for i := range out {
		out[i] = math.NaN()
	}
	return nil
}

// each runs the function of the machine's precision.
func (c *call) each(f64 func(*call, []float64, [][]float64) error, f32 func(*call, []float32, [][]float32) error) error {
	if c.in32 != nil {
		return f32(c, c.out32, c.in32)
	}
	return f64(c, c.out64, c.in64)
}

// asFloat64 returns the arrays, or float64 copies of them.
func (c *call) asFloat64() (out []float64, in [][]float64) {
	if c.in32 == nil {
		return c.out64, c.in64
	}
	if c.wide == nil {
		c.wide = make([]float64, len(c.out32))
		c.wideIn = make([][]float64, len(c.in32))
		for i, x := range c.in32 {
			c.wideIn[i] = make([]float64, len(x))
		}
	}
	for i, x := range c.in32 {
		for k, v := range x {
			c.wideIn[i][k] = float64(v)
		}
	}
	return c.wide, c.wideIn
}

// storeFloat64 puts the copy of the result back.
func (c *call) storeFloat64() {
	for i, v := range c.wide {
		c.out32[i] = float32(v)
	}
}
