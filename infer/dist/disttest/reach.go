// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package disttest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/infer/dist"
)

// reach says where a continuous distribution without quantiles has probability: cuts gather around its parameters, its
// ends and its mode, which are searched in decades.
type reach struct {
	lo, hi float64
	mode   float64
	cuts   []float64 // increasing, inside lo..hi
}

func newReach(d dist.Dist, p []float64, logProb func(x float64) float64) reach {
	lo, hi, err := dist.Range(d)
	if err != nil {
		lo, hi = math.Inf(-1), math.Inf(1)
	}
	r := reach{lo: lo, hi: hi}
	centres := append(slices.Clone(p), 0, lo, hi)
	if !math.IsInf(hi-lo, 0) {
		centres = append(centres, lo+(hi-lo)/2)
	}
	r.around(centres...)
	r.mode = climb(r, logProb)
	r.around(r.mode)
	return r
}

// around adds cuts at and around centres.
func (r *reach) around(centres ...float64) {
	for _, c := range centres {
		if math.IsInf(c, 0) || math.IsNaN(c) {
			continue
		}
		all := []float64{c}
		for k := -10; k <= 12; k++ {
			s := math.Pow(10, float64(k))
			all = append(all, c-s, c+s)
		}
		for _, x := range all {
			if x > r.lo && x < r.hi {
				r.cuts = append(r.cuts, x)
			}
		}
	}
	slices.Sort(r.cuts)
	r.cuts = slices.Compact(r.cuts)
}

// climb finds the highest of the cuts, and climbs from there.
func climb(r reach, f func(x float64) float64) float64 {
	high := func(x float64) float64 {
		if v := f(x); !math.IsNaN(v) {
			return v
		}
		return math.Inf(-1)
	}
	x := slices.MaxFunc(r.cuts, func(a, b float64) int { return cmp.Compare(high(a), high(b)) })
	best := high(x)
	step := max(1, math.Abs(x)) / 2
	for range 4000 {
		moved := false
		for _, y := range []float64{x - step, x + step} {
			if y > r.lo && y < r.hi {
				if v := high(y); v > best {
					x, best, moved = y, v, true
				}
			}
		}
		if !moved {
			if step /= 2; step < 1e-9*max(1e-6, math.Abs(x)) {
				break
			}
		}
	}
	return x
}

// integral integrates f from a to b.
func (r reach) integral(f func(x float64) float64, a, b float64) (sum float64) {
	cuts := []float64{a}
	for _, c := range r.cuts {
		if c > a && c < b {
			cuts = append(cuts, c)
		}
	}
	cuts = append(cuts, b)
	for i := 1; i < len(cuts); i++ {
		a, b := cuts[i-1], cuts[i]
		switch {
		case math.IsInf(a, -1) && math.IsInf(b, 1):
			sum += outwards(f, 1) + outwards(func(u float64) float64 { return f(-u) }, 1)
		case math.IsInf(a, -1):
			sum += outwards(func(u float64) float64 { return f(b - u) }, max(1, math.Abs(b)))
		case math.IsInf(b, 1):
			sum += outwards(func(u float64) float64 { return f(a + u) }, max(1, math.Abs(a)))
		default:
			sum += halved(f, a, b, between(f, a, b, 0.1), 40)
		}
	}
	return sum
}

// halved halves a..b until its integral no longer changes.
func halved(f func(x float64) float64, a, b, whole float64, left int) float64 {
	mid := a + (b-a)/2
	if whole == 0 || left == 0 || mid <= a || mid >= b {
		return whole
	}
	low, high := between(f, a, mid, 0.1), between(f, mid, b, 0.1)
	if math.Abs(low+high-whole) <= 1e-13+1e-11*math.Abs(whole) {
		return low + high
	}
	return halved(f, a, mid, low, left-1) + halved(f, mid, b, high, left-1)
}

// points returns values that have a density and at which it is smooth if it has kinks at its parameters only.
func points(d dist.Dist, p []float64, logProb func(x float64) float64) (x []float64) {
	for _, u := range []float64{.13, .31, .57, .83} {
		x = append(x, d.Quantile(u, p))
	}
	usable := func(v float64) bool { lp := logProb(v); return !math.IsNaN(v) && !math.IsNaN(lp) && !math.IsInf(lp, 0) }
	if all := slices.DeleteFunc(slices.Clone(x), func(v float64) bool { return !usable(v) }); len(all) > 0 {
		slices.Sort(all)
		return slices.Compact(all)
	}
	x = nil
	if d.Discrete {
		from, to, _, err := window(d, p, logProb)
		for k := from; err == nil && k <= to && len(x) < 4; k++ {
			if math.Exp(logProb(k)) > 1e-3 {
				x = append(x, k)
			}
		}
	} else {
		r := newReach(d, p, logProb)
		for _, side := range []float64{-1, 1} {
			for k := 13.0; k > -12; k -= 0.25 {
				s := side * math.Pow(10, k)
				if y := r.mode + s; y > r.lo && y < r.hi && logProb(y) >= logProb(r.mode)-4 {
					x = append(x, r.mode+0.37*s, r.mode+0.81*s)
					break
				}
			}
		}
		if len(x) == 0 {
			x = append(x, r.mode)
		}
	}
	if len(x) == 0 {
		x = append(x, 0)
	}
	return x
}

// window returns the whole numbers that have probability: those between quantiles, with some beyond them, or up to 20000
// on both sides of an end or of 0. rest bounds the probability beyond them if that is not negligible.
func window(d dist.Dist, p []float64, logProb func(k float64) float64) (from, to, rest float64, err error) {
	if d.CDFOf != nil || d.QuantileOf != nil {
		from, to = d.Quantile(1e-12, p)-3, d.Quantile(1-1e-13, p)+6
		if !(to-from < 1e7) {
			err = fmt.Errorf("Quantile(1e-12) is %g and Quantile(1-1e-13) is %g: want whole numbers not far from each other", from+3, to-6)
		}
		return from, to, 0, err
	}
	const most = 20000
	lo, hi, err := dist.Range(d)
	if err != nil {
		return 0, 0, 0, err
	}
	switch {
	case !math.IsInf(lo, 0):
		from, to = math.Ceil(lo), min(math.Floor(hi), math.Ceil(lo)+most)
	case !math.IsInf(hi, 0):
		from, to = math.Floor(hi)-most, math.Floor(hi)
	default:
		from, to = -most, most
	}
	for _, k := range []float64{from, to} {
		if v := math.Exp(logProb(k)) * most; v > 1e-12 && (k == from && from > lo || k == to && to < hi) {
			rest += 10 * v
		}
	}
	return from, to, rest, nil
}

// unevenByDensity is Unevenness for distributions without quantiles, by sums or integrals of the density.
func unevenByDensity(t *testing.T, l dist.Family, d dist.Dist, p, x []float64) (worst float64) {
	t.Helper()
	f := Evaluator(t, l, logProb)
	lp := func(x float64) float64 { return f(x, p)[0] }
	density := func(x float64) float64 { return math.Exp(lp(x)) }
	sorted := slices.Sorted(slices.Values(x))
	n := float64(len(sorted))
	if d.Discrete {
		from, to, _, err := window(d, p, lp)
		if err != nil {
			return math.NaN()
		}
		sum, k := 0.0, from
		for _, u := range shares {
			q := sorted[int(u*n)]
			for ; k <= min(q, to); k++ {
				sum += density(k)
			}
			upTo, _ := slices.BinarySearch(sorted, q+0.5)
			worst = math.Max(worst, math.Abs(float64(upTo)/n-sum))
		}
		return worst
	}
	r := newReach(d, p, lp)
	sum, from := 0.0, r.lo
	for _, u := range shares {
		q := sorted[int(u*n)]
		if q > from {
			sum += r.integral(density, from, q)
			from = q
		}
		upTo, _ := slices.BinarySearch(sorted, math.Nextafter(q, math.Inf(1)))
		worst = math.Max(worst, math.Abs(float64(upTo)/n-sum))
	}
	return worst
}
