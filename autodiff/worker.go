package autodiff

import (
	"unsafe"

	"github.com/euryale-dev/euryale/kernels"
)

// worker holds the registers of one goroutine and the loops bound to them:
// every operand is a pointer and the number of the offset to add to it.
type worker[T real] struct {
	m     *machine[T]
	regs  []T
	loops []*boundLoop[T]
	off   []uintptr // by slot: 0, position in the loop, then one per row view
}

type boundLoop[T real] struct {
	*loop
	job    *machineJob[T]
	tile   int
	ops    []boundOp[T]
	scalar []scalarOp[T]
	loads  []boundLoad[T]
	fills  []boundFill[T]
	sums   []boundSum[T]
	rowAt  []int // first element of the current row, by row view
}

// at is a place for tiles: base plus the worker's offset of slot.
type at struct {
	base unsafe.Pointer
	slot int
}

type boundOp[T real] struct {
	f1      func(dst, a *T, n int)
	f2      func(dst, a, b *T, n int)
	f3      func(dst, a, b, c *T, n int)
	dst     at
	a, b, c at
}

type boundLoad[T real] struct {
	dst     []T
	src     unsafe.Pointer
	strides []int
}

type boundFill[T real] struct {
	dst    []T
	from   at
	perRow bool
}

type boundSum[T real] struct {
	sum
	reduce func(a *T, n int) float64
	dot    func(a, b *T, n int) float64
	merge  func(dst, a, b *T, n int) // elementwise
	fma    func(dst, a, b, c *T, n int)
	a, b   at
	out    []T
	acc    float64
	part   []T // where this block adds
	row    int // first place in part of the current row
}

func newWorker[T real](m *machine[T]) *worker[T] {
	w := &worker[T]{m: m, loops: make([]*boundLoop[T], len(m.jobs))}
	regs, rows := 0, 0
	for _, j := range m.jobs {
		if j.loop != nil {
			regs = max(regs, j.loop.regs*roundUp(j.loop.tile()))
			rows = max(rows, len(j.loop.rows))
		}
	}
	w.regs = aligned[T](regs)
	w.off = make([]uintptr, 2+rows)
	for i := range m.jobs {
		if j := &m.jobs[i]; j.loop != nil {
			w.loops[j.index] = w.bind(j)
		}
	}
	return w
}

func (w *worker[T]) bind(j *machineJob[T]) *boundLoop[T] {
	l := j.loop
	b := &boundLoop[T]{loop: l, job: j, tile: l.tile(), rowAt: make([]int, len(l.rows))}
	if l.scalar {
		for _, o := range l.ops {
			b.scalar = append(b.scalar, w.bindScalar(b, o))
		}
		return b
	}
	for _, o := range l.ops {
		b.ops = append(b.ops, w.bindOp(b, o))
	}
	for _, o := range l.loads {
		b.loads = append(b.loads, boundLoad[T]{dst: w.register(b, o.reg), src: w.element(o.buf, o.off), strides: o.strides})
	}
	for _, f := range l.fills {
		b.fills = append(b.fills, boundFill[T]{dst: w.register(b, f.reg), from: w.at(b, f.from), perRow: f.perRow})
	}
	for i, s := range l.sums {
		b.sums = append(b.sums, w.bindSum(b, i, s))
	}
	return b
}

func (w *worker[T]) register(b *boundLoop[T], reg int) []T {
	t := roundUp(b.tile)
	return w.regs[reg*t : (reg+1)*t]
}

// element returns the address of element off of an array; it may lie one step
// outside where a view runs backwards over nothing.
func (w *worker[T]) element(buf, off int) unsafe.Pointer {
	a := w.m.array(buf, 0)
	if len(a) == 0 {
		return nil
	}
	return unsafe.Pointer(&a[min(off, len(a)-1)])
}

func (w *worker[T]) at(b *boundLoop[T], o operand) at {
	switch o.kind {
	case inReg:
		r := w.register(b, o.reg)
		return at{unsafe.Pointer(&r[0]), 0}
	case inFlat:
		return at{w.element(o.buf, o.off), 1}
	case inRow:
		v := b.loop.rows[o.row]
		return at{w.element(v.buf, v.off), 2 + o.row}
	}
	return at{w.element(o.buf, o.off), 0}
}

func (w *worker[T]) bindOp(b *boundLoop[T], o micro) boundOp[T] {
	out := boundOp[T]{dst: w.at(b, o.dst), a: w.at(b, o.arg[0])}
	switch o.op.Arity {
	case 1:
		out.f1 = kernel1[T](w.m.o.Level, o.op)
	case 2:
		out.f2 = kernel2[T](w.m.o.Level, o.form, o.op)
		out.b = w.at(b, o.arg[1])
	default:
		out.f3 = kernel3[T](w.m.o.Level, o.op)
		out.b, out.c = w.at(b, o.arg[1]), w.at(b, o.arg[2])
	}
	return out
}

func (w *worker[T]) bindSum(b *boundLoop[T], i int, s sum) boundSum[T] {
	out := boundSum[T]{sum: s, a: w.at(b, s.a), out: w.m.array(s.out, 0)}
	level := w.m.o.Level
	switch s.of {
	case ofProducts:
		out.b = w.at(b, s.b)
		out.dot = kernelDot[T](level)
	case ofProductsRows:
		out.b = w.at(b, s.b)
		out.fma = kernelFMA[T](level, "fma")
	case ofNumberRows:
		out.b = w.at(b, s.b)
		out.fma = kernelFMA[T](level, "fma_s")
	case ofSquares:
		out.reduce = kernelReduce[T](level, "sumsq")
	default:
		out.reduce = kernelReduce[T](level, s.op.Kernel)
	}
	out.merge = kernel2[T](level, arrays, s.op.combines())
	return out
}

// aligned makes n elements that start on a cache line.
func aligned[T real](n int) []T {
	const line = 64
	var z T
	extra := line / int(unsafe.Sizeof(z))
	s := make([]T, n+extra)
	if n == 0 {
		return s[:0]
	}
	skip := 0
	for uintptr(unsafe.Pointer(&s[skip]))%line != 0 {
		skip++
	}
	return s[skip : skip+n : skip+n]
}

// kernel1 returns the whole-slice form of op: the assembly of package kernels,
// or a loop around op's Go function.
func kernel1[T real](l kernels.Level, op *primitive) func(dst, a *T, n int) {
	if op.Code == codeCopy {
		return func(dst, a *T, n int) { copy(unsafe.Slice(dst, n), unsafe.Slice(a, n)) }
	}
	if f, _ := pick[T](kernels.Unary64(l, op.Kernel), kernels.Unary32(l, op.Kernel)).(func(dst, a *T, n int)); f != nil {
		return f
	}
	g := op.F1
	return func(dst, a *T, n int) {
		d, x := unsafe.Slice(dst, n), unsafe.Slice(a, n)
		for i, v := range x {
			d[i] = T(g(float64(v)))
		}
	}
}

func kernel2[T real](l kernels.Level, f form, op *primitive) func(dst, a, b *T, n int) {
	name := [...]string{arrays: op.Kernel, byNumber: op.ByNumber, numberBy: op.NumberBy}[f]
	if f, _ := pick[T](kernels.Binary64(l, name), kernels.Binary32(l, name)).(func(dst, a, b *T, n int)); f != nil {
		return f
	}
	g := op.F2
	return func(dst, a, b *T, n int) {
		d, x, y := unsafe.Slice(dst, n), unsafe.Slice(a, n), unsafe.Slice(b, n)
		for i, v := range x {
			d[i] = T(g(float64(v), float64(y[i])))
		}
	}
}

func kernel3[T real](l kernels.Level, op *primitive) func(dst, a, b, c *T, n int) {
	if f, _ := pick[T](kernels.Ternary64(l, op.Kernel), kernels.Ternary32(l, op.Kernel)).(func(dst, a, b, c *T, n int)); f != nil {
		return f
	}
	g := op.F3
	return func(dst, a, b, c *T, n int) {
		d, x, y, z := unsafe.Slice(dst, n), unsafe.Slice(a, n), unsafe.Slice(b, n), unsafe.Slice(c, n)
		for i, v := range x {
			d[i] = T(g(float64(v), float64(y[i]), float64(z[i])))
		}
	}
}

func kernelReduce[T real](l kernels.Level, name string) func(a *T, n int) float64 {
	f, _ := pick[T](kernels.Reduce64(l, name), kernels.Reduce32(l, name)).(func(a *T, n int) float64)
	return f
}

func kernelDot[T real](l kernels.Level) func(a, b *T, n int) float64 {
	f, _ := pick[T](kernels.Dot64(l), kernels.Dot32(l)).(func(a, b *T, n int) float64)
	return f
}

func kernelFMA[T real](l kernels.Level, name string) func(dst, a, b, c *T, n int) {
	f, _ := pick[T](kernels.Ternary64(l, name), kernels.Ternary32(l, name)).(func(dst, a, b, c *T, n int))
	return f
}

// pick returns the argument for T.
func pick[T real](f64, f32 any) any {
	var z T
	if _, ok := any(z).(float64); ok {
		return f64
	}
	return f32
}
