// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Long and short slices are put in the order of a comparing sort, with NaN last.
func TestArgsort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, fewNumbers - 1, fewNumbers, 10_000} {
		v := make([]float64, n)
		for i := range v {
			v[i] = math.Round(100*random.NormFloat64()) * math.Pow(10, float64(random.IntN(40)-20))
			switch random.IntN(50) {
			case 0:
				v[i] = math.Inf(random.IntN(2)*2 - 1)
			case 1:
				v[i] = math.NaN()
			case 2:
				v[i] = math.Copysign(0, -1)
			}
		}
		want := slices.Clone(v)
		slices.SortFunc(want, nanLast)
		seen := make([]bool, n)
		for i, at := range argsort(v) {
			if seen[at] || v[at] != want[i] && !(math.IsNaN(v[at]) && math.IsNaN(want[i])) {
				t.Fatalf("%d numbers: place %d holds %g, want %g", n, i, v[at], want[i])
			}
			seen[at] = true
		}
	}
}

// What a summary shares between its statistics is what each of them computes alone, for odd chains
// and equal draws, too.
func TestSummarySharesWork(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, draws := range []int{5, 100, 3001} {
		for _, step := range []float64{0, 0.5} {
			x := autoregressive(uint64(draws), 3, draws, 0.7)
			for _, c := range x {
				for i := range c {
					if step > 0 {
						c[i] = math.Round(c[i]/step)*step + 1000
					}
				}
			}
			halves := Split(x)
			median := Median(Flatten(x))
			distances := apply(x, func(v float64) float64 { return math.Abs(v - median) })
			for _, k := range []struct {
				name      string
				got, want [][]float64
			}{{"scores", newSample(x).splitScores(), ZScale(halves)}, {"distances", newSample(x).folded().splitScores(), ZScale(Split(distances))}} {
				for c := range k.want {
					if !slices.Equal(k.got[c], k.want[c]) {
						t.Errorf("%d draws, step %g: %s of half chain %d differ", draws, step, k.name, c)
					}
				}
			}
			r := Summarize([]string{"a", "b"}, [][][]float64{x, x}, Settings{}).Rows[random.IntN(2)]
			for _, k := range []struct {
				name      string
				got, want float64
			}{{"bulk", r.ESSBulk, ESSBulk(x)}, {"tail", r.ESSTail, ESSTail(x)}, {"R-hat", r.RHat, RHat(x)}, {"median", r.Q50, median},
				{"mean", r.MCSEMean, MCSEMean(x)}, {"SD", r.MCSESD, MCSESD(x)}, {"HDI", r.HDI94.Low, HDI(Flatten(x), 0.94).Low}} {
				if k.got != k.want && !(math.IsNaN(k.got) && math.IsNaN(k.want)) {
					t.Errorf("%d draws, step %g: %s is %g in the summary and %g alone", draws, step, k.name, k.got, k.want)
				}
			}
			bulk, tail := Posterior.ESSGrowth(x, 3)
			for k := range bulk {
				part := make([][]float64, len(x))
				for c := range x {
					part[c] = x[c][:len(x[c])*(k+1)/3]
				}
				if b, t2 := ESSBulk(part), ESSTail(part); bulk[k] != b && !math.IsNaN(b) || tail[k] != t2 && !math.IsNaN(t2) {
					t.Errorf("%d draws, step %g: ESS of %d thirds is %g and %g, want %g and %g", draws, step, k+1, bulk[k], tail[k], b, t2)
				}
			}
			for k, e := range Posterior.ESSSlices(x, 4) {
				if want := ESSLocal(x, float64(k)/4, float64(k+1)/4); e != want && !(math.IsNaN(e) && math.IsNaN(want)) {
					t.Errorf("%d draws, step %g: slice %d has an ESS of %g, want %g", draws, step, k, e, want)
				}
			}
		}
	}
}

// Autocovariances of a few lags are the first of all.
func TestFewLags(t *testing.T) {
	v := autoregressive(1, 1, 2000, 0.9)[0]
	all := Autocorr(v)
	for _, lags := range []int{-1, 0, 1, 100, 500, 3000} {
		few := AutocorrTo(v, lags)
		if len(few) != max(0, min(lags, len(v))) {
			t.Fatalf("%d lags: %d", lags, len(few))
		}
		for i := range few {
			if math.Abs(few[i]-all[i]) > 1e-12 {
				t.Errorf("lag %d of %d: %g, want %g", i, lags, few[i], all[i])
			}
		}
	}
}

// Quantiles of unsorted numbers are those of sorted ones to the last bit.
func TestQuantileSelects(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for n := range 300 {
		v := make([]float64, n)
		for i := range v {
			v[i] = math.Round(float64(1+n%7) * random.NormFloat64())
			if random.IntN(40) == 0 {
				v[i] = math.Inf(random.IntN(2)*2 - 1)
			}
		}
		for _, p := range []float64{-0.5, 0, 0.05, 0.25, 0.5, random.Float64(), 0.95, 1, 1.5} {
			got, want := Quantile(v, p), Ascend(v).Quantile(p)
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("quantile %g of %v: %g, want %g", p, v, got, want)
			}
		}
	}
}
