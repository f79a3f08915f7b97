// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// table is a set of readings and what they were read at.
type table struct{ y, x []float64 }

// poisson draws a count by multiplying uniform numbers.
func poisson(r *rand.Rand, mean float64) float64 {
	if mean > 50 {
		return max(0, math.Round(mean+math.Sqrt(mean)*r.NormFloat64()))
	}
	n, p := -1.0, 1.0
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= r.Float64()
	}
	return n
}

// readings are tables in which nothing was copied.
var readings = []struct {
	name string
	draw func(r *rand.Rand) table
}{
	{"counts without x", func(r *rand.Rand) (t table) {
		mean := math.Pow(10, 4*r.Float64()-1)
		for range 5 + r.IntN(200) {
			t.y = append(t.y, poisson(r, mean))
		}
		return t
	}},
	{"outcomes without x", func(r *rand.Rand) (t table) {
		p := r.Float64()
		for range 5 + r.IntN(200) {
			t.y = append(t.y, truth(r.Float64() < p))
		}
		return t
	}},
	{"outcomes, sorted", func(r *rand.Rand) (t table) {
		for range 5 + r.IntN(200) {
			t.y = append(t.y, truth(r.Float64() < 0.4))
		}
		slices.Sort(t.y)
		return t
	}},
	{"counts at few x", func(r *rand.Rand) (t table) {
		rate, levels := math.Pow(10, 3*r.Float64()-1), 1+r.IntN(8)
		for i := range 5 + r.IntN(80) {
			x := float64(i % levels)
			t.x, t.y = append(t.x, x), append(t.y, poisson(r, rate*x))
		}
		return t
	}},
	{"outcomes at few x", func(r *rand.Rand) (t table) {
		for i := range 5 + r.IntN(80) {
			x := float64(i % 6)
			t.x, t.y = append(t.x, x), append(t.y, truth(r.Float64() < 1/(1+math.Exp(3-x))))
		}
		return t
	}},
	{"rounded readings at few x", func(r *rand.Rand) (t table) {
		digit, levels := 0.1, 2+r.IntN(9)
		noise := digit * math.Pow(10, 2*r.Float64()-1)
		for i := range 10 + r.IntN(80) {
			x := float64(i % levels)
			t.x, t.y = append(t.x, x), append(t.y, digit*math.Round((2+3*x+noise*r.NormFloat64())/digit))
		}
		return t
	}},
	{"rounded readings without x", func(r *rand.Rand) (t table) {
		noise := math.Pow(10, 3*r.Float64()-1)
		for range 10 + r.IntN(200) {
			t.y = append(t.y, math.Round(100+noise*r.NormFloat64())/10)
		}
		return t
	}},
	{"counts with many zeros", func(r *rand.Rand) (t table) {
		for range 10 + r.IntN(300) {
			t.y = append(t.y, truth(r.Float64() < 0.5)*poisson(r, 100*r.ExpFloat64()))
		}
		return t
	}},
	{"rates of counts", func(r *rand.Rand) (t table) {
		mean, exposure := math.Pow(10, 3*r.Float64()-1), 1+10*r.Float64()
		for range 5 + r.IntN(200) {
			t.y = append(t.y, poisson(r, mean)/exposure)
		}
		return t
	}},
	{"rates of counts with exposures of their own, in pairs", func(r *rand.Rand) (t table) {
		mean := math.Pow(10, 3*r.Float64()-1)
		for x := range 5 + r.IntN(50) {
			exposure := 1 + 10*r.Float64()
			for range 2 {
				t.x, t.y = append(t.x, float64(x)), append(t.y, poisson(r, mean*exposure)/exposure)
			}
		}
		return t
	}},
	{"rates of counts of three digits", func(r *rand.Rand) (t table) {
		mean, exposure := math.Pow(10, 3*r.Float64()-1), 1+10*r.Float64()
		for range 5 + r.IntN(200) {
			t.y = append(t.y, math.Round(1e3*poisson(r, mean)/exposure)/1e3)
		}
		return t
	}},
	{"pairs of counts", func(r *rand.Rand) (t table) {
		rate := math.Pow(10, 3*r.Float64()-1)
		for i := range 2 * (5 + r.IntN(50)) {
			x := 1 + float64(i/2)
			t.x, t.y = append(t.x, x), append(t.y, poisson(r, rate*x))
		}
		return t
	}},
}

func (t table) flagged() bool {
	return slices.ContainsFunc(Readings(t.y, t.x), func(f Flag) bool { return f.Kind == KindRepeated })
}

// Counts, outcomes and rounded readings repeat by their nature.
func TestReadingsThatRepeatByChance(t *testing.T) {
	for _, c := range readings {
		n := 0
		for seed := range uint64(1000) {
			n += int(truth(c.draw(rand.New(rand.NewPCG(seed, 31))).flagged()))
		}
		t.Logf("%s: %d of 1000", c.name, n)
		if n > 1 {
			t.Errorf("%s: %d of 1000 tables are said to repeat rows", c.name, n)
		}
	}
}

// Copies show themselves in continuous readings, and a block of large counts that was read twice.
func TestCopiesOfReadings(t *testing.T) {
	for name, c := range map[string]func(r *rand.Rand) table{
		"a tenth of continuous readings": func(r *rand.Rand) (t table) {
			n := 40 + r.IntN(100)
			for range n {
				t.x, t.y = append(t.x, r.Float64()), append(t.y, r.NormFloat64())
			}
			for i := range n / 10 {
				t.x, t.y = append(t.x, t.x[7*i]), append(t.y, t.y[7*i])
			}
			return t
		},
		"a tenth of continuous readings without x": func(r *rand.Rand) (t table) {
			n := 40 + r.IntN(100)
			for range n {
				t.y = append(t.y, r.NormFloat64())
			}
			for i := range n / 10 {
				t.y = append(t.y, t.y[7*i])
			}
			return t
		},
		"readings of four digits at 10 x": func(r *rand.Rand) (t table) {
			for i := range 60 {
				x := float64(i % 10)
				t.x, t.y = append(t.x, x), append(t.y, math.Round(1e4*(2+x+r.NormFloat64()))/1e4)
			}
			for i := range 6 {
				t.x, t.y = append(t.x, t.x[7*i]), append(t.y, t.y[7*i])
			}
			return t
		},
		"a table of large counts": func(r *rand.Rand) (t table) {
			for i := range 40 {
				t.x, t.y = append(t.x, float64(i)), append(t.y, poisson(r, 1000+30*float64(i)))
			}
			t.x, t.y = append(t.x, t.x[5:25]...), append(t.y, t.y[5:25]...)
			return t
		},
		"a list of large counts": func(r *rand.Rand) (t table) {
			for range 40 {
				t.y = append(t.y, poisson(r, 1000))
			}
			t.y = append(t.y, t.y[5:25]...)
			return t
		},
	} {
		n := 0
		for seed := range uint64(200) {
			n += int(truth(c(rand.New(rand.NewPCG(seed, 32))).flagged()))
		}
		t.Logf("%s: %d of 200", name, n)
		if n < 198 {
			t.Errorf("%s: copies are found in %d of 200 tables", name, n)
		}
	}
}
