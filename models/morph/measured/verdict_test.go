// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
)

// judged fits a task and returns the first finding, empty if there is none, and the words of all.
func judged(t *testing.T, k *measured.Task) (first, words string) {
	t.Helper()
	s, err := k.Fit(t.Context(), optim.Settings{MaxEvaluations: 40})
	if err != nil {
		t.Fatal(err)
	}
	v, err := k.Check(s)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range v.Flags {
		if i == 0 {
			first = f.Kind
		}
		words += f.String() + "\n"
	}
	return first, words
}

// each changes all counts of a task.
func each(k *measured.Task, change func(i int, c float64) float64) {
	for _, f := range k.Model.Data.Frames {
		for i, c := range f.Counts {
			f.Counts[i] = change(i, c)
		}
	}
}

// What a problem has wrong about its files is named with what to do.
func TestWhatIsWrongIsNamed(t *testing.T) {
	tier.SlowOnly(t)
	for name, c := range map[string]struct {
		spoil      func(k *measured.Task)
		want, says string
	}{
		"pedestal": {func(k *measured.Task) {
			f := k.Model.Data.Frames
			more := smallOf(t, 4, true).Model.Data.Frames
			long := f[0]
			long.Exposure, long.Counts = 20, slices.Clone(long.Counts)
			for i := range long.Counts {
				long.Counts[i] += more[0].Counts[i] + 20
				f[0].Counts[i] += 20
				f[1].Counts[i] += 20
			}
			k.Model.Data.Frames = append(f, long)
		}, "pedestal", `add "pedestal": {} to the parameters`},
		"field": {func(k *measured.Task) {
			for i := range k.Model.Data.Frames {
				k.Model.Data.Frames[i].Angle = 90
			}
		}, "direction of the field", "the data want 0"},
		"hot pixel": {func(k *measured.Task) { k.Model.Data.Frames[0].Counts[3*22+4] = 50000 }, "bad pixels", "row 3, column 4 at 284 eV (50000 counts"},
	} {
		t.Run(name, func(t *testing.T) {
			k := smallOf(t, 3, true)
			c.spoil(k)
			if first, words := judged(t, k); first != c.want || !strings.Contains(words, c.says) || strings.Count(words, "\n") != 1 {
				t.Errorf("want %q with %q, and no other: %s", c.want, c.says, words)
			}
		})
	}
}

// Expectations in place of counts are told as data without noise.
func TestDataWithoutNoise(t *testing.T) {
	k := smallOf(t, 1, true)
	mu, err := k.Means()
	if err != nil {
		t.Fatal(err)
	}
	pixels := len(k.Model.Data.Frames[0].Counts)
	for i, v := range mu {
		k.Model.Data.Frames[i/pixels].Counts[i%pixels] = v
	}
	if first, words := judged(t, &measured.Task{Model: k.Model, Params: k.Params}); first != "no noise" || !strings.Contains(words, "draw counts from the Poisson distribution") {
		t.Error(words)
	}
}

// What is wrong with the data themselves shows at a fit that is right otherwise.
func TestDefectsOfData(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	gamma := distuv.Gamma{Alpha: 5, Beta: 5, Src: random}
	for name, c := range map[string]struct {
		spoil      func(k *measured.Task)
		want, says string
	}{
		"gain": {func(k *measured.Task) {
			each(k, func(_ int, c float64) float64 { return 7 * c })
			k.Params[3].Start += math.Log(7)
			k.Params[4].Start *= 7
		}, "overdispersion", "multiples of 7"},
		"speckle": {func(k *measured.Task) {
			each(k, func(_ int, c float64) float64 {
				return math.Round(c * gamma.Rand())
			})
		}, "overdispersion", `"loss": "negative_binomial"`},
		"pedestal of all": {func(k *measured.Task) {
			each(k, func(_ int, c float64) float64 { return c + 3000 })
			k.Params[4].Start += 300
		}, "pedestal", `give "pedestal": `},
		"subtracted": {func(k *measured.Task) {
			each(k, func(_ int, c float64) float64 { return max(0, c+distuv.Poisson{Lambda: 3000, Src: random}.Rand()-3000) })
		}, "subtracted counts", `give the raw counts, or "pedestal": -`},
		"dead pixel": {func(k *measured.Task) { k.Model.Data.Frames[1].Counts[3*22+4] = 0 }, "bad pixels", "row 3, column 4 at 285 eV (0 counts"},
		"nothing":    {func(*measured.Task) {}, "", ""},
		"a background that the model lacks": {func(k *measured.Task) {
			random := rand.New(rand.NewPCG(2, 5))
			each(k, func(_ int, c float64) float64 {
				return distuv.Binomial{N: c, P: 0.01, Src: random}.Rand() + distuv.Poisson{Lambda: 20, Src: random}.Rand()
			})
			k.Params[3].Start += math.Log(0.01)
			k.Params[4].Start = 0.01*k.Params[4].Start + 1
		}, "", ""},
		"one outlier": {func(k *measured.Task) { k.Model.Data.Frames[0].Counts[3*22+4] *= 2 }, "", ""},
		"dead row": {func(k *measured.Task) {
			each(k, func(i int, c float64) float64 {
				if i/22 == 5 {
					return 0
				}
				return c
			})
		}, "bad rows or columns", "row 5 holds no counts"},
		"dim column, also in a frame of few counts": {func(k *measured.Task) {
			f := k.Model.Data.Frames
			dim := f[0]
			share := 20 / f[0].Counts[9*22+12]
			dim.Exposure, dim.Counts = dim.Exposure*share, make([]float64, len(dim.Counts))
			for i, c := range f[0].Counts {
				dim.Counts[i] = distuv.Poisson{Lambda: c * share, Src: random}.Rand()
			}
			k.Model.Data.Frames = append(f, dim)
			each(k, func(i int, c float64) float64 {
				if i%22 == 12 {
					return math.Round(0.4 * c)
				}
				return c
			})
		}, "bad rows or columns", "column 12 holds 0.4"},
		"dim column": {func(k *measured.Task) {
			each(k, func(i int, c float64) float64 {
				if i%22 == 7 {
					return math.Round(c / 3)
				}
				return c
			})
		}, "bad rows or columns", "column 7 holds 0.3"},
	} {
		t.Run(name, func(t *testing.T) {
			k := smallOf(t, 3, true)
			c.spoil(k)
			if kind, words, err := k.DefectAt(); err != nil || kind != c.want || !strings.Contains(words, c.says) {
				t.Errorf("want %q with %q: %s, %v", c.want, c.says, words, err)
			}
		})
	}
}

// Voxels that are too coarse for the pixels that a blur needs beyond the detector are judged without looking for one.
func TestBlurBeyondVoxels(t *testing.T) {
	for _, voxel := range []float64{2, 5} {
		k := small(t, 3)
		k.Model.Grid.Voxel = voxel
		k.Params = slices.DeleteFunc(k.Params, func(p measured.Param) bool { return p.Name == "resolution" })
		k = &measured.Task{Model: k.Model, Params: k.Params}
		kinds, err := k.Looked()
		if err != nil || slices.Contains(kinds, "blur") != (voxel == 2) || !slices.Contains(kinds, "photon energy") && !slices.Contains(kinds, "edges") {
			t.Errorf("%g nm: %v, %v", voxel, kinds, err)
		}
	}
}

// A few hot pixels are told where the noise is found from the residuals, which they make as large as they need.
func TestFewPixelsMakeTheNoise(t *testing.T) {
	for _, hot := range []float64{0, 1e6} {
		k := smallOf(t, 3, true)
		for i := range k.Model.Data.Frames {
			k.Model.Data.Frames[i].Noise = "quasi"
		}
		if hot > 0 {
			k.Model.Data.Frames[0].Counts[47], k.Model.Data.Frames[0].Counts[48] = hot, hot
		}
		k = &measured.Task{Model: k.Model, Params: append(slices.Clone(k.Params), measured.Param{Name: "noise", Start: 1})}
		if kind, words, err := k.FewAt(); err != nil || (kind == "bad pixels") != (hot > 0) || hot > 0 && !strings.Contains(words, "2 of 880 numbers") {
			t.Errorf("%g: %q, %s, %v", hot, kind, words, err)
		}
	}
}
