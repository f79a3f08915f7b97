// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package gradtest checks that the definition of an operation is right: its gradients against
// central differences, and its CUDA text against its Go function. Tests of packages that define
// operations call it, and all operations of package autodiff pass it.
//
//	func TestOperationsOfOnesOwn(t *testing.T) {
//		gradtest.Op(t, double)
//		gradtest.HostC(t, []*autodiff.Op{double})
//	}
package gradtest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

const (
	step = 1e-5 // step of the central difference, relative to max(1, |x|)
	tol  = 2e-7 // tolerance of the gradient, relative to max(1, |gradient|)
)

// Op compares the gradients of the samples of op, and the gradients of those gradients, with
// central differences at random points of the operation's Domain.
func Op(t *testing.T, op *autodiff.Op) {
	t.Helper()
	if op.Sample == nil {
		t.Skipf("%s has no sample: it has no gradient", op.Name)
	}
	wantDomain(t, op)
	rng := rand.New(rand.NewPCG(1, 2))
	var inputs []*autodiff.Node
	var values [][]float64
	source := func(lo, hi float64, shape ...int) *autodiff.Node {
		x := autodiff.Input("x", shape...)
		data := make([]float64, x.Size())
		for i := range data {
			data[i] = lo + rng.Float64()*(hi-lo)
		}
		inputs, values = append(inputs, x), append(values, data)
		return x
	}
	for _, y := range op.Sample(source) {
		Check(t, op.Name, weighted(y, rng), inputs, values, op.Smooth)
	}
}

// wantDomain fails if an elementwise operation has no range from which inputs can be drawn.
func wantDomain(t *testing.T, op *autodiff.Op) {
	t.Helper()
	if op.IsElementwise() && !(op.Domain.Lo < op.Domain.Hi) {
		t.Fatalf("%s has the Domain %g to %g: set a range in which the operation is defined, Lo below Hi", op.Name, op.Domain.Lo, op.Domain.Hi)
	}
}

// weighted returns the sum of y times random numbers, so that exchanged elements of a gradient are
// noticed.
func weighted(y *autodiff.Node, rng *rand.Rand) *autodiff.Node {
	w := make([]float64, y.Size())
	for i := range w {
		w[i] = 0.5 + rng.Float64()
	}
	return autodiff.Sum(autodiff.Mul(y, autodiff.Const(w, y.Shape()...)))
}

// Check compares the gradient of the scalar y with central differences, and, if y has it, the derivative along a
// random direction, which the Tangent of a Custom computes. If second is true, it also compares the gradient of a
// random combination of the gradients. Every input that y depends on must be listed, with one value for each of its
// elements.
func Check(t *testing.T, name string, y *autodiff.Node, inputs []*autodiff.Node, values [][]float64, second bool) {
	t.Helper()
	if err := misused(y, inputs, values); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	compare(t, name, y, inputs, values)
	switch err := along(name, y, inputs, values); {
	case errors.Is(err, autodiff.ErrNoGradient):
		t.Logf("%s has no derivative along a direction, so this was not checked: set Tangent of its Custom if it should serve least-squares fits, whose Jacobians need it", name)
	case err != nil:
		t.Error(err)
	}
	if !second {
		return
	}
	rng := rand.New(rand.NewPCG(3, 4))
	total := autodiff.Scalar(0)
	for _, g := range autodiff.Grad(y, inputs...) {
		total = autodiff.Add(total, weighted(g, rng))
	}
	compare(t, name+" gradient", total, inputs, values)
}

// misused reports arguments of Check that do not fit each other.
func misused(y *autodiff.Node, inputs []*autodiff.Node, values [][]float64) error {
	switch {
	case y == nil || slices.Contains(inputs, nil):
		return errors.New("y or one of the inputs is nil: give Nodes")
	case y.Err() != nil:
		return y.Err()
	case y.Size() != 1:
		return fmt.Errorf("y has the shape %v: want a scalar, such as the Sum of its elements", y.Shape())
	case len(values) != len(inputs):
		return fmt.Errorf("there are values for %s: want them for each of the inputs, of which there are %d", errtext.Count(len(values), "input"), len(inputs))
	}
	for i, x := range inputs {
		if len(values[i]) != x.Size() {
			return fmt.Errorf("the input %s has the shape %v, but was given %s: give one for each of its elements", x.Name(), x.Shape(), errtext.Count(len(values[i]), "value"))
		}
	}
	for _, x := range upstream(y) {
		if x.Op() == nil && !x.IsConst() && x.Size() > 0 && !slices.Contains(inputs, x) {
			return fmt.Errorf("y also depends on the input %s of the shape %v: list it in inputs, with its values", x.Name(), x.Shape())
		}
	}
	return nil
}

// upstream returns y and everything that it was made from.
func upstream(y *autodiff.Node) (all []*autodiff.Node) {
	seen, stack := map[*autodiff.Node]bool{}, []*autodiff.Node{y}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		if stack = stack[:len(stack)-1]; seen[n] {
			continue
		}
		seen[n] = true
		all, stack = append(all, n), append(stack, n.In()...)
	}
	return all
}

// suspect says which part of a definition to look at when the derivative along a direction is wrong.
func suspect(y *autodiff.Node) string {
	if slices.ContainsFunc(upstream(y), func(n *autodiff.Node) bool { return n.Op() != nil && n.Op().Name == "custom" }) {
		return "check Tangent, or VJP if the operation has one"
	}
	return "check VJP"
}

// along compares the derivative of y along a random direction with a central difference. It returns ErrNoGradient if y
// has no such derivative.
func along(name string, y *autodiff.Node, inputs []*autodiff.Node, values [][]float64) error {
	rng := rand.New(rand.NewPCG(7, 8))
	var directions []*autodiff.Node
	var steps [][]float64
	for k, x := range inputs {
		v := make([]float64, len(values[k]))
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		directions, steps = append(directions, autodiff.Reshape(autodiff.Const(v, len(v)), x.Shape()...)), append(steps, v)
	}
	prog, err := autodiff.Compile([]*autodiff.Node{y, autodiff.JVP(y, inputs, directions)}, autodiff.Settings{Inputs: inputs})
	if err != nil {
		return fmt.Errorf("%s: derivative along a direction: %w", name, err)
	}
	st := prog.NewState()
	var fault error
	at := func(h float64) float64 {
		for k := range inputs {
			for i, x := range values[k] {
				st.Input(k)[i] = x + h*steps[k][i]
			}
		}
		fault = cmp.Or(fault, st.Run())
		return st.Output(0)[0]
	}
	diff := func(h float64) float64 { return (at(h) - at(-h)) / (2 * h) }
	want := (4*diff(step/2) - diff(step)) / 3
	scale := math.Abs(at(0))
	for range 2 { // the second run finds what the first left behind
		if fault = cmp.Or(fault, st.Run()); fault != nil {
			return fmt.Errorf("%s: %w", name, fault)
		}
		if got := st.Output(1)[0]; !(math.Abs(got-want) <= 10*tol*max(1, math.Abs(want), scale*1e-2)) {
			return fmt.Errorf("%s: derivative along a random direction %.12g, central difference %.12g: %s", name, got, want, suspect(y))
		}
	}
	return nil
}

func compare(t *testing.T, name string, y *autodiff.Node, inputs []*autodiff.Node, values [][]float64) {
	t.Helper()
	prog, err := autodiff.Compile(append([]*autodiff.Node{y}, autodiff.Grad(y, inputs...)...), autodiff.Settings{Inputs: inputs})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	st := prog.NewState()
	for i := range inputs {
		copy(st.Input(i), values[i])
	}
	f := func() float64 {
		if err := st.Run(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return st.Output(0)[0]
	}
	f()
	f() // a second run finds what the first left behind
	var grads [][]float64
	for i := range inputs {
		grads = append(grads, append([]float64(nil), st.Output(i+1)...))
	}
	for i := range inputs {
		for j, x0 := range values[i] {
			h := step * max(1, math.Abs(x0))
			diff := func(h float64) float64 {
				st.Input(i)[j] = x0 + h
				up := f()
				st.Input(i)[j] = x0 - h
				down := f()
				st.Input(i)[j] = x0
				return (up - down) / (2 * h)
			}
			want := (4*diff(h/2) - diff(h)) / 3 // fourth order
			got := grads[i][j]
			if !(math.Abs(got-want) <= tol*max(1, math.Abs(want), math.Abs(st.Output(0)[0])*1e-2)) {
				t.Errorf("%s: input %d, element %d at %g: gradient %.12g, central difference %.12g", name, i, j, x0, got, want)
			}
		}
	}
}
