// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// BandSettings are the settings of ConfidenceBand. The zero value is the default.
type BandSettings struct {
	// Level is the probability that the band covers. Default 0.95.
	Level float64
	// Simultaneous widens the band so that it holds everywhere at once (Scheffé's
	// bound); by default it holds at each place.
	Simultaneous bool
	// Sigma widens the band to a prediction band for new data with this error, given as one number
	// or one for each element. It is an absolute error, or a multiple of the estimated one if the
	// errors of the fit were relative. Default: no widening.
	Sigma []float64
}

// Band is the value of a function of the fitted parameters, with its standard deviation and
// confidence limits.
type Band struct {
	Mean, SD, Lower, Upper []float64
}

// ConfidenceBand propagates the errors of a fit to f, a graph of the inputs that were fitted: the
// variance of f is g^T Cov g with the exact gradient g. Where the data do not determine f, SD is
// +Inf.
func ConfidenceBand(f *ad.Node, params []*ad.Node, r *Result, s BandSettings) (*Band, error) {
	s.Level = orDefault(s.Level, 0.95)
	if r.Cov == nil {
		return nil, fmt.Errorf("optim: a band needs a covariance, but a fit by solver lsmr has none: fit with solver exact")
	}
	if len(s.Sigma) > 1 && len(s.Sigma) != f.Size() {
		return nil, fmt.Errorf("optim: the band has %d elements, but BandSettings.Sigma has %d: give one number, or one for each element", f.Size(), len(s.Sigma))
	}
	width, err := r.halfWidth(s.Level)
	if err == nil && s.Simultaneous {
		width, err = r.allWidth(s.Level, max(1, r.Rank))
	}
	if err != nil {
		return nil, err
	}
	x, at, err := r.valuesOf(params)
	if err != nil {
		return nil, err
	}
	prob, err := FromGraph(f, params)
	if err != nil {
		return nil, err
	}
	m, n := prob.M, len(r.Names)
	b := &Band{Mean: make([]float64, m), SD: make([]float64, m), Lower: make([]float64, m), Upper: make([]float64, m)}
	j := make([]float64, m*prob.N)
	if err := prob.Residual(b.Mean, x); err != nil {
		return nil, err
	}
	if err := prob.Jacobian(j, x); err != nil {
		return nil, err
	}
	for i := range m {
		v := 0.0
		for a, ia := range at {
			for c, ic := range at {
				if g := j[a*m+i] * j[c*m+i]; g != 0 {
					v += g * r.Cov[ia*n+ic]
				}
			}
		}
		b.SD[i] = math.Sqrt(max(0, v))
		if len(s.Sigma) > 0 {
			e := s.Sigma[min(i, len(s.Sigma)-1)]
			v += e * e * r.Scale
		}
		half := width * math.Sqrt(max(0, v))
		b.Lower[i], b.Upper[i] = b.Mean[i]-half, b.Mean[i]+half
	}
	return b, nil
}

// valuesOf returns the fitted values of the elements of params, and their numbers
// in the result.
func (r *Result) valuesOf(params []*ad.Node) (x []float64, at []int, err error) {
	for _, p := range params {
		for _, name := range elementNames(p) {
			i := slices.Index(r.Names, name)
			if i < 0 {
				return nil, nil, unknown("parameter", name, r.Names)
			}
			x, at = append(x, r.X[i]), append(at, i)
		}
	}
	return x, at, nil
}
