// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/tensor"
)

type twotimeCase struct {
	Bins    []int              `json:"bins"`
	Full    [][]golden.Float   `json:"g2_full"`
	Partial [][][]golden.Float `json:"g2_partial_5"`
	Length  int                `json:"partial_length"`
	Ages    []struct {
		Frame int              `json:"age_frame"`
		Half  int              `json:"half_width"`
		Lags  []int            `json:"lags"`
		G2    [][]golden.Float `json:"g2"`
	} `json:"age_cuts"`
}

type movieCase struct {
	Frames  int              `json:"frames"`
	Tau     []int            `json:"tau_frames"`
	Level   []int            `json:"level"`
	G2      [][]golden.Float `json:"g2"`
	Err     [][]golden.Float `json:"g2_err_ddof1"`
	Err0    [][]golden.Float `json:"g2_err_ddof0"`
	G2Norm  [][]golden.Float `json:"g2_frame_normalised"`
	ErrNorm [][]golden.Float `json:"g2_err_frame_normalised"`
	Trace   []golden.Float   `json:"intensity_vs_time"`
	SAXS    []golden.Float   `json:"saxs_1d_static"`
	Whole   struct {
		Lags []int            `json:"lags"`
		G2   [][]golden.Float `json:"g2"`
	} `json:"g2_dynamic_bin_mean_normalisation"`
	Twotime *twotimeCase `json:"twotime"`
}

// movies returns the movies of the reference with their maps.
func movies(t *testing.T) map[string]movieCase {
	var all map[string]json.RawMessage
	golden.JSON(t, &all, "xpcs", "correlator", "expected.json")
	cases := map[string]movieCase{}
	for name, text := range all {
		if name[0] == '_' {
			continue
		}
		var c movieCase
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatal(err)
		}
		cases[name] = c
	}
	return cases
}

// The delays are those of the reference for any number of frames.
func TestDelaysOfReference(t *testing.T) {
	var all struct {
		Lists []struct {
			Frames int   `json:"frames"`
			Per    int   `json:"dpl"`
			Tau    []int `json:"tau"`
			Level  []int `json:"level"`
		} `json:"tau_bins"`
	}
	golden.JSON(t, &all, "xpcs", "analysis", "analysis.json")
	if len(all.Lists) == 0 {
		t.Fatal("no lists")
	}
	for _, c := range all.Lists {
		got := Delays(c.Frames, c.Per)
		if len(got) != len(c.Tau) {
			t.Errorf("%d frames: %d delays, want %d", c.Frames, len(got), len(c.Tau))
			continue
		}
		for i, d := range got {
			if d.Frames != c.Tau[i] || d.Level != c.Level[i] {
				t.Errorf("%d frames: delay %d is %+v, want %d at level %d", c.Frames, i, d, c.Tau[i], c.Level[i])
			}
		}
	}
}

func load(t *testing.T, file string) *tensor.Tensor {
	t.Helper()
	f, err := os.Open(golden.Path(t, "xpcs/correlator", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := tensor.ReadNPY(f)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// given returns a movie of the reference and its maps.
func given(t *testing.T, name string) (Movie, Maps) {
	t.Helper()
	a := load(t, "movie_"+name+".npy")
	shape := a.Shape()
	data := make([]float32, a.Size())
	for i, v := range a.Float64s() {
		data[i] = float32(v)
	}
	maps := Maps{Height: shape[1], Width: shape[2], Dynamic: ints(load(t, "dqmap_"+name+".npy")), Static: ints(load(t, "sqmap_"+name+".npy"))}
	return FromArray(data, shape[0], shape[1], shape[2]), maps
}

func ints(a *tensor.Tensor) []int32 {
	out := make([]int32, a.Size())
	for i, v := range a.Float64s() {
		out[i] = int32(v)
	}
	return out
}

// TestGoldenMultitau compares g2, errors, traces and profiles at both precisions, dense and as events.
func TestGoldenMultitau(t *testing.T) {
	for name, c := range movies(t) {
		m, maps := given(t, name)
		for _, mode := range []struct {
			name      string
			precision int
			levels    int
			tol       float64
			backend   ad.Backend
		}{{"dense64", 64, -1, 1e-10, nil}, {"dense32", 32, -1, 2e-6, nil}, {"events", 64, 3, 1e-10, nil}, {"events only", 64, 12, 1e-10, nil}, {"GPU", 64, 0, 1e-10, ad.CUDA{}}} {
			t.Run(name+"/"+mode.name, func(t *testing.T) {
				if mode.backend != nil {
					pretend.Shared(t)
				}
				s := Settings{Precision: mode.precision, levels: mode.levels, Backend: mode.backend}
				r, err := Multitau(context.Background(), m, maps, s)
				if err != nil {
					t.Fatal(err)
				}
				for k, d := range r.Delay {
					if k >= len(c.Tau) || d.Frames != c.Tau[k] || d.Level != c.Level[k] {
						t.Fatalf("delay %d is %v, want %v at level %v", k, d, c.Tau, c.Level)
					}
				}
				tables(t, "g2", r.G2, c.G2, mode.tol)
				tables(t, "error", r.Err, c.Err, mode.tol)
				tables(t, "trace", [][]float64{r.Trace}, [][]golden.Float{c.Trace}, 1e-12)
				populated := []float64{}
				for _, v := range r.SAXS {
					if !math.IsNaN(v) {
						populated = append(populated, v)
					}
				}
				tables(t, "SAXS", [][]float64{populated}, [][]golden.Float{c.SAXS}, 1e-12)
				s.Normalize = true
				if r, err = Multitau(context.Background(), m, maps, s); err != nil {
					t.Fatal(err)
				}
				tables(t, "normalised g2", r.G2, c.G2Norm, mode.tol)
				tables(t, "normalised error", r.Err, c.ErrNorm, mode.tol)
			})
		}
	}
}

func tables(t *testing.T, what string, got [][]float64, want [][]golden.Float, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d rows, want %d", what, len(got), len(want))
	}
	worst, where := 0.0, ""
	for i := range want {
		if len(got[i]) != len(want[i]) {
			t.Fatalf("%s has %d columns, want %d", what, len(got[i]), len(want[i]))
		}
		for j, w := range want[i] {
			if off := math.Abs(got[i][j]-float64(w)) / math.Max(math.Abs(float64(w)), 0.1); !(off <= worst) {
				worst, where = off, fmt.Sprintf("(%d, %d): %v, want %v", i, j, got[i][j], float64(w))
			}
		}
	}
	if !(worst <= tol) {
		t.Errorf("%s: relative difference %.3g at %s", what, worst, where)
	}
}

// TestGoldenPixels compares the sums of every pixel.
func TestGoldenPixels(t *testing.T) {
	for name := range movies(t) {
		file := "G2IPIF_" + name + ".npy"
		if !golden.Has(t, "xpcs/correlator", file) {
			continue
		}
		m, maps := given(t, name)
		a := load(t, file)
		want, shape := a.Float64s(), a.Shape()
		var mask []int
		for i, s := range maps.Static {
			if s > 0 {
				mask = append(mask, i)
			}
		}
		if len(mask) != shape[2] {
			t.Fatalf("%d pixels in bins, the reference has %d", len(mask), shape[2])
		}
		calls := 0
		s := Settings{Precision: 64, PerPixel: func(k int, products, earlier, later []float64) error {
			calls++
			for c, image := range [][]float64{products, later, earlier} {
				for i, p := range mask {
					if w := want[(k*3+c)*len(mask)+i]; !(math.Abs(image[p]-w) <= 1e-10*math.Max(w, 1)) {
						return fmt.Errorf("delay %d, channel %d, pixel %d: %v, want %v", k, c, p, image[p], w)
					}
				}
			}
			return nil
		}}
		if _, err := Multitau(context.Background(), m, maps, s); err != nil || calls != shape[0] {
			t.Errorf("%d of %d delays: %v", calls, shape[0], err)
		}
	}
}

// TestGoldenWholeBins compares the normalisation by the mean of dynamic bins.
func TestGoldenWholeBins(t *testing.T) {
	for name, c := range movies(t) {
		m, maps := given(t, name)
		maps.Static = nil
		r, err := Multitau(context.Background(), m, maps, Settings{Precision: 64})
		if err != nil {
			t.Fatal(err)
		}
		for k, d := range r.Delay {
			for i, lag := range c.Whole.Lags {
				if d.Level > 0 || d.Frames != lag {
					continue
				}
				for b, g := range r.G2[k] {
					// rows of the reference are bins or delays
					w := math.NaN()
					if len(c.Whole.G2) == len(r.Bins) {
						w = float64(c.Whole.G2[b][i])
					} else {
						w = float64(c.Whole.G2[i][b])
					}
					if !(math.Abs(g/w-1) <= 1e-10) {
						t.Errorf("%s: delay %d of bin %d: %v, want %v", name, lag, r.Bins[b], g, w)
					}
				}
			}
		}
	}
}

// TestGoldenTwotime compares two-time maps, their diagonals, blocks and cuts at an age.
func TestGoldenTwotime(t *testing.T) {
	goldenTwotime(t, Settings{Precision: 64}, Settings{Precision: 32}, Settings{Precision: 64, MaxBytes: 1, Threads: 3})
}

func TestGoldenTwotimeOnDevice(t *testing.T) {
	pretend.Shared(t)
	goldenTwotime(t, Settings{Precision: 64, Backend: ad.CUDA{}}, Settings{Precision: 32, Backend: both})
}

func goldenTwotime(t *testing.T, settings ...Settings) {
	for name, c := range movies(t) {
		if c.Twotime == nil {
			continue
		}
		m, maps := given(t, name)
		a := load(t, "c2_"+name+".npy")
		want, n := a.Float64s(), a.Shape()[1]
		for _, s := range settings {
			s.Bins = c.Twotime.Bins
			tol, at := map[int]float64{64: 1e-10, 32: 4e-6}[s.Precision], 0
			err := Twotime(context.Background(), m, maps, s, func(c2 *Map) error {
				if c2.Bin != c.Twotime.Bins[at] || c2.Frames != n {
					t.Fatalf("map %d is of bin %d, %d frames", at, c2.Bin, c2.Frames)
				}
				worst := 0.0
				for i, v := range c2.C2 {
					worst = math.Max(worst, math.Abs(v-want[at*n*n+i]))
				}
				if !(worst <= tol) {
					t.Errorf("bin %d with %d bits: off by %.3g", c2.Bin, s.Precision, worst)
				}
				tables(t, "diagonals", [][]float64{c2.Diagonals()}, c.Twotime.Full[at:at+1], tol)
				tables(t, "blocks", c2.Blocks(5), c.Twotime.Partial[at], tol)
				for _, age := range c.Twotime.Ages {
					tables(t, "age", [][]float64{c2.Age(age.Frame, age.Half, age.Lags)}, age.G2[at:at+1], tol)
				}
				at++
				return nil
			})
			if err != nil || at != len(c.Twotime.Bins) {
				t.Errorf("%d of %d bins: %v", at, len(c.Twotime.Bins), err)
			}
		}
	}
}
