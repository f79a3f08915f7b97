// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/tensor"
)

// Tangent returns the derivative of the pattern along a direction: dm holds changes of the arrays
// of the transformed morphology, with nil for arrays that do not change, and do holds changes of
// the constants, or nil. It is exact and costs about one Transform and one Pattern. Least squares
// and Fisher information build their Jacobian from it, parameter by parameter.
func (s *Simulator) Tangent(ctx context.Context, o Optics, dm []Material, do Optics) (*tensor.Tensor, error) {
	if err := s.ready(ctx, o, false); err != nil {
		return nil, err
	}
	if do == nil {
		do = o.zeros()
	} else if err := do.check(s.cfg.Energies, len(s.morph.Materials)); err != nil {
		return nil, err
	}
	if s.remote && dm != nil {
		return nil, errRemote
	}
	if err := s.checkTangent(dm); err != nil {
		return nil, err
	}
	if s.devices != nil {
		list, types := s.changeSources(dm)
		return s.deviceTangent(ctx, o, list, types, do)
	}
	g, err := s.spectra.tangent(ctx, dm)
	if err != nil {
		return nil, err
	}
	out := tensor.New(tensor.Float64, len(o), len(s.beams), s.shape[1], s.shape[2])
	all := out.Data().([]float64)
	err = s.batches(ctx, o, func(j, from int, exposures []*exposure) {
		for e, h := range exposures {
			for m, c := range o[from+e] {
				h.changes = append(h.changes, c.tangent(do[from+e][m]))
			}
		}
		s.spectra.exposeTangent(g, exposures)
		s.averages[j].to(s.parts(all, j, from, len(exposures)), exposures)
	})
	return out, err
}

// checkTangent compares the arrays of a direction with those of the morphology.
func (s *Simulator) checkTangent(dm []Material) error {
	var bad problems
	if dm != nil && len(dm) != len(s.morph.Materials) {
		bad.add("there are changes of %d materials: want %d", len(dm), len(s.morph.Materials))
		return bad.err("rsoxs: tangent")
	}
	for i := range dm {
		given := map[string]*tensor.Tensor{}
		for _, f := range allFields(&dm[i]) {
			given[f.name] = *f.at
		}
		for _, f := range s.morph.Materials[i].fields() {
			if t := given[f.name]; t != nil && !t.Shape().Equal((*f.at).Shape()) {
				bad.add("the change of %s of material %d has shape %v: want %v", f.name, i+1, t.Shape(), (*f.at).Shape())
			}
			delete(given, f.name)
		}
		for name, t := range given {
			if t != nil {
				bad.add("there is a change of %s of material %d, which has none: leave it out", name, i+1)
			}
		}
	}
	return bad.err("rsoxs: tangent")
}

// tangent is the derivative of contrast along d.
func (c Constants) tangent(d Constants) contrast {
	p, o := complex(1-c.DeltaPara, c.BetaPara), complex(1-c.DeltaPerp, c.BetaPerp)
	dp, dq := complex(-d.DeltaPara, d.BetaPara), complex(-d.DeltaPerp, d.BetaPerp)
	i, di := (p+2*o)/3, (dp+2*dq)/3
	return contrast{iso: 2 * i * di, axial: 2*o*dq - 2*i*di, tensor: 2*p*dp - 2*o*dq}
}

// tangent returns the spectra of the derivative of the fields along dm.
func (s *spectra[T]) tangent(ctx context.Context, dm []Material) (spectrum, error) {
	g := &spectra[T]{layout: s.layout, fields: s.fields, window: s.window, workers: s.workers, pool: s.pool,
		half: s.half, data: make([]T, len(s.data))}
	for i, p := range s.materials {
		q := *p
		q.change = make([]*stack[T], len(p.source))
		if dm != nil {
			for k, f := range dm[i].like(len(p.source), p.vector) {
				if f != nil {
					st := newStack[T](f, s.depth)
					q.change[k] = &st
				}
			}
		}
		g.materials = append(g.materials, &q)
	}
	return g, g.transform(ctx)
}

// like lists the arrays of m in the order of the fields of a material with n of
// them.
func (m *Material) like(n int, vector bool) []*tensor.Tensor {
	switch {
	case vector:
		return []*tensor.Tensor{m.Align, m.Unaligned}
	case n == 1:
		return []*tensor.Tensor{m.Vfrac}
	}
	return []*tensor.Tensor{m.Vfrac, m.S, m.Theta, m.Psi}
}

// exposeTangent fills the images with derivatives; to holds the derivatives of the fields.
func (s *spectra[T]) exposeTangent(to spectrum, exposures []*exposure) {
	g := to.(*spectra[T])
	parallel.Do(s.workers, s.n[1], func(_, row int) {
		for _, h := range exposures {
			s.exposeRow(h, row, func(out []float64, t site, w float64, kappa vec) {
				n, d, c := s.dielectric(&t, h.contrasts), g.dielectric(&t, h.contrasts), s.dielectric(&t, h.changes)
				for i := range d {
					d[i] += c[i]
				}
				a1, a2, d1, d2 := n.times(h.e1), n.times(h.e2), d.times(h.e1), d.times(h.e2)
				h.addTangent(out, w, &a1, &a2, &d1, &d2, kappa)
			})
		}
	})
}

// addTangent adds w times the derivatives of the intensities along d1, d2 to out.
func (p *projector) addTangent(out []float64, w float64, a1, a2, d1, d2 *cvec, kappa vec) {
	all, along := p.factors(kappa)
	product := func(a, b *cvec, v vec) float64 {
		x, y := along1(a, v), along1(b, v)
		return all*inner(a, b) + along*(real(x)*real(y)+imag(x)*imag(y))
	}
	if !p.own {
		out[0] += 2 * w * product(a1, d1, kappa)
		out[1] += 2 * w * product(a2, d2, kappa)
		out[2] += w * (product(a1, d2, kappa) + product(d1, a2, kappa))
		return
	}
	for t, f := range p.field {
		a, d := blend(f, a1, a2), blend(f, d1, d2)
		out[t] += 2 * w * product(&a, &d, p.turned(t, kappa))
	}
}

// makeTangent computes slice z of the derivative of the fields into w.fields.
func (p *products[T]) makeTangent(w *scratch[T], z int) {
	in := p.inputs(w, z)
	var d [4][]T
	for i, c := range p.change {
		if c == nil {
			room := w.room(&w.grads[i], p.source[i].size)
			clear(room)
			d[i] = room
		} else if d[i] = c.all; c.other == nil {
			d[i] = c.at(z, nil)
		} else {
			d[i] = c.at(z, w.room(&w.grads[i], c.size))
		}
	}
	switch {
	case p.vector:
		p.vectorsTangent(w, in, d)
	case p.count == 1:
		copy(w.fields[fieldV], d[0])
	default:
		p.anglesTangent(w, in, d)
	}
}

// set stores pa s_i s_j along with the change of pa and the director.
func (w *scratch[T]) set(i int, pa, dpa, x, y, z, dx, dy, dz T) {
	f := &w.fields
	f[fieldPA][i] = dpa
	f[fieldXX][i] = dpa*x*x + 2*pa*x*dx
	f[fieldXY][i] = dpa*x*y + pa*(x*dy+dx*y)
	f[fieldXZ][i] = dpa*x*z + pa*(x*dz+dx*z)
	f[fieldYY][i] = dpa*y*y + 2*pa*y*dy
	f[fieldYZ][i] = dpa*y*z + pa*(y*dz+dy*z)
}

func (p *products[T]) anglesTangent(w *scratch[T], in, d [4][]T) {
	w.blocks(in[2], in[3], func(lo, hi int, st, ct, sp, cp []T) {
		for i := lo; i < hi; i++ {
			v, s, dv, ds, dt, df := in[0][i], in[1][i], d[0][i], d[1][i], d[2][i], d[3][i]
			st, ct, sp, cp := st[i-lo], ct[i-lo], sp[i-lo], cp[i-lo]
			w.fields[fieldV][i] = dv
			if st != st || sp != sp { // angles that do not exist where S = 0
				w.set(i, 0, 0, 0, 0, 0, 0, 0, 0)
				continue
			}
			x, y, z := cp*st, sp*st, ct
			w.set(i, v*s, dv*s+v*ds, x, y, z, cp*ct*dt-y*df, sp*ct*dt+x*df, -st*dt)
		}
	})
}

func (p *products[T]) vectorsTangent(w *scratch[T], in, d [4][]T) {
	for i, du := range d[1] {
		x, y, z := in[0][3*i], in[0][3*i+1], in[0][3*i+2]
		dx, dy, dz := d[0][3*i], d[0][3*i+1], d[0][3*i+2]
		dpa := 2 * (x*dx + y*dy + z*dz)
		w.set(i, 1, 0, x, y, z, dx, dy, dz)
		w.fields[fieldV][i], w.fields[fieldPA][i] = du+dpa, dpa
	}
}
