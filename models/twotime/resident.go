// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"math"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// resident is data in the memory of GPUs, for passes of several goroutines.
type resident struct {
	store  *transport.Store
	totals []fixed // of each angle
}

// fixed is what sums of an angle have beside those over g.
type fixed struct {
	scale float64 // that all sums are multiplied by
	// sums of the weights, and of the weights times c2-1 and its square
	ones, ys, squares float64
}

// newResident sends data to the GPUs of a backend, in a precision in bits; nil if the backend chooses the processor.
func newResident(ctx context.Context, d *Data, b ad.Backend, precision int) (*resident, error) {
	if b == nil {
		return nil, nil
	}
	r := &resident{totals: make([]fixed, len(d.C2))}
	weighted := d.Sigma != nil
	for k := 0; k < len(d.C2) && !weighted; k++ {
		weighted = !d.isWhole(k)
	}
	n := len(d.Setup.Times)
	var err error
	r.store, err = d.Setup.NewStore(ctx, b, transport.Measured{Band: d.Band, Bits: precision, Weighted: weighted, Pairs: func(angle int, y, w []float64) {
		p := pack[float64](d, angle)
		r.totals[angle] = p.fixed
		for i := range n - 1 {
			row := rowStart(n, i)
			p.values(y[row:row+n-1-i], n, i, i+1)
			for j := range n - 1 - i {
				if p.whole != nil && j >= d.Band {
					y[row+j]-- // of c2
				}
				switch {
				case w == nil || j < d.Band:
				case p.w != nil:
					w[row+j] = p.w[row+j]
				default:
					w[row+j] = 1
				}
			}
		}
	}})
	if r.store == nil || err != nil {
		return nil, err
	}
	return r, nil
}

// isWhole reports whether all pairs of an angle that are beyond the band are used.
func (d *Data) isWhole(angle int) bool {
	n := len(d.Setup.Times)
	for i := range n {
		for j := i + 1 + d.Band; j < n; j++ {
			if d.weight(angle, i, j) == 0 {
				return false
			}
		}
	}
	return true
}

// passes returns a passer of its own for a goroutine.
func (r *resident) passes() (passer, error) {
	s, err := r.store.NewSums()
	if err != nil {
		return nil, err
	}
	return &devicePasses{r, s}, nil
}

// devicePasses computes sums over all pairs on GPUs.
type devicePasses struct {
	*resident
	sums *transport.Sums
}

func (p *devicePasses) run(ctx context.Context, theta []float64, curvature bool, gram [][]float64) error {
	if err := p.sums.Run(ctx, theta, curvature, gram); err != nil {
		return err
	}
	for angle, f := range p.totals {
		if err := f.complete(gram[angle], len(theta)+3); err != nil {
			return err
		}
	}
	return nil
}

// complete scales the upper triangle of sums of an angle, puts those without g into it, and mirrors it.
func (f *fixed) complete(g []float64, k int) error {
	for i := range g {
		if g[i] *= f.scale; math.IsNaN(g[i]) || math.IsInf(g[i], 0) {
			return &transport.DomainError{Parameter: "theta", What: "sums over the correlations and the data are not finite: start elsewhere, or give bounds"}
		}
	}
	g[0], g[k-1], g[k*k-1] = f.ones, f.ys, f.squares
	for i := range k {
		for j := range i {
			g[i*k+j] = g[j*k+i]
		}
	}
	return nil
}

// sources makes passers for several goroutines over the same data, on the processor or on GPUs, and says where.
func sources(ctx context.Context, d *Data, b ad.Backend) (make func() (passer, error), on string, err error) {
	r, err := newResident(ctx, d, b, d.Precision)
	switch {
	case err != nil:
		return nil, "", err
	case r != nil:
		return r.passes, ad.DeviceName(b, r.store.Devices()[0]), nil
	case d.Precision == 32:
		return onProcessor[float32](d), "cpu", nil
	}
	return onProcessor[float64](d), "cpu", nil
}

// onProcessor makes the store when it is first needed.
func onProcessor[T float32 | float64](d *Data) func() (passer, error) {
	store := sync.OnceValue(func() *store[T] { return newStore[T](d) })
	return func() (passer, error) { return newPasses(store(), 1) }
}
