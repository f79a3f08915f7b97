// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/euryale-dev/euryale/internal/parallel"
)

// spectra holds C and S of all fields of a morphology at the elements that detectors read.
//
// The block of run i starts at 4 fields base[i] numbers. There each field has n complex numbers of C
// and then n of S, where n is the length of the run.
type spectra[T float] struct {
	*layout
	fields    int // number of fields that are transformed
	materials []*products[T]
	polarizer *polarizer[T] // what makes the fields; nil if the materials do
	window    *window[T]
	data      []T
	half      []T // half spectra of some slices
	// value of each slice that is constant, NaN for the others, by slice and field; the half spectrum of a
	// constant slice is not set
	even    []T
	workers int
	pool    *sync.Pool  // memory of idle goroutines, each a *scratch[T]
	grad    *spectra[T] // spectra that accumulate the gradients
}

func newSpectra[T float](l *layout, w Window, workers int) *spectra[T] {
	ny, nx := l.n[1], l.n[2]
	return &spectra[T]{layout: l, workers: workers, window: newWindow[T](w, l), pool: &sync.Pool{
		New: func() any { return &scratch[T]{n: ny * nx, fft: newTransformer[T](ny, nx)} },
	}}
}

// load sets up s for the morphology m.
func (s *spectra[T]) load(m *Morphology) {
	s.materials = s.materials[:0]
	first := 0
	for i := range m.Materials {
		p := newProducts[T](&m.Materials[i], i, first, s.depth)
		first += p.count
		s.materials = append(s.materials, p)
	}
}

// merge makes s hold the polarization along x for these contrasts, if that is less than the fields, or the fields if
// there are no contrasts.
func (s *spectra[T]) merge(contrasts []contrast) (merged bool) {
	s.polarizer = nil
	if contrasts != nil {
		s.polarizer = newPolarizer(s.materials, contrasts)
	}
	s.fields = 0
	for _, p := range s.parts() {
		_, count := p.span()
		s.fields += count
	}
	if n := 4 * s.fields * s.size; len(s.data) != n {
		s.grad = nil
		if cap(s.data) < n {
			s.data = make([]T, n)
		}
		s.data = s.data[:n]
	}
	return s.polarizer != nil
}

// parts returns what makes the fields.
func (s *spectra[T]) parts() (list []part[T]) {
	if s.polarizer != nil {
		return []part[T]{s.polarizer}
	}
	for _, p := range s.materials {
		list = append(list, p)
	}
	return list
}

// gradient returns spectra that accumulate gradients of s: empty ones or, in place, spectra that
// overwrite the values of s column by column as exposeBack goes on.
func (s *spectra[T]) gradient(inPlace bool) spectrum {
	g := s.grad
	switch {
	case inPlace:
		g = &spectra[T]{data: s.data}
	case g == nil:
		g = &spectra[T]{data: make([]T, len(s.data))}
		s.grad = g
	default:
		clear(g.data)
	}
	g.layout, g.window, g.workers, g.pool = s.layout, s.window, s.workers, s.pool
	g.fields, g.half, g.materials, g.polarizer = s.fields, s.half, s.materials, s.polarizer
	return g
}

// run returns C and S of a field in run i.
func (s *spectra[T]) run(i, field int) (c, sn []T) {
	n := 2 * int(s.to[i]-s.from[i])
	at := 4*s.fields*s.base[i] + 2*n*field
	return s.data[at : at+n : at+n], s.data[at+n : at+2*n : at+2*n]
}

// batch returns the number of slices that are transformed between two passes over the sums, the
// number of elements of a slice's half spectrum, and memory for all: about as much as one field of the volume takes.
func (s *spectra[T]) batch() (slices, size int, half []T) {
	size = 2 * s.n[1] * s.columns()
	parts := len(s.parts())
	slices = max(s.n[0]/s.fields, (8*s.workers+parts-1)/parts)
	most := 1 << 23 / (size * s.fields)
	if parts == 1 { // the polarization: fewer fields, whose sums take less time to pass over; and as many slices for every worker
		most = 3 << 21 / (size * s.fields)
		most = max(most/s.workers*s.workers, min(most, s.workers))
	}
	slices = min(slices, max(1, most), s.n[0])
	if n := slices * s.fields * size; len(s.half) < n {
		s.half = make([]T, n)
	}
	return slices, size, s.half
}

// transform computes the sums over all slices.
func (s *spectra[T]) transform(ctx context.Context) error {
	slices, size, half := s.batch()
	parts := s.parts()
	if n := s.n[0] * s.fields; len(s.even) != n {
		s.even = make([]T, n)
	}
	for z := 0; z < s.n[0]; z += slices {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(slices, s.n[0]-z)
		parallel.Do(s.workers, n*len(parts), func(_, i int) {
			p, dz := parts[i%len(parts)], i/len(parts)
			first, count := p.span()
			at, even := dz*s.fields+first, (z+dz)*s.fields+first
			s.halfSpectra(half[at*size:(at+count)*size], s.even[even:even+count], p, z+dz)
		})
		w := s.weigh(z, n, size)
		parallel.Do(s.workers, s.n[1], func(_, row int) {
			if z == 0 { // what was there before
				clear(s.data[4*s.fields*s.base[row*s.planes] : 4*s.fields*s.base[(row+1)*s.planes]])
			}
			s.accumulate(w, half, row)
		})
	}
	s.addConstant()
	s.setCentre()
	return nil
}

// halfSpectra transforms slice z of the fields of p into half, except fields that are constant.
func (s *spectra[T]) halfSpectra(half, even []T, p part[T], z int) {
	w := s.pool.Get().(*scratch[T])
	defer s.pool.Put(w)
	count, empty := len(even), false
	size := len(half) / count
	w.borrow = s.window == nil && !s.collapsed()
	for k := range count { // the field is made at the end of the memory of its spectrum
		w.fields[k] = half[(k+1)*size-w.n : (k+1)*size]
	}
	if s.collapsed() {
		s.mean(w, p, count)
	} else {
		empty = p.fill(w, z)
	}
	for k := range count {
		if even[k] = 0; empty {
			continue
		}
		s.window.apply(w.fields[k], z)
		if even[k] = evenness(w.fields[k]); even[k] != even[k] {
			w.fft.forward(half[k*size:(k+1)*size], w.fields[k])
		}
	}
}

// evenness returns the value that all elements of v have, or NaN if they differ.
func evenness[T float](v []T) T {
	if v[0] != v[len(v)-1] || v[0] != v[len(v)/2] || !uniform(v) {
		return T(math.NaN())
	}
	return v[0]
}

// weighted holds what the passes of a batch over the sums share.
type weighted[T float] struct {
	at      [][]int // elements of half at which the slices of each field begin that are not constant
	weights [][]T   // cosine and sine of each of these slices, by plane and field
}

// weigh returns the places and weights of slices z to z+n, except those that are constant.
func (s *spectra[T]) weigh(z, n, size int) *weighted[T] {
	w := &weighted[T]{at: make([][]int, s.fields), weights: make([][]T, s.planes*s.fields)}
	for k := range s.fields {
		for dz := range n {
			if v := s.even[(z+dz)*s.fields+k]; v == v {
				continue
			}
			w.at[k] = append(w.at[k], (dz*s.fields+k)*size)
			for m := range s.planes {
				a, b := s.twiddle(z+dz, m)
				w.weights[m*s.fields+k] = append(w.weights[m*s.fields+k], T(a), T(b))
			}
		}
	}
	return w
}

// accumulate adds the slices of a batch to the runs of a row.
func (s *spectra[T]) accumulate(w *weighted[T], half []T, row int) {
	for m := range s.planes {
		i := row*s.planes + m
		if s.from[i] == s.to[i] {
			continue
		}
		lo := 2 * (row*s.columns() + int(s.from[i]))
		for k, at := range w.at {
			c, sn := s.run(i, k)
			pairSums(c, sn, half[lo:], at, w.weights[m*s.fields+k])
		}
	}
}

// addConstant adds the constant slices to the runs, of which they have only the element at row and column 0.
func (s *spectra[T]) addConstant() {
	for m := range s.planes {
		if s.from[m] == s.to[m] || s.from[m] > 0 {
			continue
		}
		for k := range s.fields {
			c, sn := s.run(m, k)
			for z := range s.n[0] {
				if v := s.even[z*s.fields+k]; v == v && v != 0 {
					a, b := s.twiddle(z, m)
					v *= T(s.n[1] * s.n[2])
					c[0] += T(a) * v
					sn[0] += T(b) * v
				}
			}
		}
	}
}

// place returns the element of field k at place x of run i in data.
func (s *spectra[T]) place(i, k, x int) int {
	n := int(s.to[i] - s.from[i])
	return 4*s.fields*s.base[i] + 4*n*k + 2*(x-int(s.from[i]))
}

// setCentre replaces the value at q = 0 by the mean of its neighbours.
func (s *spectra[T]) setCentre() {
	list := s.neighbours()
	for k := range s.fields {
		var sum T
		for _, b := range list {
			sum += s.data[s.place(b.row*s.planes+b.m, k, b.x)]
		}
		at := s.place(0, k, 0)
		s.data[at], s.data[at+1] = sum/T(len(list)), 0
	}
}

// backCentre is the transpose of setCentre, for gradients in data.
func (s *spectra[T]) backCentre() {
	list := s.neighbours()
	for k := range s.fields {
		at := s.place(0, k, 0)
		t := s.data[at] / T(len(list))
		s.data[at], s.data[at+1] = 0, 0
		for _, b := range list {
			s.data[s.place(b.row*s.planes+b.m, k, b.x)] += t
		}
	}
}

// back propagates the gradients of C and S, which are in data, to the arrays of m, which have the
// shape of the morphology's: the transpose of transform. It returns the gradients of the contrasts that are left to it,
// if there is a polarizer.
func (s *spectra[T]) back(ctx context.Context, m *Morphology) ([]contrast, error) {
	s.backCentre()
	parts := s.partsTo(m)
	batch, size, half := s.batch()
	for z := 0; z < s.n[0]; z += batch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(batch, s.n[0]-z)
		w := s.halfWeights(z, n, size)
		parallel.Do(s.workers, s.n[1], func(_, row int) { s.scatter(w, half, row, n, size) })
		parallel.Do(s.workers, n*len(parts), func(_, i int) {
			p, dz := parts[i%len(parts)], i/len(parts)
			first, count := p.span()
			at := (dz*s.fields + first) * size
			s.backSlices(half[at:at+count*size], p, count, z+dz)
		})
	}
	if s.polarizer == nil {
		return nil, nil
	}
	return parts[0].(*polarizer[T]).gradients(), nil
}

// partsTo returns what makes the fields, with the arrays of m for gradients.
func (s *spectra[T]) partsTo(m *Morphology) (list []part[T]) {
	materials := slices.Clone(s.materials)
	for i, p := range materials {
		q := *p
		for _, f := range m.Materials[i].fields() {
			q.grad = append(q.grad, newStack[T](*f.at, s.depth))
		}
		materials[i] = &q
		list = append(list, &q)
	}
	if s.polarizer != nil {
		p := *s.polarizer
		p.materials, p.sums = materials, make([][]contrast, s.depth)
		return []part[T]{&p}
	}
	return list
}

// halfWeights returns the places and half the weights of all slices from z to z+n.
func (s *spectra[T]) halfWeights(z, n, size int) *weighted[T] {
	w := &weighted[T]{at: make([][]int, s.fields), weights: make([][]T, s.planes)}
	for k := range s.fields {
		for dz := range n {
			w.at[k] = append(w.at[k], (dz*s.fields+k)*size)
		}
	}
	for m := range s.planes {
		for dz := range n {
			a, b := s.twiddle(z+dz, m)
			w.weights[m] = append(w.weights[m], T(a)/2, T(b)/2)
		}
	}
	return w
}

// scatter is the transpose of accumulate, halved: see hermitian.
func (s *spectra[T]) scatter(w *weighted[T], half []T, row, n, size int) {
	width := 2 * s.columns()
	for j := range n * s.fields {
		clear(half[j*size+row*width : j*size+(row+1)*width])
	}
	for m := range s.planes {
		i := row*s.planes + m
		if s.from[i] == s.to[i] {
			continue
		}
		lo := row*width + 2*int(s.from[i])
		for k, at := range w.at {
			c, sn := s.run(i, k)
			spreadPair(half[lo:], c, sn, at, w.weights[m])
		}
	}
}

// backSlices propagates the gradients of the half spectra to slice z of the arrays.
func (s *spectra[T]) backSlices(half []T, p part[T], count, z int) {
	w := s.pool.Get().(*scratch[T])
	defer s.pool.Put(w)
	size := len(half) / count
	for k := range count {
		h := half[k*size : (k+1)*size]
		s.hermitian(h)
		w.fields[k] = h[:w.n]
		w.fft.inverse(w.fields[k], h)
		s.window.apply(w.fields[k], z)
	}
	if s.collapsed() {
		s.scatterMean(w, p, count)
	} else {
		p.back(w, z)
	}
}

// hermitian turns half the gradient with respect to a half spectrum, whose other half is the
// conjugate, into the half spectrum whose inverse transform is the gradient with respect to the real
// slice. Most columns stay as they are; those that are their own mirror image are made Hermitian.
func (s *spectra[T]) hermitian(h []T) {
	ny, cols := s.n[1], s.columns()
	mirror := []int{0}
	if s.n[2]%2 == 0 && s.n[2] > 1 {
		mirror = append(mirror, cols-1)
	}
	for _, x := range mirror {
		for y := 0; 2*y <= ny; y++ {
			a, b := 2*(y*cols+x), 2*((ny-y)%ny*cols+x)
			re, im := h[a]+h[b], h[a+1]-h[b+1]
			h[a], h[a+1], h[b], h[b+1] = re, im, re, -im
		}
	}
}
