// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// MaterialNodes is a Material within a graph, defined by the same arrays in the same units: Vfrac has the shape
// [Z, Y, X] of the simulator, S, Theta and Psi have it or broadcast to it, and Align has [Z, Y, X, 3]. Nil fields are left out.
type MaterialNodes struct{ Vfrac, S, Theta, Psi, Align, Unaligned *ad.Node }

// pairs lists the Nodes of m with the arrays of the Material they stand for.
func (m *MaterialNodes) pairs(to *Material) (nodes []*ad.Node, arrays []**tensor.Tensor) {
	for i, n := range []*ad.Node{m.Vfrac, m.S, m.Theta, m.Psi, m.Align, m.Unaligned} {
		if n != nil {
			if n == m.S || n == m.Theta || n == m.Psi {
				n = ad.Broadcast(n, m.Vfrac.Shape()...)
			}
			nodes, arrays = append(nodes, n), append(arrays, allFields(to)[i].at)
		}
	}
	return nodes, arrays
}

// Nodes lists the Nodes that define m, in the order of its fields.
func (m *MaterialNodes) Nodes() []*ad.Node {
	nodes, _ := m.pairs(&Material{})
	return nodes
}

// Arrays returns a Material with empty arrays of the shapes of the Nodes.
func (m *MaterialNodes) Arrays(d tensor.DType) (to Material) {
	nodes, arrays := m.pairs(&to)
	for i, n := range nodes {
		*arrays[i] = tensor.New(d, n.Shape()...)
	}
	return to
}

// Intensity returns the pattern of materials as a Node [energy, beam, QY, QX] with
// the values of Pattern.Intensity, NaN included: choose the pixels that count
// before anything else is done with it. constants is [energy, material, 4] in the
// order of Constants.
//
// Gradient: with respect to all arrays and the constants, first order. The Node
// and s may be used at the same time.
func (s *Simulator) Intensity(materials []MaterialNodes, constants *ad.Node) *ad.Node {
	shape := tensor.Shape{len(s.cfg.Energies), len(s.beams), s.shape[1], s.shape[2]}
	return s.node("rsoxs.intensity", shape, materials, constants, measure{
		value:  func(out []float64, p *Pattern) error { copy(out, p.Intensity.Data().([]float64)); return nil },
		grad:   func(g []float64, p *Pattern) (*tensor.Tensor, error) { return tensor.From(g, p.Intensity.Shape()...) },
		direct: true,
	})
}

// Curves returns the reduced pattern of materials as a Node [4, energy, beam, Q]:
// I, Para, Perp and A of Curves, NaN where those are. See Intensity.
func (s *Simulator) Curves(r Reduction, materials []MaterialNodes, constants *ad.Node) (*ad.Node, *Reducer, error) {
	d, err := r.NewReducer(&Pattern{Energies: s.cfg.Energies, QY: Frequencies(s.shape[1], s.a), QX: Frequencies(s.shape[2], s.a)})
	if err != nil {
		return nil, nil, err
	}
	part := tensor.Shape{len(s.cfg.Energies), len(s.beams), d.n}
	return s.node("rsoxs.curves", append(tensor.Shape{4}, part...), materials, constants, measure{
		value: func(out []float64, p *Pattern) error {
			c, err := d.Reduce(p)
			if err != nil {
				return err
			}
			for k, t := range []*tensor.Tensor{c.I, c.Para, c.Perp, c.A} {
				copy(out[k*part.Size():], t.Data().([]float64))
			}
			return nil
		},
		grad: func(g []float64, p *Pattern) (*tensor.Tensor, error) {
			var by Curves
			for k, t := range []**tensor.Tensor{&by.I, &by.Para, &by.Perp, &by.A} {
				*t, _ = tensor.From(g[k*part.Size():(k+1)*part.Size()], part...)
			}
			return d.Gradient(p, &by)
		},
	}), d, nil
}

// LossFunc returns a number that measures the distance of a pattern from data, and its derivatives
// with respect to the pattern's intensities.
type LossFunc func(p *Pattern) (loss float64, gradient *tensor.Tensor, err error)

// Loss returns f of the pattern of materials as a scalar Node; no image enters the
// graph. See Intensity.
func (s *Simulator) Loss(f LossFunc, materials []MaterialNodes, constants *ad.Node) *ad.Node {
	return s.node("rsoxs.loss", tensor.Shape{}, materials, constants, measure{
		value: func(out []float64, p *Pattern) (err error) { out[0], _, err = f(p); return err },
		grad: func(g []float64, p *Pattern) (*tensor.Tensor, error) {
			_, d, err := f(p)
			if err != nil {
				return nil, err
			}
			d = d.Copy().Convert(tensor.Float64)
			v := d.Data().([]float64)
			for i := range v {
				v[i] *= g[0]
			}
			return d, nil
		},
	})
}

// measure is the quantity that a Node takes from a pattern, and the function from its gradient to
// the gradient with respect to the pattern.
type measure struct {
	value func(out []float64, p *Pattern) error
	grad  func(g []float64, p *Pattern) (*tensor.Tensor, error)
	// whether it is the pattern itself, which then stays on a GPU
	direct bool
	size   int // numbers of the quantity
}

func (s *Simulator) node(name string, shape tensor.Shape, materials []MaterialNodes, constants *ad.Node, m measure) *ad.Node {
	pool := &replicas{sim: s, materials: materials}
	var in []*ad.Node
	for i := range materials {
		in = append(in, materials[i].Nodes()...)
	}
	m.size = shape.Size()
	return ad.Call(&ad.Custom{
		Name:  name,
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return shape, pool.check(in) },
		Forward: func(out []float64, in ...[]float64) error {
			return pool.with(in, func(r *replica) error { return m.value(out, r.pattern) })
		},
		Adjoint: func(dIn [][]float64, g, _ []float64, in ...[]float64) error {
			return pool.with(in, func(r *replica) error {
				d, err := m.grad(g, r.pattern)
				if err != nil {
					return err
				}
				return r.adjoint(dIn, d)
			})
		},
		OnDevice: func(d *cuda.Device, bits int, _ []tensor.Shape) (ad.DeviceStep, error) {
			return s.newDeviceStep(d, bits, materials, m)
		},
	}, append(in, constants)...)
}

// replicas are the simulators behind a Node, one for each goroutine that runs it. Each one remembers
// its last inputs, because gradients are usually asked for at the same point as values.
type replicas struct {
	sim       *Simulator
	materials []MaterialNodes
	mu        sync.Mutex
	idle      []*replica
}

// replica is a simulator with its last inputs and results.
type replica struct {
	sim     *Simulator
	morph   *Morphology
	fields  []*tensor.Tensor // arrays of morph, in the order of the inputs
	optics  Optics
	flat    []float64 // optics as one list of numbers
	pattern *Pattern  // pattern of these inputs; nil until computed
	grad    *Gradient // last gradient, whose memory the next one reuses
}

// check returns an error unless the inputs have the simulator's shapes.
func (c *replicas) check(in []tensor.Shape) error {
	r := c.newReplica()
	want := tensor.Shape{len(c.sim.cfg.Energies), len(c.materials), 4}
	if got := in[len(in)-1]; !got.Equal(want) {
		return fmt.Errorf("the constants have shape %v: want [energy, material, 4] = %v", got, want)
	}
	return r.morph.inspect()
}

// newReplica makes a new replica.
func (c *replicas) newReplica() *replica {
	sim := c.sim.Clone()
	r := &replica{sim: sim, morph: &Morphology{PhysSize: sim.a}}
	dtype := tensor.Float64
	if sim.cfg.Precision == 32 {
		dtype = tensor.Float32
	}
	for i := range c.materials {
		r.morph.Materials = append(r.morph.Materials, c.materials[i].Arrays(dtype))
		r.fields = append(r.fields, r.morph.Materials[i].Fields()...)
	}
	r.optics = make(Optics, len(sim.cfg.Energies))
	for e := range r.optics {
		r.optics[e] = make([]Constants, len(c.materials))
	}
	return r
}

// with calls f with a replica that has the pattern of in.
func (c *replicas) with(in [][]float64, f func(r *replica) error) error {
	r := c.take(in)
	defer c.give(r)
	if err := r.set(in); err != nil {
		return err
	}
	return f(r)
}

// take returns an idle replica, the one that already holds in if there is one.
func (c *replicas) take(in [][]float64) *replica {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) == 0 {
		return c.newReplica()
	}
	i := max(0, slices.IndexFunc(c.idle, func(r *replica) bool { return r.knows(in) }))
	r := c.idle[i]
	c.idle = slices.Delete(c.idle, i, i+1)
	return r
}

func (c *replicas) give(r *replica) {
	c.mu.Lock()
	c.idle = append(c.idle, r)
	c.mu.Unlock()
}

func (r *replica) knows(in [][]float64) bool {
	return r.pattern != nil && slices.Equal(r.flat, in[len(in)-1]) && r.knowsFields(in)
}

func (r *replica) knowsFields(in [][]float64) bool {
	for i, f := range r.fields {
		switch v := f.Data().(type) {
		case []float64:
			if !slices.Equal(v, in[i]) {
				return false
			}
		case []float32:
			if !slices.EqualFunc(v, in[i], func(a float32, b float64) bool { return a == float32(b) }) {
				return false
			}
		}
	}
	return true
}

// set makes r.pattern the pattern of in, with as little work as possible.
func (r *replica) set(in [][]float64) error {
	ctx := context.Background()
	same := r.sim.morph != nil && r.knowsFields(in)
	flat := in[len(in)-1]
	if same && r.pattern != nil && slices.Equal(r.flat, flat) {
		return nil
	}
	r.pattern = nil
	if !same {
		for i, f := range r.fields {
			switch v := f.Data().(type) {
			case []float64:
				copy(v, in[i])
			case []float32:
				convert(v, in[i])
			}
		}
		if err := r.sim.Transform(ctx, r.morph); err != nil {
			return err
		}
	}
	r.flat = append(r.flat[:0], flat...)
	for e := range r.optics {
		for m := range r.optics[e] {
			c := flat[4*(e*len(r.morph.Materials)+m):]
			r.optics[e][m] = Constants{c[0], c[1], c[2], c[3]}
		}
	}
	p, err := r.sim.Pattern(ctx, r.optics)
	r.pattern = p
	return err
}

// adjoint fills dIn from the gradient with respect to the pattern.
func (r *replica) adjoint(dIn [][]float64, by *tensor.Tensor) error {
	g, err := r.sim.GradientTo(context.Background(), r.grad, r.optics, by)
	if err != nil {
		return err
	}
	r.grad = g
	i := 0
	for m := range g.Materials {
		for _, f := range g.Materials[m].Fields() {
			switch v := f.Data().(type) {
			case []float64:
				copy(dIn[i], v)
			case []float32:
				convert(dIn[i], v)
			}
			i++
		}
	}
	if i != len(dIn)-1 {
		return errors.New("rsoxs: gradients exist only for the fields that are inputs: ask for one of these")
	}
	for e, row := range g.Optics {
		for m, c := range row {
			copy(dIn[i][4*(e*len(row)+m):], []float64{c.DeltaPara, c.BetaPara, c.DeltaPerp, c.BetaPerp})
		}
	}
	return nil
}
