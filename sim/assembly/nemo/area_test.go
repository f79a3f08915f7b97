// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import (
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
	"pgregory.net/rapid"
)

// random makes a recurrent area and a matrix onto it.
func random(t testing.TB, n, k int, beta, p float64, seed uint64) (*Area, *Matrix) {
	t.Helper()
	a, w := area(t, n, k, beta), Wiring{P: p, Seed: seed}
	var err error
	a.Recurrent, err = w.Matrix("own", n, n)
	must(t, err)
	in, err := w.Matrix("in", n, n)
	must(t, err)
	return a, in
}

func TestSelectionIsTheSortedOne(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(r, "n")
		k := rapid.IntRange(1, n).Draw(r, "k")
		values := rapid.IntRange(1, 12).Draw(r, "values")
		seed := rapid.Uint64().Draw(r, "seed")
		a, src := area(t, n, k, 0), tensor.NewStream(seed, 1, 0)
		for range n {
			a.net = append(a.net, float64(src.IntN(values))-3)
		}
		all := make([]int32, n)
		for j := range all {
			all[j] = int32(j)
		}
		slices.SortStableFunc(all, func(i, j int32) int { return int(a.net[j] - a.net[i]) })
		want := all[:k]
		slices.Sort(want)
		if got := a.largest(k); !slices.Equal(got, want) {
			r.Fatalf("%v of %v: %v, want %v", k, a.net, got, want)
		}
	})
}

func TestSteps(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(5, 80).Draw(r, "n")
		k := rapid.IntRange(1, n).Draw(r, "k")
		a, in := random(t, n, k, 0.1, rapid.Float64Range(0.05, 1).Draw(r, "p"), rapid.Uint64().Draw(r, "seed"))
		synapses, own := in.Synapses(), a.Recurrent.Synapses()
		a.Bias = make([]float64, n)
		stimulus := Block(0, k)
		for range 6 {
			bias, sum := slices.Clone(a.Bias), in.Sum()
			must(t, a.Step(true, Firing{in, stimulus}))
			if m := len(a.Winners); m != k && m != 0 {
				r.Fatalf("%d winners, want %d", m, k)
			}
			for j := range bias {
				want := bias[j]
				if slices.Contains(a.Winners, int32(j)) {
					want += 0.1 * a.x[j]
				}
				if math.Abs(a.Bias[j]-want) > 1e-12 {
					r.Fatalf("bias %v of neuron %d, want %v", a.Bias[j], j, want)
				}
			}
			if in.Sum() < sum {
				r.Fatal("weights shrink")
			}
		}
		if in.Synapses() != synapses || a.Recurrent.Synapses() != own {
			r.Fatal("plasticity changes how many synapses there are")
		}
		weights := in.Sum()
		must(t, a.Step(false, Firing{in, stimulus}))
		if in.Sum() != weights {
			r.Fatal("an area that does not learn changes weights")
		}
	})
}

func TestNoPlasticityKeepsWeights(t *testing.T) {
	a, in := random(t, 100, 10, 0, 0.2, 3)
	before := in.Sum() + a.Recurrent.Sum()
	for range 5 {
		must(t, a.Step(true, Firing{in, Block(0, 10)}))
	}
	if after := in.Sum() + a.Recurrent.Sum(); after != before {
		t.Errorf("weights sum to %v, want %v", after, before)
	}
}

func TestSilence(t *testing.T) {
	a, in := random(t, 100, 10, 0.1, 0.2, 3)
	must(t, a.Step(true, Firing{in, nil}))
	if len(a.Winners) != 0 {
		t.Errorf("%v fire without input", a.Winners)
	}
	a.K = 100
	must(t, a.Step(true, Firing{in, Block(0, 10)}))
	if len(a.Winners) != 100 {
		t.Errorf("%d of 100 fire where all may", len(a.Winners))
	}
}

// wired makes an area whose neuron j gets input x_j from neuron 0.
func wired(t *testing.T, k int, x ...float64) (*Area, Firing) {
	t.Helper()
	m, err := NewMatrix(1, len(x), func(int) []Synapse {
		var row []Synapse
		for j, v := range x {
			row = append(row, Synapse{int32(j), v})
		}
		return row
	})
	must(t, err)
	return area(t, len(x), k, 0), Firing{m, []int32{0}}
}

func TestWinnerPolicies(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*Area)
		want []int32
	}{
		"k largest":                {func(*Area) {}, []int32{1, 2, 4}},
		"threshold above some":     {func(a *Area) { a.Threshold = 7 }, []int32{2, 4}},
		"threshold above all":      {func(a *Area) { a.Threshold = 70 }, nil},
		"threshold below all":      {func(a *Area) { a.Threshold = 0.5 }, []int32{1, 2, 4}},
		"relative":                 {func(a *Area) { a.Relative, a.Most = 0.5, 5 }, []int32{1, 2, 3, 4}},
		"relative, K at most":      {func(a *Area) { a.Relative = 0.5 }, []int32{1, 2, 4}},
		"relative, one alone":      {func(a *Area) { a.Relative = 0.95 }, []int32{4}},
		"relative, three at least": {func(a *Area) { a.Relative, a.Least = 0.95, 3 }, []int32{1, 2, 4}},
		"both":                     {func(a *Area) { a.Relative, a.Threshold = 0.5, 7 }, []int32{2, 4}},
		"more than there are":      {func(a *Area) { a.Relative, a.Most = 0.01, 50 }, []int32{0, 1, 2, 3, 4}},
	} {
		a, in := wired(t, 3, 1, 6, 9, 5, 10)
		c.set(a)
		must(t, a.Step(false, in))
		if !slices.Equal(a.Winners, c.want) {
			t.Errorf("%s: %v, want %v", name, a.Winners, c.want)
		}
	}
}

// Neurons that fired 1, 2, 3 steps ago lose 9, 6, 3.
func TestFatigue(t *testing.T) {
	a, in := wired(t, 1, 10, 9, 5)
	a.Fatigue = Fatigue{Strength: 9, Period: 3}
	for i, want := range []int32{0, 1, 2, 0, 1, 0, 2} { // net: 10 9 5; 1 9 5; 4 0 5; 7 3 -4; 1 6 -1; 4 0 2; -2 3 5
		must(t, a.Step(false, in))
		if a.Winners[0] != want {
			t.Fatalf("step %d: neuron %d fires, want %d (net input %v)", i, a.Winners[0], want, a.net)
		}
	}
	a.Rest()
	must(t, a.Step(false, in))
	if a.Winners[0] != 0 {
		t.Errorf("neuron %d fires after a rest, want 0", a.Winners[0])
	}
}

func TestRefraction(t *testing.T) {
	a, in := wired(t, 1, 10, 9)
	a.Refraction = 0.75
	var got []int32
	for range 4 { // 10 9; 9.25 9; 8.5 9; 8.5 8.25
		must(t, a.Step(true, in))
		got = append(got, a.Winners[0])
	}
	if want := []int32{0, 0, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("neurons %v fire, want %v", got, want)
	}
	bias := slices.Clone(a.Bias)
	must(t, a.Step(false, in))
	if !slices.Equal(bias, a.Bias) {
		t.Errorf("bias %v, want %v: nothing is learnt", a.Bias, bias)
	}
}

func TestAttention(t *testing.T) {
	a, in := random(t, 200, 20, 0.5, 0.3, 5)
	a.Attention = true
	before, input := a.Recurrent.Sum(), in.Sum()
	must(t, a.Step(true, Firing{in, Block(0, 20)}))
	first := a.Winners
	for range 3 {
		must(t, a.Step(true, Firing{in, Block(0, 20)}))
	}
	for _, i := range first {
		for _, j := range a.Winners {
			if w := a.Recurrent.Weight(int(i), int(j)); w != 0 && w != 1 && w != 1.5 {
				t.Fatalf("weight %v, want 1.5 where a synapse exists", w)
			}
		}
	}
	if a.Recurrent.Sum() <= before || in.Sum() != input {
		t.Errorf("recurrent weights sum to %v after %v, input weights to %v after %v: want only the former to grow", a.Recurrent.Sum(), before, in.Sum(), input)
	}
	a.Decay()
	if a.Recurrent.Sum() != before {
		t.Errorf("weights sum to %v after decay, want %v", a.Recurrent.Sum(), before)
	}
}

func TestCompete(t *testing.T) {
	a, one := wired(t, 2, 3, 3, 0)
	b, two := wired(t, 1, 5, 4)
	c, _ := wired(t, 1, 1)
	if i := Compete(a, b, c); i != -1 {
		t.Errorf("area %d of silent ones wins", i)
	}
	must(t, a.Step(false, one))
	must(t, b.Step(false, two))
	if a.Drive() != 6 || b.Drive() != 5 {
		t.Errorf("drives %v and %v, want 6 and 5", a.Drive(), b.Drive())
	}
	if i := Compete(c, b, a); i != 2 || len(a.Winners) != 2 || len(b.Winners) != 0 {
		t.Errorf("area %d wins, %v and %v fire", i, a.Winners, b.Winners)
	}
}

func TestDisturb(t *testing.T) {
	a, in := wired(t, 1, 3, 2, 1)
	must(t, a.Disturb([]float64{0, 0, 5}))
	for i, want := range []int32{2, 0} {
		must(t, a.Step(false, in))
		if a.Winners[0] != want {
			t.Errorf("step %d: neuron %d fires, want %d", i, a.Winners[0], want)
		}
	}
}
