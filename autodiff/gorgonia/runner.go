// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// runner runs an Op at one precision. It keeps the gradients for the last arguments, because each of
// Gorgonia's gradient nodes asks for one of them.
type runner struct {
	op     *Op
	bits   int
	scalar bool // whether the output is one number, whose gradients are computed for g = 1
	value  *ad.State
	grads  *ad.State // program with outputs y, dx... and inputs in..., g
	in, gi []feed    // feeds of value and of grads
	valid  bool      // whether grads was run with the present contents of gi
	y      output
	dx     []output
}

// output is where a result is stored.
type output struct {
	f64   []float64
	f32   []float32
	shape gt.Shape
}

// runner returns the runner of the precision of in.
func (o *Op) runner(in []G.Value) (*runner, error) {
	t := gt.Float64
	for i, v := range in {
		if v == nil {
			return nil, fmt.Errorf("gorgonia: op %s: argument %d has no value: bind one with gorgonia.Let", o.name, i)
		}
		if !o.in[i].IsInt() {
			t = v.Dtype()
			break
		}
	}
	if r := o.by[t]; r != nil {
		return r, nil
	}
	r := &runner{op: o, bits: 64, scalar: len(o.out.Shape()) == 0}
	switch t {
	case gt.Float64:
	case gt.Float32:
		r.bits = 32
	default:
		return nil, fmt.Errorf("gorgonia: op %s: the arguments hold %v: want float64 or float32", o.name, t)
	}
	o.by[t] = r
	return r, nil
}

func (r *runner) compile(outs, in []*ad.Node) (*ad.State, []feed, error) {
	p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: r.bits})
	if err != nil {
		return nil, nil, err
	}
	s := p.NewState()
	feeds := make([]feed, len(in))
	for i := range in {
		feeds[i] = newFeed(s, i)
	}
	return s, feeds, nil
}

// forward computes y, and the gradients too if one run gives both.
func (r *runner) forward(in []G.Value, diff bool) (err error) {
	if diff && r.scalar {
		if err = r.prepare(); err != nil {
			return err
		}
		_, err = r.run(in, nil)
		r.y = outputOf(r.grads, 0, r.op.out)
		return err
	}
	if r.value == nil {
		if r.value, r.in, err = r.compile([]*ad.Node{r.op.out}, r.op.in); err != nil {
			return err
		}
	}
	for i, v := range in {
		if err := r.in[i].value(v); err != nil {
			return fmt.Errorf("argument %d is %w", i, err)
		}
	}
	r.y = outputOf(r.value, 0, r.op.out)
	return r.value.Run()
}

// backward computes the gradients and returns the factor that they still lack.
func (r *runner) backward(in []G.Value, g G.Value) (scale float64, err error) {
	if err := r.prepare(); err != nil {
		return 0, err
	}
	if !r.scalar {
		return r.run(in, g)
	}
	one := []float64{0}
	if err := readValue(one, g); err != nil {
		return 0, err
	}
	_, err = r.run(in, nil)
	return one[0], err
}

// run computes y and the gradients, unless the last run had the same arguments. A nil g means 1, the
// only value that a scalar output gets.
func (r *runner) run(in []G.Value, g G.Value) (scale float64, err error) {
	args := in
	if g != nil {
		args = append(in[:len(in):len(in)], g)
	}
	if r.valid && r.holds(args) {
		return 1, nil
	}
	r.valid = false
	for i, v := range args {
		if err := r.gi[i].value(v); err != nil {
			return 1, fmt.Errorf("argument %d is %w", i, err)
		}
	}
	if g == nil {
		r.gi[len(in)].fill(1)
	}
	err = r.grads.Run()
	r.valid = err == nil
	return 1, err
}

// holds reports whether the State was last run with args.
func (r *runner) holds(args []G.Value) bool {
	for i, v := range args {
		if !r.gi[i].holds(v) {
			return false
		}
	}
	return true
}

// prepare compiles the gradients when they are first used.
func (r *runner) prepare() (err error) {
	if r.grads != nil {
		return nil
	}
	o := r.op
	outs := []*ad.Node{o.out}
	at := make([]int, len(o.in))
	for i, d := range o.grad {
		if d != nil {
			at[i] = len(outs)
			outs = append(outs, d)
		}
	}
	if r.grads, r.gi, err = r.compile(outs, append(o.in[:len(o.in):len(o.in)], o.g)); err != nil {
		return err
	}
	r.dx = make([]output, len(o.in))
	for i, x := range o.in {
		if o.grad[i] != nil {
			r.dx[i] = outputOf(r.grads, at[i], x)
		}
	}
	return nil
}

func outputOf(s *ad.State, i int, like *ad.Node) output {
	return output{s.Output(i), s.Output32(i), gt.Shape(like.Shape())}
}

// to writes scale times the result into dst, or into a new value.
func (o output) to(dst G.Value, scale float64) G.Value {
	if len(o.shape) == 0 {
		if o.f64 != nil {
			return G.NewF64(scale * o.f64[0])
		}
		return G.NewF32(float32(scale) * o.f32[0])
	}
	d, ok := dst.(*gt.Dense)
	if !ok || !sameShape(d.Shape(), o.shape) || !isRowMajor(d) || (d.Dtype() == gt.Float64) != (o.f64 != nil) {
		var backing any = make([]float64, len(o.f64))
		if o.f64 == nil {
			backing = make([]float32, len(o.f32))
		}
		d = gt.New(gt.WithShape(o.shape...), gt.WithBacking(backing))
	}
	if o.f64 != nil {
		scaleTo(d.Float64s(), o.f64, scale)
	} else {
		scaleTo(d.Float32s(), o.f32, float32(scale))
	}
	return d
}

// addTo adds scale times the result to a value of its kind.
func (o output) addTo(sum G.Value, scale float64) {
	switch s := sum.(type) {
	case *G.F64:
		*s += G.F64(scale * o.f64[0])
	case *G.F32:
		*s += G.F32(float32(scale) * o.f32[0])
	case *gt.Dense:
		if o.f64 != nil {
			addScaled(s.Float64s(), o.f64, scale)
		} else {
			addScaled(s.Float32s(), o.f32, float32(scale))
		}
	}
}

func scaleTo[T float32 | float64](dst, src []T, by T) {
	if by == 1 {
		copy(dst, src)
		return
	}
	for i, v := range src {
		dst[i] = by * v
	}
}

func addScaled[T float32 | float64](dst, src []T, by T) {
	for i, v := range src {
		dst[i] += by * v
	}
}
