package autodiff

import (
	"math"
	"slices"
)

// ScanSettings say how Scan repeats its step. The zero value is the default.
type ScanSettings struct {
	// Reverse runs from the last element of xs to the first.
	Reverse bool
	// Name is given to the carries of every Every-th step, so that
	// GradCheckpoint(y, []string{Name}, ...) keeps those alone. Default: none.
	Name string
	// Every is the distance between named carries in steps. Default: the root
	// of the number of steps, which needs the least memory.
	Every int
}

// Scan repeats a step that is more than a linear recurrence (see LinearScan):
//
//	carry_t, y_t = step(carry_(t-1), x_t), t = 0 ... steps-1
//
// x_t are the elements of xs along the first axis, which has steps of them; y_t
// are stacked along a new first axis. It returns the last carry and the ys.
// The graph has every step: building and compiling takes about 40 us for a step
// of ten operations, 100 us more with the gradient, and each State keeps what
// the gradient needs of every step; see ScanSettings.Name for less memory.
func Scan(step func(carry, x []*Node) (next, y []*Node), init, xs []*Node, steps int, s ScanSettings) (last, ys []*Node) {
	if bad := firstErr(append(slices.Clone(init), xs...)...); bad != nil {
		return []*Node{bad}, []*Node{bad}
	}
	parts := make([][]*Node, len(xs))
	for i, x := range xs {
		if len(x.shape) == 0 || x.shape[0] != steps {
			bad := mistake("scan", "input %d has shape %v: want a first axis of %d steps", i, x.shape, steps)
			return []*Node{bad}, []*Node{bad}
		}
		parts[i] = unstack(x)
	}
	if s.Every <= 0 {
		s.Every = max(1, int(math.Ceil(math.Sqrt(float64(steps)))))
	}
	var out [][]*Node
	carry := init
	for t := range steps {
		at := t
		if s.Reverse {
			at = steps - 1 - t
		}
		x := make([]*Node, len(xs))
		for i := range x {
			x[i] = parts[i][at]
		}
		next, y := step(carry, x)
		if len(next) != len(init) || t > 0 && len(y) != len(out) {
			bad := mistake("scan", "step %d returns %d carries and %d results: want %d carries and as many results at each step", t, len(next), len(y), len(init))
			return []*Node{bad}, []*Node{bad}
		}
		if out == nil {
			out = make([][]*Node, len(y))
		}
		for i := range y {
			out[i] = append(out[i], y[i])
		}
		if carry = next; s.Name != "" && (t+1)%s.Every == 0 {
			for _, n := range carry {
				if n.op != nil {
					n.Named(s.Name)
				}
			}
		}
	}
	for _, y := range out {
		if s.Reverse {
			slices.Reverse(y)
		}
		ys = append(ys, Stack(0, y...))
	}
	return carry, ys
}

// unstack cuts x along its first axis by halves, so that the gradient of n parts
// costs n log n, not n^2.
func unstack(x *Node) []*Node {
	n := x.shape[0]
	if n == 0 {
		return nil
	}
	if n == 1 {
		return []*Node{Reshape(x, x.shape[1:]...)}
	}
	return append(unstack(Slice(x, 0, 0, n/2)), unstack(Slice(x, 0, n/2, n))...)
}
