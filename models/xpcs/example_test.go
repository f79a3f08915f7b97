// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/hdf5"
	models "github.com/euryale-dev/euryale/models/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/speckle"
)

// This example makes a q map for a small detector, writes a movie of simulated speckles to a file,
// and correlates it. The contrast, g2 - 1 at the shortest delay, is near 1 for a coherent beam.
func Example() {
	dir, err := os.MkdirTemp("", "xpcs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "movie.h5")
	if err := write(name); err != nil {
		log.Fatal(err)
	}

	setup := models.Setup{Dynamic: [2]int{3, 1}, Static: [2]int{3, 1}, Geometry: xpcs.Geometry{Height: 32, Width: 32,
		CenterRow: 15.5, CenterCol: 15.5, PixelSize: 75e-6, Distance: 5, Energy: 10}}
	q, err := setup.Map(nil)
	if err != nil {
		log.Fatal(err)
	}
	movie, err := frames.Open(name, frames.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	defer movie.Close()
	done, err := models.Correlate(context.Background(), models.Job{Frames: movie, Map: q, FrameTime: 0.01, Multitau: true}, filepath.Join(dir, "results.hdf"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Frames, "frames,", done.Result.Bins(), "bins")
	for bin := range done.Result.Bins() {
		fmt.Printf("q = %.5f 1/angstrom: contrast %.1f\n", q.Dynamic.Axis0[bin], done.Result.Multitau.G2.At(0, bin)-1)
	}
	// Output:
	// 200 frames, 3 bins
	// q = 0.00032 1/angstrom: contrast 0.9
	// q = 0.00086 1/angstrom: contrast 0.9
	// q = 0.00140 1/angstrom: contrast 0.9
}

// write simulates 200 frames whose speckles fluctuate within 0.2 s.
func write(name string) error {
	const frames, pixels = 200, 32 * 32
	sample := speckle.Sample{Height: 32, Width: 32, FrameTime: 0.01, Seed: 1, Tau: make([]float64, pixels), Mean: make([]float64, pixels)}
	for i := range pixels {
		sample.Tau[i], sample.Mean[i] = 0.2, 5
	}
	m, err := speckle.New(sample)
	if err != nil {
		return err
	}
	counts := make([]float32, frames*pixels)
	m.Frames(counts)
	w, err := hdf5.Create(name)
	if err != nil {
		return err
	}
	w.Write("/entry/data/data", counts, hdf5.Layout{Shape: []int{frames, 32, 32}})
	return w.Close()
}
