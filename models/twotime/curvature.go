// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Where a measurement ends before the correlation has decayed, contrast, offset and rate make up for each other along a curved valley. The
// estimates are then biased and scatter more than the linearised model says.

// bias returns how far the curvature of the model moves the estimates on average, in standard deviations of the linearised model:
//
//	-1/2 H^-1 J'W m,  m = sum over e of d^2 c2/de^2,  sum over e of e e' = covariance
//
// Second derivatives are differences over one standard deviation.
//
// Reference: Box 1971, Journal of the Royal Statistical Society B 33, 171.
func (s *scorer) bias(ctx context.Context, h, cov *mat.SymDense) ([]float64, error) {
	out := make([]float64, s.size)
	inverse, ok := inverted(h, s.size)
	if !ok {
		return out, nil
	}
	sums := make([][]float64, len(s.angles)) // J'W m by the parameters of the angle
	err := inParallel(ctx, s.threads, len(s.angles), func(hand, angle int) (err error) {
		sums[angle], err = s.bent(hand, angle, cov)
		return err
	})
	if err != nil {
		return nil, err
	}
	all := make([]float64, s.size)
	for angle, of := range sums {
		for a, to := range s.angles[angle].to {
			for i, u := range to {
				all[i] += u * of[a]
			}
		}
	}
	for i := range out {
		shift := 0.0
		for j, v := range all {
			shift -= inverse.At(i, j) * v / 2
		}
		if sd := math.Sqrt(cov.At(i, i)); sd > 0 && !math.IsNaN(shift) {
			out[i] = shift / sd
		}
	}
	return out, nil
}

// bent returns J'W m of an angle.
func (s *scorer) bent(hand, angle int, cov *mat.SymDense) ([]float64, error) {
	to := s.angles[angle].to
	p := len(to)
	local := mat.NewSymDense(p, nil)
	for a := range p {
		for b := a; b < p; b++ {
			sum := 0.0
			for i, u := range to[a] {
				for j, v := range to[b] {
					sum += u * v * cov.At(i, j)
				}
			}
			local.SetSym(a, b, sum)
		}
	}
	sums, m := make([]float64, p), make([]float64, len(s.d.C2[angle]))
	for _, e := range axes(local) {
		if err := s.second(hand, angle, e, m); err != nil {
			return nil, err
		}
	}
	_, columns, err := s.local(hand, angle, s.at)
	if err != nil {
		return nil, err
	}
	weights := s.weights(angle)
	for a, column := range columns {
		for i, w := range weights {
			if w > 0 {
				sums[a] += w * column[i] * m[i] / 2 // each pair is there twice
			}
		}
	}
	return sums, nil
}

// second adds the second difference of c2 of an angle over a step of its parameters in both directions to m. A step that leads to where the
// model has no meaning is halved.
func (s *scorer) second(hand, angle int, step []float64, m []float64) error {
	linear := len(step) - len(s.free)
	names := s.d.Setup.Names()
	for size := 1.; size > 0.1; size /= 2 {
		sum, valid := make([]float64, len(m)), true
		for _, side := range []float64{-size, 0, size} {
			at := Point{Theta: slices.Clone(s.at.Theta), Contrast: slices.Clone(s.at.Contrast), Offset: s.at.Offset} // linear in the offset
			if linear > 0 {
				at.Contrast[angle] += side * step[0]
			}
			for k, name := range s.free {
				at.Theta[slices.Index(names, name)] += side * step[linear+k]
			}
			if side != 0 && s.d.Setup.Domain(at.Theta) != nil {
				valid = false
				break
			}
			g, _, err := s.local(hand, angle, at)
			if err != nil {
				return err
			}
			for i, v := range g {
				if side == 0 {
					sum[i] -= 2 * at.Contrast[angle] * v
				} else {
					sum[i] += at.Contrast[angle] * v
				}
			}
		}
		if valid && !slices.ContainsFunc(sum, math.IsNaN) {
			for i, v := range sum {
				m[i] += v / (size * size)
			}
			return nil
		}
	}
	return nil
}

// axes returns vectors whose products with themselves add up to a covariance.
func axes(cov *mat.SymDense) (out [][]float64) {
	p := cov.SymmetricDim()
	a, scale := scaled(cov, p)
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return nil
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	for k, v := range e.Values(nil) {
		if !(v > 0) {
			continue
		}
		axis := make([]float64, p)
		for i := range axis {
			axis[i] = scale[i] * math.Sqrt(v) * vectors.At(i, k)
		}
		out = append(out, axis)
	}
	return out
}

// Widening is what the standard deviation of the linearised model is multiplied by: with the curvature along one direction, estimates have the
// mean square 1 + 3 bias^2.
func Widening(bias float64) float64 { return math.Sqrt(1 + 3*bias*bias) }

// mostBias is the bias, in standard deviations, above which an interval is called rough: it is then a tenth wider than that of the linearised
// model, and estimates are no longer symmetric about the truth.
const mostBias = 0.25

// Rough returns the numbers of the parameters in Fit.X whose estimates are biased by more than a
// quarter of a standard deviation, because the model bends within the errors.
func (e *SharedErrors) Rough() (all []int) {
	for i, b := range e.Bias {
		if math.Abs(b) > mostBias {
			all = append(all, i)
		}
	}
	return all
}
