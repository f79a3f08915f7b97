package assembly

import (
	"fmt"
	"testing"
)

// BenchmarkProject forms an assembly in 25 steps, of lazy areas, beside what the C++
// engine of the reference took on such a machine (-O2, one thread).
func BenchmarkProject(b *testing.B) {
	for _, c := range []struct {
		n, k int
		p    float64
		cpp  float64 // s
	}{
		{1e4, 100, 0.01, .0014}, {1e4, 100, 0.05, .0020}, {1e5, 317, 0.01, .0085}, {1e5, 317, 0.05, .017},
		{1e6, 1000, 0.001, .041}, {1e6, 1000, 0.01, .062}, {1e6, 1000, 0.05, .113}, {1e7, 3162, 0.001, .32}, {1e7, 10000, 0.001, 2.6},
	} {
		b.Run(fmt.Sprintf("%.0e/%d/%g", float64(c.n), c.k, c.p), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				brain := New(Settings{P: c.p, Seed: uint64(i)})
				check(b, brain.AddStimulus("S", c.k))
				check(b, brain.AddArea(Area{Name: "A", N: c.n, K: c.k, Beta: 0.05, Lazy: true}))
				if _, err := brain.Form("S", "A", 25); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e3, "ms")
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/c.cpp, "x-C++")
		})
	}
}
