package autodiff

import (
	"math"
	"slices"
)

// ScanSettings say how Scan repeats its step. The zero value is the default.
type ScanSettings struct {
	// Reverse runs from the last element of xs to the first.
	Reverse bool
	// Name is given to the carries of every Every-th step, so that GradCheckpoint(y, []string{Name},
	// ...) keeps only those. Default: none.
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
//
// After a mistake every result is a Node that carries it: as many carries as in init, and one y if
// step was never called.
func Scan(step func(carry, x []*Node) (next, y []*Node), init, xs []*Node, steps int, s ScanSettings) (last, ys []*Node) {
	if bad := checkScan(step, init, xs, steps); bad != nil {
		return repeat(bad, max(1, len(init))), []*Node{bad}
	}
	parts := make([][]*Node, len(xs))
	for i, x := range xs {
		parts[i] = unstack(x)
	}
	var out [][]*Node
	carry := init
	for t := range steps {
		next, y := step(carry, nthOf(parts, s.place(t, steps)))
		if out == nil {
			out = make([][]*Node, len(y))
		}
		if bad := checkStep(t, next, y, len(init), len(out)); bad != nil {
			return repeat(bad, max(1, len(init))), repeat(bad, max(1, len(out)))
		}
		for i := range y {
			out[i] = append(out[i], y[i])
		}
		carry = next
		s.keep(t, steps, carry)
	}
	for _, y := range out {
		if s.Reverse {
			slices.Reverse(y)
		}
		ys = append(ys, Stack(0, y...))
	}
	return carry, ys
}

// checkScan returns a Node with what is wrong about the arguments of Scan, or nil.
func checkScan(step func(carry, x []*Node) (next, y []*Node), init, xs []*Node, steps int) *Node {
	switch bad := firstErr(append(slices.Clone(init), xs...)...); {
	case bad != nil:
		return bad
	case steps < 0:
		return mistake("scan", "%d steps: want at least 0", steps)
	}
	for i, x := range xs {
		if len(x.shape) == 0 || x.shape[0] != steps {
			return mistake("scan", "input %d has shape %v: want a first axis of %d steps", i, x.shape, steps)
		}
	}
	if step == nil {
		return mistake("scan", "the step is nil: want a function")
	}
	return nil
}

// checkStep returns a Node with what is wrong about the results of step t, or nil.
func checkStep(t int, next, y []*Node, carries, results int) *Node {
	if bad := firstErr(append(slices.Clone(next), y...)...); bad != nil {
		return bad
	}
	if len(next) != carries || len(y) != results {
		return mistake("scan", "step %d returns %d carries and %d results: want %d carries and as many results at each step", t, len(next), len(y), carries)
	}
	return nil
}

// nthOf returns element i of each list.
func nthOf(lists [][]*Node, i int) []*Node {
	out := make([]*Node, len(lists))
	for k, l := range lists {
		out[k] = l[i]
	}
	return out
}

// place returns the element of the inputs that step t of the scan reads.
func (s *ScanSettings) place(t, steps int) int {
	if s.Reverse {
		return steps - 1 - t
	}
	return t
}

// keep names the carries of step t if they are to be kept.
func (s *ScanSettings) keep(t, steps int, carry []*Node) {
	every := s.Every
	if every <= 0 {
		every = max(1, int(math.Ceil(math.Sqrt(float64(steps)))))
	}
	if s.Name == "" || (t+1)%every != 0 {
		return
	}
	for _, n := range carry {
		if n.op != nil {
			n.Named(s.Name)
		}
	}
}

// unstack splits x along its first axis by repeated halving, so that the gradient of n parts costs n
// log n, not n^2.
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
