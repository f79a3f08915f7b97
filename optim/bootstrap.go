// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// purposeBootstrap is the random stream of Bootstrap.
const purposeBootstrap uint32 = 133

// Resampling says what Bootstrap draws anew.
type Resampling string

// The ways of resampling.
const (
	// ResampleCases draws rows of the data with replacement, and so keeps whatever belongs to a row. It is the default.
	ResampleCases Resampling = "cases"
	// ResampleResiduals draws residuals, freed of what the fit took of them, and adds them to the fitted values: the places of the data stay.
	ResampleResiduals Resampling = "residuals"
)

// BootstrapSettings are the settings of Bootstrap. The zero value is the default.
type BootstrapSettings struct {
	// The BatchSettings are those of the fits.
	BatchSettings
	// Resampling says what is drawn. Default ResampleCases.
	Resampling Resampling
	// Draws is the number of data sets that are drawn and fitted. Default 1000.
	Draws int
	// Level is the probability that the intervals cover. Default 0.95.
	Level float64
	Seed  uint64
	// Lower and Upper are the bounds of the parameters. Default: none.
	Lower, Upper []float64
	// Before are the first draws, of an earlier call with the same arguments that was interrupted. Nil begins with none.
	Before *Bootstrapped
	// Keep, if not nil, is called with all draws so far, several times before the last are there. Its error ends the call.
	Keep func(b *Bootstrapped) error
}

// Bootstrapped are fits of resampled data.
type Bootstrapped struct {
	Names []string
	// X holds a row of parameters for each draw whose fit converged, and Failed counts the others.
	X      []float64
	Failed int
	// SD, Lower and Upper are the standard deviations and the percentile intervals.
	SD, Lower, Upper []float64
}

// Done returns the number of draws whose fits have ended.
func (b *Bootstrapped) Done() int {
	if len(b.Names) == 0 {
		return b.Failed
	}
	return len(b.X)/len(b.Names) + b.Failed
}

// keptParts is the number of parts of a bootstrap that is kept.
const keptParts = 20

// mostResampled is the largest number of resampled values at a time: 80 MB.
const mostResampled = 1e7

// Bootstrap fits resampled data, as many data sets at once as a Batch takes, from the fit r of model, with params its fitted parameters, to d, which has no covariance.
// Draws do not depend on the number of threads.
//
// Reference: Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapters 9 and 13.
func Bootstrap(ctx context.Context, model *ad.Node, params []*ad.Node, d Observed, r *Result, s BootstrapSettings) (_ *Bootstrapped, err error) {
	defer given.Caught(&err)
	if err := given.Args("optim.Bootstrap", "ctx", ctx, "model", model, "r", r); err != nil {
		return nil, err
	}
	w, err := newResampler(model, params, d, r, &s)
	if err != nil {
		return nil, err
	}
	out := &Bootstrapped{}
	for _, i := range w.at {
		out.Names = append(out.Names, r.Names[i])
	}
	most := max(1, int(mostResampled/len(d.Y)))
	if s.Keep != nil {
		most = min(most, max(50, s.Draws/keptParts))
	}
	if s.Before != nil {
		if !slices.Equal(s.Before.Names, out.Names) || s.Before.Done() > s.Draws {
			return nil, fmt.Errorf("optim: the first %s are of %v, but %s of %v are wanted: begin again without them", errtext.Count(s.Before.Done(), "draw"), s.Before.Names, errtext.Count(s.Draws, "draw"), out.Names)
		}
		out.X, out.Failed = slices.Clone(s.Before.X), s.Before.Failed
	}
	for first := out.Done(); first < s.Draws; first += most {
		res, err := w.batch.Fit(ctx, w.rows(first, min(most, s.Draws-first)), s.BatchSettings)
		if err != nil {
			return nil, err
		}
		for i, status := range res.Status {
			if x := res.Row(i); status.Converged() && linalg.AllFinite(x) {
				out.X = append(out.X, x...)
			} else {
				out.Failed++
			}
		}
		if s.Keep != nil {
			if err := s.Keep(out); err != nil {
				return nil, err
			}
		}
	}
	if n := s.Draws - out.Failed; n < max(2, s.Draws/2) {
		return nil, fmt.Errorf("optim: only %d of %s of resampled data converged: intervals from them would mislead; the data may be too few, use profiles", n, errtext.Count(s.Draws, "fit"))
	}
	out.summarise(s.Level)
	return out, nil
}

// summarise fills the standard deviations and the intervals.
func (b *Bootstrapped) summarise(level float64) {
	n := len(b.Names)
	for k := range n {
		var v []float64
		for i := k; i < len(b.X); i += n {
			v = append(v, b.X[i])
		}
		sd, lo, hi := spreadOf(v, level)
		b.SD, b.Lower, b.Upper = append(b.SD, sd), append(b.Lower, lo), append(b.Upper, hi)
	}
}

// Quantity returns the standard deviation and the interval of level of a function of the parameters, given in the order of Names.
func (b *Bootstrapped) Quantity(f func(x []float64) float64, level float64) (sd, lower, upper float64) {
	n := len(b.Names)
	var v []float64
	for i := 0; i < len(b.X); i += n {
		v = append(v, f(b.X[i:i+n]))
	}
	return spreadOf(v, level)
}

// spreadOf returns the standard deviation and the quantiles between which level lies. It sorts v.
func spreadOf(v []float64, level float64) (sd, lower, upper float64) {
	mean, m2 := 0.0, 0.0
	for i, x := range v {
		d := x - mean
		mean += d / float64(i+1)
		m2 += d * (x - mean)
	}
	slices.Sort(v)
	at := func(q float64) float64 {
		place := q * float64(len(v)-1)
		i := min(int(place), len(v)-2)
		return v[i] + (place-float64(i))*(v[i+1]-v[i])
	}
	return math.Sqrt(m2 / float64(len(v)-1)), at((1 - level) / 2), at((1 + level) / 2)
}

// resampler draws data.
type resampler struct {
	batch     *Batch
	s         *BootstrapSettings
	at        []int     // numbers of the parameters in the result
	start     []float64 // their values
	y, sigma  []float64
	mean      []float64 // fitted values
	residuals []float64 // to draw from, in units of sigma
}

func newResampler(model *ad.Node, params []*ad.Node, d Observed, r *Result, s *BootstrapSettings) (*resampler, error) {
	m := len(d.Y)
	s.Level = orDefault(s.Level, 0.95)
	if s.Draws <= 0 {
		s.Draws = 1000
	}
	if s.Resampling == "" {
		s.Resampling = ResampleCases
	}
	if _, err := r.halfWidth(s.Level); err != nil {
		return nil, err
	}
	w := &resampler{s: s, y: d.Y, sigma: d.Sigma}
	switch {
	case s.Resampling != ResampleCases && s.Resampling != ResampleResiduals:
		return nil, unknown("resampling", string(s.Resampling), []string{string(ResampleCases), string(ResampleResiduals)})
	case d.Cov != nil:
		return nil, fmt.Errorf("optim: rows of correlated data cannot be resampled one by one: use profiles")
	case r.M-r.PriorResiduals != m || r.Residuals == nil:
		return nil, fmt.Errorf("optim: the result has %d residuals, but there are %d data: pass the result of a fit of these data", r.M-r.PriorResiduals, m)
	}
	if w.sigma == nil {
		w.sigma = repeated(1, m)
	}
	if err := positive("sigma", w.sigma, m); err != nil {
		return nil, err
	}
	var err error
	if w.start, w.at, err = r.valuesOf(params); err != nil {
		return nil, err
	}
	y := ad.Input("y to be resampled", m)
	w.batch, err = NewBatch(ad.Sub(ad.Broadcast(ad.Reshape(model, model.Size()), m), y), params, y)
	w.fitted(r)
	return w, err
}

// fitted takes fitted values and residuals from a result. A residual is divided by the root of the part of its variance that the fit left, and their mean is removed.
func (w *resampler) fitted(r *Result) {
	m, n := len(w.y), len(r.X)
	w.mean, w.residuals = make([]float64, m), make([]float64, m)
	sum := 0.0
	for i := range m {
		w.mean[i] = w.y[i] + w.sigma[i]*r.Residuals[i]
		taken := 0.0
		for a := range n {
			for b := range n {
				if r.Jacobian != nil && r.Scale > 0 {
					if g := r.Jacobian[a*r.M+i] * r.Jacobian[b*r.M+i]; g != 0 {
						taken += g * r.Cov[a*n+b] / r.Scale
					}
				}
			}
		}
		left := 1 - taken
		if !(left > 1e-3) { // a row that the fit follows
			left = 1
		}
		w.residuals[i] = -r.Residuals[i] / math.Sqrt(left)
		sum += w.residuals[i]
	}
	for i := range w.residuals {
		w.residuals[i] -= sum / float64(m)
	}
}

// rows draws count data sets, of which the first has the given number.
func (w *resampler) rows(first, count int) Rows {
	m := len(w.y)
	out := Rows{Columns: [][]float64{make([]float64, count*m)}, Weights: make([]float64, count*m), Start: w.start, Lower: w.s.Lower, Upper: w.s.Upper, Count: count}
	for k := range count {
		random := tensor.NewStream(w.s.Seed, purposeBootstrap, uint32(first+k))
		y, weight := out.Columns[0][k*m:(k+1)*m], out.Weights[k*m:(k+1)*m]
		copy(y, w.y)
		for i := range m {
			j := int(random.Float64() * float64(m))
			if w.s.Resampling == ResampleCases {
				weight[j]++
				continue
			}
			y[i], weight[i] = w.mean[i]+w.sigma[i]*w.residuals[j], 1/w.sigma[i]
		}
		for i := range m {
			if w.s.Resampling == ResampleCases {
				weight[i] = math.Sqrt(weight[i]) / w.sigma[i]
			}
		}
	}
	return out
}
