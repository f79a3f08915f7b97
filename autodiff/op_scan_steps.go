// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
)

// ScanSettings say how Scan repeats its step. The zero value is the default.
type ScanSettings struct {
	// Reverse runs from the last element of xs to the first.
	Reverse bool
	// Every is the number of steps between the carries that are kept for the gradient, which
	// computes the steps in between again. It trades memory for one more computation of the values;
	// the square root of the number of steps needs the least memory. Default: the gradient keeps
	// what it needs of every step.
	Every int
}

// Scan repeats a step that is more than a linear recurrence (see LinearScan):
//
//	carry_t, y_t = step(carry_(t-1), x_t), t = 0 ... steps-1
//
// x_t are the elements of xs along the first axis, whose length is steps, and y_t are stacked along
// a new first axis. It returns the last carry and the ys.
//
// The step is called once, to make the graph that all steps run: neither the graph nor the program
// grows with their number. It may use Nodes from outside, which have the same value in every step.
// A carry keeps its shape.
//
// Gradient: another Scan, from the last step to the first, so that gradients of any order exist.
//
// After a mistake every result is a Node that carries it: as many carries as in init, and one y if
// step was never called.
func Scan(step func(carry, x []*Node) (next, y []*Node), init, xs []*Node, steps int, s ScanSettings) (last, ys []*Node) {
	if bad := checkScan(step, init, xs, steps); bad != nil {
		return repeat(bad, max(1, len(init))), []*Node{bad}
	}
	if s.Every > 1 && s.Every < steps {
		return scanInParts(step, init, xs, steps, s)
	}
	l, captured, bad := traced(step, init, xs, false)
	if bad != nil {
		return repeat(bad, max(1, len(init))), repeat(bad, max(1, len(l.ys)))
	}
	l.steps, l.reverse = steps, s.Reverse
	return l.parts(l.call(slices.Concat(init, xs, captured)))
}

// scanInParts is a scan of scans of s.Every steps, of which the gradient keeps only the first carry.
func scanInParts(step func(carry, x []*Node) (next, y []*Node), init, xs []*Node, steps int, s ScanSettings) (last, ys []*Node) {
	whole := steps / s.Every * s.Every
	first, rest := [2]int{0, whole}, [2]int{whole, steps} // parts of xs in the order in which they are run
	if s.Reverse {
		first, rest = [2]int{steps - whole, steps}, [2]int{0, steps - whole}
	}
	from := func(part [2]int) []*Node {
		out := make([]*Node, len(xs))
		for i, x := range xs {
			out[i] = Slice(x, 0, part[0], part[1])
		}
		return out
	}
	inner := ScanSettings{Reverse: s.Reverse}
	rows := from(first)
	for i, x := range rows {
		rows[i] = Reshape(x, append([]int{whole / s.Every, s.Every}, x.shape[1:]...)...)
	}
	l, captured, bad := traced(func(carry, x []*Node) (next, y []*Node) { return Scan(step, carry, x, s.Every, inner) }, init, rows, false)
	if bad != nil {
		return repeat(bad, max(1, len(init))), repeat(bad, max(1, len(l.ys)))
	}
	l.steps, l.reverse, l.again = whole/s.Every, s.Reverse, true
	value := l.call(slices.Concat(init, rows, captured))
	if last, ys = l.parts(value); value.err != nil {
		return last, ys
	}
	for i, y := range ys {
		ys[i] = Reshape(y, append([]int{whole}, y.shape[2:]...)...)
	}
	if whole == steps {
		return last, ys
	}
	last, more := Scan(step, last, from(rest), steps-whole, inner)
	for i, y := range ys {
		if ys[i] = Concat(0, y, more[i]); s.Reverse {
			ys[i] = Concat(0, more[i], y)
		}
	}
	return last, ys
}

// checkScan returns a Node with what is wrong about the arguments of Scan, or nil.
func checkScan(step func(carry, x []*Node) (next, y []*Node), init, xs []*Node, steps int) *Node {
	switch bad := firstErr(append(slices.Clone(init), xs...)...); {
	case bad != nil:
		return bad
	case steps < 0:
		return mistake("scan", "the number of steps is %d: want at least 0", steps)
	}
	if bad := notReal("scan", init...); bad != nil {
		return bad
	}
	for i, x := range xs {
		if len(x.shape) == 0 || x.shape[0] != steps {
			return mistake("scan", "input %d has shape %v: want a first axis of %d steps", i, x.shape, steps)
		}
	}
	if step == nil {
		return mistake("scan", "the step is nil: pass a function")
	}
	return nil
}

var scanOp *Op

func init() {
	scanOp = register(&Op{Name: "scan", Arity: -1, kind: compiler.Step, Smooth: true, pure: true, lift: liftLoop, vjp: loopVJP,
		run:    func(c *cpu.Call) error { return c.Each(cpu.Scan[float64], cpu.Scan[float32]) },
		device: cuda.Scan,
		Sample: func(in Source) []*Node {
			w, x, h := in(-1, 1, 3, 3), in(-1, 1, 4, 2, 3), in(-1, 1, 2, 3)
			last, ys := Scan(func(c, x []*Node) (next, y []*Node) {
				h := Tanh(Add(MatMul(c[0], w), x[0]))
				return []*Node{h}, []*Node{SumAxes(Square(h), 1)}
			}, []*Node{h}, []*Node{x}, 4, ScanSettings{})
			return []*Node{Add(Sum(last[0]), Sum(ys[0]))}
		}})
}
