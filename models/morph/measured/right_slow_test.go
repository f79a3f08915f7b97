//go:build slow

// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
)

// modesOf is the number of modes of speckle in the draws of a right model.
const modesOf = 15.0

// rightOf is a right model of the small detector: so many energies, a mean of so many counts in a pixel, and a likelihood.
func rightOf(t *testing.T, seed uint64, energies int, counts float64, noise string) *measured.Task {
	t.Helper()
	k := smallOf(t, seed, true)
	frames := k.Model.Data.Frames
	if energies == 3 { // the constants of a third energy are those between two
		frames = append(frames, frames[1])
		frames[2].Energy = 284.5
		frames[2].Counts = make([]float64, len(frames[0].Counts))
	}
	k.Model.Data.Frames = frames[:energies]
	mu, err := (&measured.Task{Model: k.Model, Params: k.Params}).Means()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, m := range mu {
		sum += m / float64(len(mu))
	}
	random := rand.New(rand.NewPCG(seed, 6))
	pixels := len(frames[0].Counts)
	for e := range k.Model.Data.Frames {
		f := &k.Model.Data.Frames[e]
		f.Exposure *= counts / sum
		f.Noise, f.Counts, f.Errors = noise, make([]float64, pixels), make([]float64, pixels)
		for i := range f.Counts {
			m := mu[e*pixels+i] * counts / sum
			switch f.Errors[i] = math.Sqrt(m); noise {
			case "gaussian":
				f.Counts[i] = m + f.Errors[i]*random.NormFloat64()
			case "negative_binomial":
				m *= distuv.Gamma{Alpha: modesOf, Beta: modesOf, Src: random}.Rand()
				fallthrough
			default:
				f.Counts[i] = distuv.Poisson{Lambda: m, Src: random}.Rand()
			}
		}
		if noise != "gaussian" {
			f.Errors = nil
		}
	}
	params := slices.Clone(k.Params)
	if noise == "negative_binomial" {
		params = append(params, measured.Param{Name: "modes", Start: modesOf, Bounds: []float64{0.5, 1e4}})
	}
	return &measured.Task{Model: k.Model, Params: params}
}

// Right models are flagged in at most 1 % for few counts and many, one energy and several, and all likelihoods.
func TestRightModelsOfAllKinds(t *testing.T) {
	const draws = 12
	all, flagged := 0, map[string]int{}
	for _, noise := range []string{"poisson", "gaussian", "negative_binomial"} {
		for _, counts := range []float64{0.3, 3, 300} {
			for energies := 1; energies <= 3; energies++ {
				for seed := range uint64(draws) {
					k := rightOf(t, 500+seed, energies, counts, noise)
					s, err := k.Fit(t.Context(), optim.Settings{})
					if err != nil {
						t.Fatal(err)
					}
					v, err := k.Check(s)
					if err != nil {
						t.Fatal(err)
					}
					all++
					for i, f := range v.Flags {
						if i == 0 {
							flagged[f.Kind]++
						}
						t.Logf("%s, %g counts, %d energies, draw %d: %s", noise, counts, energies, seed, f)
					}
				}
			}
		}
		t.Logf("%d right models: %v", all, flagged)
	}
	total := 0
	for n := range maps.Values(flagged) {
		total += n
	}
	t.Logf("%d of %d right models are flagged: %v", total, all, flagged)
	if total > 9 { // 3 are expected, and more than 9 have a probability of 0.2 %
		t.Errorf("%d of %d right models are flagged: %v", total, all, flagged)
	}
}
