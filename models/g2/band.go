// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/tensor"
)

// Band is a model curve with its uncertainty on a grid of x.
type Band struct {
	// X is the grid, evenly spaced in log x, and Mid the curve on it: the fit, or the median of draws.
	X, Mid    []float64
	Low, High []float64 // bounds of the band; nil for a point fit
}

// grid returns n points evenly spaced in log x, which reach half a decade beyond the data (delays)
// or a tenth beyond (q).
func (c Curve) grid(of string, n int) []float64 {
	lo, hi := slices.Min(c.X), slices.Max(c.X)
	beyond := math.Sqrt(10)
	if of == "q" {
		beyond = 1.1
	}
	lo, hi = lo/beyond, hi*beyond
	out := make([]float64, n)
	for i := range out {
		out[i] = lo * math.Pow(hi/lo, float64(i)/float64(n-1))
	}
	return out
}

// Line returns the fitted curve on 128 points that reach beyond the data, or nil for a failed bin.
func (f Fit) Line() (*Band, error) {
	if f.Status == "failed" {
		return nil, nil
	}
	x := f.Curve.grid(f.Model.Of, 128)
	at, err := f.Model.On(x)
	if err != nil {
		return nil, err
	}
	return &Band{X: x, Mid: slices.Clone(at(f.X))}, nil
}

// PosteriorBand returns the median and the central interval of probability prob, above 0 and below 1,
// of the model over draws, each in the order of Model.Params, on 128 points that reach beyond the curve. It is nil
// if there are no draws.
func (m Model) PosteriorBand(c Curve, draws [][]float64, prob float64) (*Band, error) {
	x := c.grid(m.Of, 128)
	at, err := m.On(x)
	if err != nil || len(draws) == 0 {
		return nil, err
	}
	values := make([][]float64, len(x))
	for _, p := range draws {
		for i, v := range at(p) {
			values[i] = append(values[i], v)
		}
	}
	b := &Band{X: x}
	pick := func(v []float64, p float64) float64 { return v[min(len(v)-1, int(p*float64(len(v))))] }
	for _, v := range values {
		slices.Sort(v)
		b.Low = append(b.Low, pick(v, (1-prob)/2))
		b.Mid = append(b.Mid, pick(v, 0.5))
		b.High = append(b.High, pick(v, (1+prob)/2))
	}
	return b, nil
}

// Predictive holds the quantiles 2.5, 25, 50, 75 and 97.5 % of new data at the delays of a curve.
type Predictive struct{ Low, InnerLow, Mid, InnerHigh, High []float64 }

// PredictiveBands draws new data from up to 1000 draws of a fit of the model that Posterior made
// for a curve, and returns their quantiles at each point.
func PredictiveBands(post *infer.Posterior, fit *infer.Fit, c Curve, seed uint64) (Predictive, error) {
	white := c.repaired("delay").white
	var at [][]float64
	src := tensor.NewStream(seed, purposePredictive, 0)
	total := 0
	for c := range fit.Chains() {
		total += fit.Len(c)
	}
	step, k := max(1, total/1000), 0
	for c := range fit.Chains() {
		for d := range fit.Len(c) {
			if k++; k%step != 0 {
				continue
			}
			y, err := post.Predict("y", fit.Unconstrained(c, d), &src)
			if err != nil {
				return Predictive{}, err
			}
			if white != nil {
				y = white.apply(white.factor, y)
			}
			if at == nil {
				at = make([][]float64, len(y))
			}
			for i, v := range y {
				at[i] = append(at[i], v)
			}
		}
	}
	var p Predictive
	for _, v := range at {
		slices.Sort(v)
		q := func(u float64) float64 { return v[int(u*float64(len(v)))] }
		p.Low, p.InnerLow, p.Mid = append(p.Low, q(.025)), append(p.InnerLow, q(.25)), append(p.Mid, q(.5))
		p.InnerHigh, p.High = append(p.InnerHigh, q(.75)), append(p.High, q(.975))
	}
	return p, nil
}

// purposePredictive is the random stream of PredictiveBands.
const purposePredictive uint32 = 102
