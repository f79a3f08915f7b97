// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// compare fails where got and want differ by more than float32 files can hold.
func compare(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s has %d numbers, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if math.IsNaN(got[i]) != math.IsNaN(want[i]) || math.Abs(got[i]-want[i]) > 4e-6*math.Max(1, math.Abs(want[i])) {
			t.Errorf("%s: number %d is %.9g, want %.9g", what, i, got[i], want[i])
			return
		}
	}
}

// The movies of the reference, correlated with its q maps, give its result files.
func TestResultsOfReference(t *testing.T) {
	golden.Each(t, "xpcs/hdf5/result_*.hdf", func(t *testing.T, file string) {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "result_"), ".hdf")
		want, err := nexus.Open(golden.Path(t, file))
		if err != nil {
			t.Fatal(err)
		}
		defer want.Close()
		q, err := nexus.OpenQMap(golden.Path(t, "xpcs/hdf5", "qmap_"+name+".hdf"))
		if err != nil {
			t.Fatal(err)
		}
		movie, err := frames.Open(golden.Path(t, "xpcs/correlator", "movie_"+name+".npy"), frames.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		defer movie.Close()
		out := filepath.Join(t.TempDir(), "out_results.hdf")
		j := Job{Frames: movie, Map: q, FrameTime: want.FrameTime, CountTime: want.CountTime, Start: want.Start, Multitau: true, Twotime: want.Twotime != nil,
			Pixels: true, Settings: settingsOf(t, want, movie.Frames)}
		done, err := Correlate(context.Background(), j, out)
		if err != nil {
			t.Fatal(err)
		}
		if done.Frames != movie.Frames/j.Settings.Span() || len(done.Replaced) > 0 || done.Lost != nil {
			t.Errorf("%+v", done)
		}
		got, err := nexus.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Close()
		sameResults(t, got, want)
	})
}

// settingsOf finds the settings by which the reference made a result: those that the file has, and the number of delays at each level that
// gives its delays.
func settingsOf(t *testing.T, want *nexus.Result, frames int) correlate.Settings {
	t.Helper()
	m := want.Multitau
	s := correlate.Settings{Selection: correlate.Selection{Stride: max(m.Stride, 1), Average: max(m.Average, 1)}, Parts: len(m.Partial)}
	if want.Twotime != nil && strings.HasPrefix(want.Twotime.Smooth, "d") {
		s.Smooth = "dynamic"
	}
	for s.PerLevel = 1; s.PerLevel < frames; s.PerLevel++ {
		var delays []float64
		for _, d := range correlate.Delays(frames/s.Span(), s.PerLevel) {
			delays = append(delays, float64(d.Frames))
		}
		if slices.Equal(delays, m.Delay) {
			return s
		}
	}
	t.Fatalf("no number of delays at each level gives the delays %v", m.Delay)
	return s
}

func sameResults(t *testing.T, got, want *nexus.Result) {
	t.Helper()
	if got.QMap.Hash != want.QMap.Hash || got.FrameTime != want.FrameTime || got.Flavour != want.Flavour {
		t.Errorf("hash %s, frame time %g, flavour %s: want %s, %g, %s", got.QMap.Hash, got.FrameTime, got.Flavour, want.QMap.Hash, want.FrameTime, want.Flavour)
	}
	m, n := got.Multitau, want.Multitau
	compare(t, "delays", m.Delay, n.Delay)
	compare(t, "g2", m.G2.Data, n.G2.Data)
	for i := range n.Partial {
		compare(t, "partial g2", m.Partial[i].Data, n.Partial[i].Data)
	}
	compare(t, "partial frames", m.PartialFrames, n.PartialFrames)
	compare(t, "trace", got.Trace.Mean, want.Trace.Mean)
	compare(t, "SAXS", got.SAXS, want.SAXS)
	a, err := got.ReadImage()
	b, err2 := want.ReadImage()
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for i, keep := range mapsOf(t, want).Mask {
		if !keep {
			a.Data[i] = b.Data[i] // the reference has masked pixels as 0
		}
	}
	compare(t, "image", a.Data, b.Data)
	samePixels(t, got, want)
	if want.Twotime == nil {
		return
	}
	compare(t, "two-time g2", got.Twotime.G2.Data, want.Twotime.G2.Data)
	compare(t, "two-time delays", got.Twotime.Delay, want.Twotime.Delay)
	for i := range want.Twotime.Partial {
		compare(t, "two-time g2 of blocks", got.Twotime.Partial[i].Data, want.Twotime.Partial[i].Data)
	}
	for i := range want.Twotime.Bins {
		x, err := got.ReadC2(i, 0, true)
		y, err2 := want.ReadC2(i, 0, true)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		compare(t, "C2", x.Data, y.Data)
	}
}

func samePixels(t *testing.T, got, want *nexus.Result) {
	t.Helper()
	if !want.HDF5().Has("/xpcs/multitau/unnormalized_G2") {
		return
	}
	for d := range want.Multitau.Delay {
		x, y, z, err := got.ReadUnnormalized(d)
		u, v, w, err2 := want.ReadUnnormalized(d)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		compare(t, "products of pixels", x.Data, u.Data)
		compare(t, "earlier frames of pixels", y.Data, v.Data)
		compare(t, "later frames of pixels", z.Data, w.Data)
	}
}

func mapsOf(t *testing.T, r *nexus.Result) *nexus.Maps {
	t.Helper()
	m, err := r.ReadMaps()
	if err != nil {
		t.Fatal(err)
	}
	return m
}
