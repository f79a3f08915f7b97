// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// What new neurons get has the distribution of the largest of many binomials, or of the
// reference's truncated normals: probabilities to 1e-9, draws by chi-square at 1e-3.
func TestCandidateTheory(t *testing.T) {
	var cases []struct {
		Exact struct {
			P       float64
			Largest float64   `json:"mean_largest"`
			Kth     float64   `json:"mean_kth"`
			Support []int     `json:"pool_support"`
			PMF     []float64 `json:"pool_pmf"`
		}
		Reference struct {
			Free    int `json:"n_minus_w"`
			K       int
			Total   int `json:"total_k"`
			P       float64
			Alpha   float64
			Support []int
			PMF     []float64
		} `json:"reference_truncated_normal"`
	}
	golden.JSON(t, &cases, "assemblies", "candidate_sampler_theory.json")
	for i, c := range cases {
		n, k, total := c.Reference.Free, c.Reference.K, c.Reference.Total
		distribution := newBinomial(total, c.Exact.P)
		largest, kth := float64(distribution.from), float64(distribution.from)
		for _, s := range distribution.tail {
			largest -= math.Expm1(float64(n) * math.Log1p(-s))
			if s > 0 {
				kth += mathext.RegIncBeta(float64(k), float64(n-k+1), s)
			}
		}
		if math.Abs(largest-c.Exact.Largest) > 1e-9*largest || math.Abs(kth-c.Exact.Kth) > 1e-9*kth {
			t.Errorf("case %d: mean largest %.12g and k-th %.12g, want %.12g and %.12g", i, largest, kth, c.Exact.Largest, c.Exact.Kth)
		}
		if a := distribution.quantile(float64(k) / float64(n)); float64(a) != c.Reference.Alpha {
			t.Errorf("case %d: quantile %d, want %v", i, a, c.Reference.Alpha)
		}
		src := newRandomStream(7, 1, i)
		// The k largest of one step hang together: only the first step-wise draw of each
		// rank is independent, so one rank at random is kept of each of many steps.
		var exact, normal []int
		for range 4000 {
			o := order{distribution: distribution, left: n}
			rank := src.below(k)
			m := 0
			for range rank + 1 {
				m, _ = o.next(src.uniform())
			}
			exact = append(exact, m)
		}
		for range 1 + 4000/k {
			l := &inputDistribution{binomial: distribution, parts: []part{{n: total, p: c.Reference.P}}}
			draw := normalCandidates(l, n, k, &src)
			for m, more := draw(); more; m, more = draw() {
				normal = append(normal, m)
			}
		}
		chiSquare(t, "exact", exact, c.Exact.Support, c.Exact.PMF)
		chiSquare(t, "normal", normal, c.Reference.Support, c.Reference.PMF)
	}
}

// chiSquare compares draws with probabilities; rare values are put together.
func chiSquare(t *testing.T, what string, draws, support []int, pmf []float64) {
	t.Helper()
	count := map[int]int{}
	for _, d := range draws {
		count[d]++
	}
	want, got, total := []float64{0}, []float64{0}, 0
	rest := 1.0
	for i, v := range support {
		last := len(want) - 1
		want[last] += pmf[i] * float64(len(draws))
		got[last] += float64(count[v])
		total += count[v]
		if rest -= pmf[i]; want[last] >= 8 && rest*float64(len(draws)) >= 8 {
			want, got = append(want, 0), append(got, 0)
		}
	}
	x, cells := 0.0, len(want)
	for i := range want {
		x += (got[i] - want[i]) * (got[i] - want[i]) / want[i]
	}
	if total != len(draws) {
		t.Errorf("%s: %d of %d draws outside the support", what, len(draws)-total, len(draws))
	}
	if p := (distuv.ChiSquared{K: float64(max(cells-1, 1))}).Survival(x); p < 1e-3 {
		t.Errorf("%s: chi-square %.1f of %d cells, p = %.2g: %v, want %v", what, x, cells, p, got, want)
	}
}
