// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"slices"
	"sync"
)

// sparseRun is the state shared by all runs of one UnrollSparse.
type sparseRun struct {
	Dynamics
	ws, wr  *Sparse // weights from the stimulus and within the area; wr may be nil
	plastic bool
	n, m    int // neurons of the area, and of the stimulus
	k       float64
	ended   sync.Pool // finished forward runs, each a *path, whose gradient may be asked for next
}

// keep stores a finished run together with a copy of its inputs.
func (r *sparseRun) keep(p *path, in [][]float64) {
	for _, x := range in {
		p.seen = append(p.seen, slices.Clone(x))
	}
	r.ended.Put(p)
}

// kept returns the last finished run of these inputs, or runs them again.
func (r *sparseRun) kept(out []float64, in [][]float64) *path {
	p, _ := r.ended.Get().(*path)
	if p == nil || !slices.EqualFunc(p.seen, in, slices.Equal[[]float64]) {
		return r.forward(make([]float64, len(out)), in)
	}
	p.bind(out, in)
	return p
}

// bind makes the run use the present memory of its inputs and outputs.
func (p *path) bind(out []float64, in [][]float64) {
	if p.out = out; !p.Cap.Straight {
		p.soft = out
	}
	p.stimulus = in[0]
	at := 1
	for _, t := range p.tables {
		if t != nil {
			t.in = in[at : at+len(t.in)]
			at += len(t.in)
		}
	}
}

// table holds the rows of one fibre that a run has touched.
type table struct {
	fibre *Sparse
	in    [][]float64
	rows  []*synapses // rows by source; nil until touched
	to    []int32     // targets of the row being made, before it is copied to its final length
	w     []float64
}

// synapses holds the synapses of one source. g is their gradient, nil until it is needed.
type synapses struct {
	to   []int32
	w, g []float64
}

func (t *table) row(i int) *synapses {
	s := t.rows[i]
	if s == nil {
		t.to, t.w = t.fibre.rows.row(t.to[:0], t.w[:0], i, t.in)
		s = &synapses{to: slices.Clone(t.to), w: slices.Clone(t.w)}
		t.rows[i] = s
	}
	return s
}

// path is one run: its history, and the weights as they are now.
type path struct {
	*sparseRun
	seen     [][]float64 // copies of the inputs
	stimulus []float64
	beta     float64
	tables   [2]*table // weights from the stimulus, and within the area; the second may be nil
	out      []float64 // activities, [steps, n]
	soft     []float64 // soft activities, whose gradient is used, [steps, n]
	matters  [][]int32 // by step, the neurons with an activity or a gradient
	edge     [][2]int  // by step, the k-th and the next neuron, for Threshold
	cut      [][]float64
}

// forward computes out.
func (r *sparseRun) forward(out []float64, in [][]float64) *path {
	p := &path{sparseRun: r, stimulus: in[0], out: out, soft: out}
	if r.Cap.Straight {
		p.soft = make([]float64, len(out))
	}
	at := 1
	for f, s := range []*Sparse{r.ws, r.wr} {
		if s != nil {
			p.tables[f] = &table{fibre: s, in: in[at : at+len(s.nodes)], rows: make([]*synapses, s.sources)}
			at += len(s.nodes)
		}
	}
	if r.plastic {
		p.beta = in[at][0]
	}
	h := make([]float64, r.n)
	for t := range r.Steps {
		clear(h)
		p.each(t, func(f, i int, a float64) {
			if a == 0 {
				return
			}
			s := p.tables[f].row(i)
			for q, j := range s.to {
				h[j] += a * s.w[q]
			}
		})
		p.fire(t, h)
		p.strengthen(t)
	}
	return p
}

// each calls do with every source i of fibre f that may matter in step t, and with its activity.
func (p *path) each(t int, do func(f, i int, a float64)) {
	for i, a := range p.stimulus {
		do(0, i, a)
	}
	if t == 0 || p.tables[1] == nil {
		return
	}
	y := p.activities(p.out, t-1)
	for _, i := range p.matters[t-1] {
		do(1, int(i), y[i])
	}
}

func (p *path) activities(x []float64, t int) []float64 { return x[t*p.n : (t+1)*p.n] }

// fire chooses the activities in step t from the inputs h.
func (p *path) fire(t int, h []float64) {
	y, soft := p.activities(p.out, t), p.activities(p.soft, t)
	if p.Cap.Hard || p.Cap.Straight {
		hardRow(y, h, p.k)
	}
	if !p.Cap.Hard {
		for j := range h {
			h[j] /= p.Cap.Temperature
		}
		p.edge = append(p.edge, p.soften(soft, h))
	}
	var list []int32
	for j := range y {
		if y[j] != 0 || soft[j] != 0 {
			list = append(list, int32(j))
		}
	}
	p.matters = append(p.matters, list)
}

// soften applies the soft cap to x = h/T. It returns the places of the k-th and the next largest
// element if Threshold needs them.
func (p *path) soften(y, x []float64) (edge [2]int) {
	switch {
	case p.Cap.Kind == CappedSimplex:
		simplexRow(y, x, p.k)
	case p.Cap.Kind == Threshold && int(p.k) < p.n:
		edge = around(x, int(p.k))
		tau := (x[edge[0]] + x[edge[1]]) / 2
		for j, v := range x {
			y[j] = logistic(v - tau)
		}
	default:
		sigmoidRow(y, x, p.k)
	}
	return edge
}

// around returns the places of the k-th and the (k+1)-th largest element; among equals the lower
// number comes first.
func around(x []float64, k int) (edge [2]int) {
	for e := range edge {
		v := kth(append([]float64{}, x...), k+e)
		before := 0 // elements that come before the equals of v
		for _, w := range x {
			if w > v {
				before++
			}
		}
		for j, w := range x {
			if w == v {
				if before++; before == k+e {
					edge[e] = j
					break
				}
			}
		}
	}
	return edge
}

// strengthen applies Hebb's rule after step t. It records the old values of weights that MaxWeight
// cuts.
func (p *path) strengthen(t int) {
	if !p.plastic {
		return
	}
	y := p.activities(p.out, t)
	var cut []float64
	p.each(t, func(f, i int, a float64) {
		if a == 0 {
			return
		}
		s := p.tables[f].row(i)
		for q, j := range s.to {
			grow := p.beta * a * y[j]
			if grow == 0 {
				continue
			}
			w := s.w[q] * (1 + grow)
			if p.MaxWeight > 0 && w >= p.MaxWeight {
				cut = append(cut, s.w[q])
				w = p.MaxWeight
			}
			s.w[q] = w
		}
	})
	p.cut = append(p.cut, cut)
}
