// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"context"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// purposeRestart is the random stream of OtherStart.
const purposeRestart uint32 = 161

// Start returns the starting values of all parameters in one slice.
func (v *Inversion) Start() (x []float64) {
	for _, p := range v.Params {
		x = append(x, p.Start...)
	}
	return x
}

// OtherStart returns alternative start number k, drawn from the priors, between the
// bounds or, without either, within 30 % of the original start.
func (v *Inversion) OtherStart(seed uint64, k int) (x []float64) {
	src := tensor.NewStream(seed, purposeRestart, uint32(k))
	for _, p := range v.Params {
		for _, own := range p.Start {
			x = append(x, p.other(own, &src))
		}
	}
	return x
}

func (p *Param) other(own float64, src *tensor.Stream) float64 {
	lo, hi := own-0.3*math.Abs(own), own+0.3*math.Abs(own)
	if own == 0 {
		lo, hi = -1, 1
	}
	if b := p.Bounds; b != nil {
		if !math.IsInf(b[0], 0) && !math.IsInf(b[1], 0) {
			lo, hi = b[0], b[1]
		}
		lo, hi = max(lo, b[0]), min(hi, b[1])
	}
	drawn := []float64{lo + (hi-lo)*src.Float64()}
	if p.Prior != nil && p.Prior.Event == 0 {
		one := []float64{0}
		if theta, err := dist.Numbers(*p.Prior); err == nil && p.Prior.Fill(src, one, []int{1}, theta) == nil {
			return one[0]
		}
	}
	return drawn[0]
}

// BestFit fits the model. If it disagrees with the data, BestFit repeats the fit from
// other starts, at most restarts times, and keeps the lowest minimum.
func (v *Inversion) BestFit(ctx context.Context, seed uint64, restarts int) (*optim.Result, error) {
	best, err := v.Fit(ctx, optim.Settings{})
	if err != nil {
		return nil, err
	}
	relative := v.Sigma == 0 && v.Loss != PoissonLoss
	for k := range restarts {
		if verdict, err := v.Check(best.X, CheckSettings{Relative: relative}); err != nil || !slices.ContainsFunc(verdict.Flags, func(f check.Flag) bool { return f.Kind != check.KindUnknown }) {
			return best, err
		}
		c := *v
		c.Params = nil
		x := v.OtherStart(seed, k)
		for _, p := range v.Params {
			n := len(p.Start)
			p.Start, x = x[:n:n], x[n:]
			c.Params = append(c.Params, p)
		}
		if next, err := c.Fit(ctx, optim.Settings{}); err == nil && next.Cost < best.Cost {
			best = next
		}
	}
	return best, nil
}
