// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// MultiSettings are the settings of MultiStart. The zero value is the default.
type MultiSettings struct {
	Settings
	// Starts is the number of starts. Default 10 times the number of parameters, at least 20.
	Starts int
	// Sampler places the starts. Default LatinHypercube.
	Sampler Sampler
	Seed    uint64
	// Lower and Upper are the box from which the starts are drawn. Default: the problem's bounds. A
	// side whose ends are positive and a factor of a thousand apart is sampled on a logarithmic
	// scale.
	Lower, Upper []float64
	// Threads is the number of fits that run at once. Default GOMAXPROCS for graphs, and 1 for Go
	// functions, because those need not be safe for concurrent use.
	Threads int
}

// Found is a minimum and the number of starts that led to it.
type Found struct {
	*Result
	Hits int
	// Start is the first start that led here.
	Start []float64
}

// MultiStart fits from many starts, the problem's own among them if it has one, and returns the
// minima found, the lowest first. The result depends on the seed, not on threads. It returns an
// error if the settings are invalid or no start could be fitted, or the context's error.
func MultiStart(ctx context.Context, p *Problem, s MultiSettings) (_ []Found, err error) {
	defer given.Caught(&err)
	if err := given.Args("optim.MultiStart", "ctx", ctx, "p", p); err != nil {
		return nil, err
	}
	own := p.Start
	if own == nil && p.Guess != nil {
		if err := p.guess(); err != nil {
			return nil, err
		}
		own = p.Start
	}
	starts, err := s.starts(p, own)
	if err != nil {
		return nil, err
	}
	if s.Threads <= 0 {
		if s.Threads = 1; p.graph != nil {
			s.Threads = runtime.GOMAXPROCS(0)
		}
	}
	results, errs := make([]*Result, len(starts)), make([]error, len(starts))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(s.Threads, len(starts)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			q := p.Clone()
			for {
				i := int(next.Add(1)) - 1
				if i >= len(starts) || ctx.Err() != nil {
					return
				}
				q.Start = starts[i]
				results[i], errs[i] = LeastSquares(ctx, q, s.Settings)
			}
		}()
	}
	wg.Wait()
	found := distinct(results, starts)
	if len(found) == 0 {
		return nil, fmt.Errorf("optim: none of %s could be fitted: %w", errtext.Count(len(starts), "start"), errors.Join(ctx.Err(), errs[0]))
	}
	return found, ctx.Err()
}

// starts returns the starts, the given one first.
func (s *MultiSettings) starts(p *Problem, own []float64) ([][]float64, error) {
	if s.Lower == nil {
		s.Lower = p.Lower
	}
	if s.Upper == nil {
		s.Upper = p.Upper
	}
	if s.Starts <= 0 {
		s.Starts = max(20, 10*p.N)
	}
	if len(s.Lower) != p.N || len(s.Upper) != p.N {
		return nil, fmt.Errorf("optim: there are %d lower and %d upper bounds of the starts: set Lower and Upper to %d values each", len(s.Lower), len(s.Upper), p.N)
	}
	for i := range p.N {
		if lo, hi := s.Lower[i], s.Upper[i]; !(lo < hi) || !linalg.Finite(lo) || !linalg.Finite(hi) {
			return nil, fmt.Errorf("optim: the starts of %s are to lie between %g and %g: set Lower and Upper to finite numbers, lower < upper", p.name(i), lo, hi)
		}
	}
	u, err := s.Sampler.points(s.Starts, p.N, s.Seed)
	if err != nil {
		return nil, err
	}
	var out [][]float64
	if own != nil {
		out = append(out, own)
	}
	for k := range s.Starts {
		x := make([]float64, p.N)
		for i := range x {
			x[i] = between(s.Lower[i], s.Upper[i], u[k*p.N+i])
			if p.Lower != nil {
				x[i] = max(x[i], p.Lower[i])
			}
			if p.Upper != nil {
				x[i] = min(x[i], p.Upper[i])
			}
		}
		out = append(out, x)
	}
	return out, nil
}

// between goes part u of the way, in logarithms where the ends are far apart.
func between(lo, hi, u float64) float64 {
	if lo > 0 && hi/lo >= 1000 {
		return lo * math.Exp(u*math.Log(hi/lo))
	}
	return lo + u*(hi-lo)
}

// distinct sorts results and merges those of one minimum: equal cost to six
// digits and parameters within a thousandth of their standard deviations, or of
// themselves.
func distinct(results []*Result, starts [][]float64) []Found {
	var out []Found
	var order []int
	for i, r := range results {
		if r != nil && linalg.Finite(r.Cost) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := results[a], results[b]
		if c := cmp.Compare(x.Cost, y.Cost); c != 0 && math.Abs(x.Cost-y.Cost) > 1e-9*math.Abs(y.Cost) {
			return c
		}
		return -cmp.Compare(truth(x.Status.Converged()), truth(y.Status.Converged()))
	})
	for _, i := range order {
		r := results[i]
		k := slices.IndexFunc(out, func(f Found) bool { return sameMinimum(f.Result, r) })
		if k >= 0 {
			out[k].Hits++
			continue
		}
		out = append(out, Found{Result: r, Hits: 1, Start: starts[i]})
	}
	return out
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func sameMinimum(a, b *Result) bool {
	if math.Abs(a.Cost-b.Cost) > 1e-6*max(math.Abs(a.Cost), math.Abs(b.Cost))+1e-300 {
		return false
	}
	sd := a.SD()
	for i, x := range a.X {
		near := 1e-3 * max(math.Abs(x), math.Abs(b.X[i]))
		if linalg.Finite(sd[i]) {
			near = max(1e-6*math.Abs(x), 1e-3*sd[i])
		}
		if math.IsInf(sd[i], 1) { // the data say nothing of it
			continue
		}
		if !(math.Abs(x-b.X[i]) <= near) {
			return false
		}
	}
	return true
}
