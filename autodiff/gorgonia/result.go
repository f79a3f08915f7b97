// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// result is an output and the nodes that hold its value.
type result struct {
	node *G.Node // node whose value this is; nil for a gradient without a node
	of   G.Nodes // inputs whose gradient this is
	like *G.Node // node that gives type and shape if node is nil
	dual bool    // whether to bind the gradient to the inputs themselves

	f64   []float64
	f32   []float32
	value G.Value
}

// place makes the value that stands for output i of s: tensors share its memory.
func (r *result) place(s *ad.State, i int) error {
	if r.like == nil {
		r.like = r.node
	}
	r.f64, r.f32 = s.Output(i), s.Output32(i)
	t, shape := r.like.Dtype(), r.like.Shape()
	switch {
	case r.f64 == nil && r.f32 == nil:
		return fmt.Errorf("gorgonia: output %s holds %v: want float64, float32 or bool", title(r.like), t)
	case shape.IsScalar(), t == gt.Bool:
		r.value = makeValue(t, shape, make([]float64, max(1, shape.TotalSize())))
	case r.f64 != nil:
		r.value = gt.New(gt.WithShape(shape...), gt.WithBacking(r.f64))
	default:
		r.value = gt.New(gt.WithShape(shape...), gt.WithBacking(r.f32))
	}
	return nil
}

// publish writes whatever does not share the memory of the State, and binds the value if it is not
// bound yet.
func (r *result) publish() error {
	switch v := r.value.(type) {
	case *G.F64:
		*v = G.F64(r.f64[0])
	case *G.F32:
		*v = G.F32(r.f32[0])
	case *G.B:
		*v = G.B(r.truth(0))
	case *gt.Dense:
		if v.Dtype() == gt.Bool {
			b := v.Bools()
			for i := range b {
				b[i] = r.truth(i)
			}
		}
	}
	if r.node != nil && r.node.Op() != nil && r.node.Value() != r.value && !isConstant(r.node) {
		if err := G.UnsafeLet(r.node, r.value); err != nil {
			return fmt.Errorf("gorgonia: output %v: %w", r.node, err)
		}
	}
	for _, n := range r.of {
		if err := r.bindGrad(n); err != nil {
			return err
		}
	}
	return nil
}

func (r *result) truth(i int) bool {
	if r.f64 != nil {
		return r.f64[i] != 0
	}
	return r.f32[i] != 0
}

// bindGrad makes n.Grad return the value. A node that was never bound to a
// derivative finds it through its Deriv; others hold it themselves.
func (r *result) bindGrad(n *G.Node) (err error) {
	if !r.dual && n.Deriv() == nil {
		return nil
	}
	if v, err := n.Grad(); err == nil && v == r.value {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("gorgonia: gradient of %s: %v", title(n), p)
		}
	}()
	G.WithGrad(r.value)(n)
	return nil
}

// derivedFrom returns the inputs whose derivative n is, made by gorgonia.Grad.
func derivedFrom(n *G.Node) G.Nodes {
	var out G.Nodes
	for _, x := range n.DerivOf() {
		if x.Graph() == n.Graph() && x.Op() == nil && x.Deriv() == n {
			out = append(out, x)
		}
	}
	return out
}
