// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package apptest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/sim/xpcs/speckle"
)

// MisfitCSV writes a single decay of 60 points, changed by plant.
func MisfitCSV(t *testing.T, plant func(x, y, sd []float64)) string {
	t.Helper()
	r := rand.New(rand.NewPCG(21, 22))
	var x, y, sd []float64
	for i := range 60 {
		x = append(x, 1e-4*math.Pow(10, 5*float64(i)/59))
		y, sd = append(y, 1+0.2*math.Exp(-2*x[i]/0.05)+0.004*r.NormFloat64()), append(sd, 0.004)
	}
	if plant != nil {
		plant(x, y, sd)
	}
	var b strings.Builder
	b.WriteString("tau,g2,g2_err\n")
	for i := range x {
		fmt.Fprintf(&b, "%.17g,%.17g,%.17g\n", x[i], y[i], sd[i])
	}
	name := filepath.Join(t.TempDir(), "curve.csv")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

const LineProblem = `{"expr": "%s", "data": {"x": [0, 1, 2, 3, 4, 5, 6, 7], "y": [1.1, 2.9, 5.2, 7.1, 8.8, 11.2, 12.9, 15.1]}, "sigma": "s",
"priors": {"a": "normal(0, 10)", %s"s": "halfnormal(1)"}, "derived": {"twice": "2*a"}}`

// LineFile writes a problem file of a straight line whose noise is a parameter.
func LineFile(t *testing.T) string {
	return Write(t, "line.json", fmt.Sprintf(LineProblem, "a+b*x", `"b": "normal(0, 10)", `))
}

// WriteMovie writes frames of MovieSide x MovieSide pixels as an HDF5 file.
func WriteMovie(t *testing.T, name string, all []float32) {
	t.Helper()
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	w.Write("/entry/data/data", all, hdf5.Layout{Shape: []int{len(all) / MovieSide / MovieSide, MovieSide, MovieSide}, Gzip: 1})
	w.Write("/entry/instrument/detector_1/frame_time", 0.01, hdf5.Layout{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

const MovieSide = 40

// Speckles returns frames whose relaxation rate is proportional to q squared.
func Speckles(t *testing.T, frames int, seed uint64) []float32 {
	t.Helper()
	return SpecklesOf(t, frames, speckle.Sample{Seed: seed}, 2)
}

// SpecklesOf returns frames of a sample that relaxes like that of Speckles, with a mean count.
func SpecklesOf(t *testing.T, frames int, s speckle.Sample, mean float64) []float32 {
	t.Helper()
	n := MovieSide * MovieSide
	s.Height, s.Width, s.Tau, s.Mean, s.FrameTime = MovieSide, MovieSide, make([]float64, n), make([]float64, n), 0.01
	for i := range n {
		r2 := math.Pow(float64(i/MovieSide)-19.5, 2) + math.Pow(float64(i%MovieSide)-19.5, 2)
		s.Tau[i], s.Mean[i] = 30/(r2+10), mean
	}
	m, err := speckle.New(s)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]float32, frames*n)
	m.Frames(all)
	return all
}

const QmapLine = "qmap q.hdf --shape 40x40 --beam-x 19.5 --beam-y 19.5 --pixel-size 75um --distance 5 --energy 10 --dynamic 4x1 --static 12x1"

// BoolInt is 1 for true, as in files of draws.
func BoolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Decays writes files of decays and a configuration to fit them, and returns its name.
func Decays(t *testing.T, files int, more string) string {
	t.Helper()
	dir := t.TempDir()
	for i := range files {
		name := filepath.Join(dir, "data", string(rune('a'+i))+".csv")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(DecayCSV(map[bool]string{true: "NaN"}[i == 1])), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(dir, "fits.yaml")
	if err := os.WriteFile(config, []byte("work: fit g2\nfiles: data/*.csv\nretries: 0\nblock: 1\n"+more), 0o644); err != nil {
		t.Fatal(err)
	}
	return config
}
