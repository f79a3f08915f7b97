// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"math/rand/v2"
	"testing"
)

// longDraws returns correlated draws of a long run, a thousandth of which diverged.
func longDraws(quantities, chains, draws int) Draws {
	d := Draws{Energy: make([][]float64, chains), Diverging: make([][]bool, chains)}
	random := rand.New(rand.NewPCG(1, 2))
	for range quantities {
		x := make([][]float64, chains)
		for c := range x {
			x[c] = make([]float64, draws)
			v := random.NormFloat64()
			for i := range x[c] {
				v = 0.8*v + 0.6*random.NormFloat64()
				x[c][i] = v
			}
		}
		d.Names, d.X = append(d.Names, "theta["+string(rune('a'+len(d.Names)))+"]"), append(d.X, x)
	}
	for c := range chains {
		for range draws {
			d.Energy[c] = append(d.Energy[c], math.Abs(random.NormFloat64()))
			d.Diverging[c] = append(d.Diverging[c], random.IntN(1000) == 0)
		}
	}
	return d
}

// BenchmarkLongRun is the cost of each picture of a long run in a report: an SVG for the page and a
// PNG file.
func BenchmarkLongRun(b *testing.B) {
	for _, size := range []struct {
		name                      string
		quantities, chains, draws int
	}{{"4x1000x20", 20, 4, 1000}, {"4x100000x20", 20, 4, 100_000}, {"4x1000000x3", 3, 4, 1_000_000}} {
		var d Draws
		for _, plot := range []struct {
			name string
			draw func(Draws, ...string) (*Figure, error)
		}{{"trace", Trace}, {"rank", Rank}, {"pair", Pair}, {"density", Density}, {"forest", Forest}, {"autocorrelation", Autocorrelation},
			{"essevolution", ESSEvolution}, {"esslocal", ESSLocal}, {"energy", func(d Draws, _ ...string) (*Figure, error) { return Energy(d) }}} {
			b.Run(size.name+"/"+plot.name, func(b *testing.B) {
				if d.Names == nil {
					d = longDraws(size.quantities, size.chains, size.draws)
				}
				b.ResetTimer()
				for range b.N {
					f, err := plot.draw(d)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(len(f.HTML())), "bytes")
					f.PNG()
				}
			})
		}
	}
}
