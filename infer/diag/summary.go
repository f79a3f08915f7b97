// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"slices"
)

// Settings are the settings of Summarize; the zero value is the default.
type Settings struct {
	// probability of the interval. Default 0.89, as in ArviZ since 1.0; too odd to be mistaken for a
	// test
	CI  float64
	HDI bool // true to make CI the shortest interval instead of the equal-tailed one
	// package whose definitions are used. Default Posterior, whose MCSESD also holds for antithetic
	// chains
	Convention Convention
}

// Row describes one quantity.
type Row struct {
	Name          string
	Mean, SD      float64
	CI            Interval // interval of probability Summary.Prob, equal-tailed or shortest
	Q05, Q50, Q95 float64  // 5 %, 50 % and 95 % quantiles
	HDI94         Interval // shortest interval of probability 0.94
	MCSEMean      float64  // Monte Carlo standard error of Mean
	MCSESD        float64  // Monte Carlo standard error of SD
	ESSBulk       float64  // effective sample size for the centre
	ESSTail       float64  // effective sample size for the 5 % and 95 % quantiles
	RHat          float64  // potential scale reduction R-hat; 1 means that the chains agree
	Constant      bool     // true if all draws are equal, so that there is nothing to estimate
	// TailK is the shape of the heavier tail, by ParetoK, where some draws are far from the others, and 0 elsewhere. From 1/2 on there is no standard deviation, and from 1 on
	// no mean.
	TailK  float64
	Stuck  []int // chains that never moved while others did; none for integers
	Copies []int // chains that repeat an earlier one draw by draw
}

// Summary is a table of quantities. It prints itself as text, Markdown, HTML
// and CSV; only CSV keeps all digits.
type Summary struct {
	Rows          []Row
	Chains, Draws int     // number of chains, and of draws per chain
	Prob          float64 // probability of Row.CI
	HDI           bool    // true if Row.CI is the shortest interval
	Note          string  // line of text below the table
}

// Summarize describes quantities x[quantity][chain][draw] called names.
func Summarize(names []string, x [][][]float64, s Settings) Summary {
	if len(names) != len(x) {
		panic("diag: Summarize needs one name for each quantity")
	}
	if s.CI == 0 {
		s.CI = 0.89
	}
	out := Summary{Prob: s.CI, HDI: s.HDI, Rows: make([]Row, len(x))}
	if len(x) > 0 {
		out.Chains, out.Draws = size(x[len(x)-1])
	}
	z := new(scores)
	each(len(x), func(i int) { out.Rows[i] = describe(names[i], x[i], s, z) })
	return out
}

// Row returns the row of a quantity, or nil.
func (s Summary) Row(name string) *Row {
	for i := range s.Rows {
		if s.Rows[i].Name == name {
			return &s.Rows[i]
		}
	}
	return nil
}

// MaxRHat returns the largest R-hat of quantities that are not constant, NaN if
// any is NaN or there is none. Pointwise log likelihoods, whose names begin with log_lik, do not count
// beside other quantities.
func (s Summary) MaxRHat() float64 {
	return s.fold(math.Inf(-1), math.Max, func(r *Row) float64 { return r.RHat })
}

// MinESS returns the smallest bulk or tail effective sample size of quantities
// that are not constant, NaN if any is NaN or there is none. Pointwise log likelihoods do not count, as in
// MaxRHat.
func (s Summary) MinESS() float64 {
	return s.fold(math.Inf(1), math.Min, func(r *Row) float64 { return math.Min(r.ESSBulk, r.ESSTail) })
}

func (s Summary) fold(start float64, pick func(a, b float64) float64, of func(*Row) float64) float64 {
	out := start
	for _, r := range s.judged() {
		if !r.Constant {
			out = pick(out, of(r))
		}
	}
	if out == start {
		return math.NaN()
	}
	return out
}

// exponent is that of two in the largest of the draws, and 0 if one is not finite or all are 0.
func exponent(x [][]float64) int {
	most := 0.0
	for _, chain := range x {
		for _, v := range chain {
			if v = math.Abs(v); !(v <= math.MaxFloat64) {
				return 0
			}
			most = max(most, v)
		}
	}
	_, k := math.Frexp(most)
	return k
}

// scaled returns draws times two to the power k.
func scaled(x [][]float64, k int) [][]float64 {
	out := make([][]float64, len(x))
	for c := range x {
		out[c] = make([]float64, len(x[c]))
		for i, v := range x[c] {
			out[c][i] = math.Ldexp(v, k)
		}
	}
	return out
}

// times returns the row of the quantity times two to the power k.
func (r Row) times(k int) Row {
	for _, v := range []*float64{&r.Mean, &r.SD, &r.CI.Low, &r.CI.High, &r.Q05, &r.Q50, &r.Q95, &r.HDI94.Low, &r.HDI94.High, &r.MCSEMean, &r.MCSESD} {
		*v = math.Ldexp(*v, k)
	}
	return r
}

// whole says whether all values are integers, as those of states and counts: one of them may be the same in a whole chain that moves.
func whole(all []float64) bool {
	return !slices.ContainsFunc(all, func(v float64) bool { return v != math.Trunc(v) })
}

func describe(name string, x [][]float64, set Settings, z *scores) Row {
	if k := exponent(x); k > 240 || k < -240 { // fourth powers would overflow or vanish
		return describe(name, scaled(x, -k), set, z).times(k)
	}
	s := newSample(x)
	s.scores = z
	conv, sd := set.Convention, SD(s.all)
	r := Row{
		Name: name, Mean: Mean(s.all), SD: sd, HDI94: sortedHDI(s.sorted(), 0.94),
		CI:  Interval{s.quantile((1 - set.CI) / 2), s.quantile((1 + set.CI) / 2)},
		Q05: s.quantile(0.05), Q50: s.quantile(0.5), Q95: s.quantile(0.95),
		MCSEMean: conv.mcseMean(s, sd), MCSESD: conv.mcseSD(s),
		ESSBulk: conv.essBulk(s), ESSTail: conv.essTail(s, 0.05), RHat: Posterior.rhat(s),
		Constant: len(s.all) > 0 && s.width == 0,
	}
	if set.HDI {
		r.CI = sortedHDI(s.sorted(), set.CI)
	}
	counts := whole(s.all)
	if !counts {
		r.TailK = s.tailShape(x, r.Q05, r.Q50, r.Q95)
	}
	for c := range x {
		if !r.Constant && !counts && len(x[c]) > 1 && span(x[c:c+1]) == 0 {
			r.Stuck = append(r.Stuck, c)
		}
		if !r.Constant && len(x[c]) > 1 && slices.ContainsFunc(x[:c], func(o []float64) bool { return slices.Equal(o, x[c]) }) {
			r.Copies = append(r.Copies, c)
		}
	}
	return r
}
