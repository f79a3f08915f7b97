// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package assembly

import (
	"fmt"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/peer"
	"gonum.org/v1/gonum/stat"
)

// TestGridOfLazyLaws compares areas that exist whole with lazy ones, seed by seed, and prints the tables of
// docs/decisions/0009-assemblies.md: means, standard deviations, and in parentheses the difference of the means in
// standard errors and the Kolmogorov-Smirnov distance. Only the default law must agree.
func TestGridOfLazyLaws(t *testing.T) {
	for _, size := range [][3]int{{1e3, 100, 200}, {1e4, 100, 200}, {1e5, 317, 40}} { // n, k, associations
		for _, p := range []float64{0.01, 0.05} {
			for _, beta := range []float64{0.05, 0.1} {
				a := Area{Name: "A", N: size[0], K: size[1], Beta: beta}
				t.Run(fmt.Sprintf("n=%.0e/p=%g/beta=%g", float64(a.N), p, beta), func(t *testing.T) {
					gridPoint(t, p, a, 200, size[2])
				})
			}
		}
	}
}

// gridPoint compares the laws at one point of the grid.
func gridPoint(t *testing.T, p float64, a Area, seeds, associations int) {
	laws := []string{"exact", "lazy-exact", "forgetful", "lazy-ref"}
	all := map[string]figures{}
	for _, law := range laws {
		a.Lazy = law != "exact"
		s := Settings{P: p, Threads: 1, Lazy: map[string]Sampling{"forgetful": forgetful, "lazy-ref": Normal}[law]}
		bytes, begin := 0, peer.CPUTime()
		all[law] = collect(seeds, s, func(s Settings) map[string][]float64 {
			out, b := formedBrain(t, s, a)
			bytes += b.Bytes()
			return out
		})
		ms := (peer.CPUTime() - begin) / float64(seeds) * 1e3
		for k, v := range collect(associations, s, func(s Settings) map[string][]float64 { return associated(t, s, a) }) {
			if k == "Apost_Bpost" || k == "AB_Apost" || k == "wC" {
				all[law][k] = v
			}
		}
		row := fmt.Sprintf("| %s |", law)
		for _, k := range []string{"support", "weight", "completion", "Apost_Bpost"} {
			row += " " + compared(all[law][k], all["exact"][k], law == "exact") + " |"
		}
		t.Logf("%s %.1f ms, %.2f MB |", row, ms, float64(bytes)/float64(seeds)/1e6)
	}
	all["lazy-exact"].same(t, all["exact"], sortedKeys(all["exact"])...)
}

// compared formats the last of the figures, and compares it with another.
func compared(x, y [][]float64, itself bool) string {
	u, v := column(x, len(x[0])-1), column(y, len(y[0])-1)
	text := fmt.Sprintf("%.4g ± %.2g", stat.Mean(u, nil), stat.StdDev(u, nil))
	if itself {
		return text
	}
	se := math.Sqrt(stat.Variance(u, nil)/float64(len(u)) + stat.Variance(v, nil)/float64(len(v)))
	return fmt.Sprintf("%s (%+.1f, %.2f)", text, (stat.Mean(u, nil)-stat.Mean(v, nil))/max(se, 1e-12), stat.KolmogorovSmirnov(u, nil, v, nil))
}
