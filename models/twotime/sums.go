// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// sums are, at parameters of the motion, the weighted sums of products of the columns 1, g, dg/dtheta and y-1 over the pairs of each
// angle. All of least squares follows from them: the best contrast and offset, the sum of squares, gradients and curvatures.
type sums struct {
	data *Data
	p    int // parameters of the motion
	pass passer
	at   []float64
	full bool        // whether gram has the products of derivatives
	gram [][]float64 // of each angle, square and row-major
	free func()      // what gives memory of GPUs back; nil on the processor
}

// passer computes sums over all pairs.
type passer interface {
	run(ctx context.Context, theta []float64, curvature bool, gram [][]float64) error
}

// newSums prepares passes over data at a precision in bits.
func newSums(d *Data, threads, precision int) (*sums, error) {
	s := &sums{data: d, p: len(d.Setup.Names())}
	var err error
	if precision == 32 {
		s.pass, err = newPasses(newStore[float32](d), threads)
	} else {
		s.pass, err = newPasses(newStore[float64](d), threads)
	}
	s.room()
	return s, err
}

// sumsOn prepares passes over data in float64 where a backend computes.
func sumsOn(ctx context.Context, d *Data, b ad.Backend, threads int) (*sums, error) {
	r, err := newResident(ctx, d, b, 64)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return newSums(d, threads, 64)
	}
	pass, err := r.store.NewSums()
	if err != nil {
		r.store.Free()
		return nil, err
	}
	s := &sums{data: d, p: len(d.Setup.Names()), pass: &devicePasses{r, pass}}
	s.free = func() {
		pass.Free()
		r.store.Free()
	}
	s.room()
	return s, nil
}

// release gives the memory of GPUs back.
func (s *sums) release() {
	if s.free != nil {
		s.free()
	}
}

func (s *sums) room() {
	for range s.data.C2 {
		s.gram = append(s.gram, make([]float64, s.size()*s.size()))
	}
}

// size is the number of columns.
func (s *sums) size() int { return s.p + 3 }

// evaluate computes the sums at theta, unless they are those of it already. Without curvature the products of two derivatives are left out.
func (s *sums) evaluate(ctx context.Context, theta []float64, curvature bool) error {
	if s.isAt(theta) && (s.full || !curvature) {
		return nil
	}
	s.at = s.at[:0]
	if err := s.pass.run(ctx, theta, curvature, s.gram); err != nil {
		return err
	}
	s.at, s.full = append(s.at, theta...), curvature
	return nil
}

// isAt reports whether the sums are those of theta.
func (s *sums) isAt(theta []float64) bool { return slices.Equal(s.at, theta) }
