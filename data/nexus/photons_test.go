// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// The noise of photons is read as it was written, and damaged numbers are refused.
func TestPhotonNoise(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.hdf")
	write := func(all []PhotonNoise) {
		t.Helper()
		r := &Result{Flavour: Nexus, FrameTime: 0.1, QMap: &QMap{Dynamic: Partition{Axis0: []float64{1, 2}, Cells: []int{0, 1}}}, Photons: all,
			Multitau: &Multitau{Delay: []float64{1}, G2: &Matrix{1, 2, []float64{1.5, 1.25}}}}
		if err := Write(name, r); err != nil {
			t.Fatal(err)
		}
	}
	want := []PhotonNoise{{Bin: 1, Mean: 3, Ratio: 0.75, RatioErr: 0.125, DeadTime: 0.0625, Adjacent: 0.75, AdjacentErr: 0.03125, Counts: []float64{1, 2}, ByCounts: []float64{1, 0.5}, ByCountsErr: []float64{0.25, 0.125}},
		{Bin: 2, Mean: 0.01, Ratio: math.NaN(), RatioErr: math.NaN(), Adjacent: math.NaN(), AdjacentErr: math.NaN(), Limit: 7, AtLimit: 0.25, Gap: 2, GapShare: 3, Factor: 0.5}}
	write(want)
	r, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	alone, err := OpenPhotons(name)
	if err != nil || fmt.Sprint(r.Photons) != fmt.Sprint(want) || fmt.Sprint(alone) != fmt.Sprint(want) || r.PhotonsOf(2).Mean != 0.01 || r.PhotonsOf(3) != nil {
		t.Errorf("%v, %v: want %v; %v", r.Photons, alone, want, err)
	}
	if lost := want[0].Lost(); lost != 0.1875 {
		t.Errorf("%g of the photons are lost, want 0.1875", lost)
	}
	one := PhotonNoise{Bin: 1, Mean: 1 - math.Exp(-0.3), Limit: 1, AtLimit: 1 - math.Exp(-0.3), DeadTime: 1}
	if text, _ := one.Full(); !strings.Contains(text, "misses 13.6 % of the photons at the mean of 0.259 counts") || !strings.Contains(text, "misses about 25.9 %") {
		t.Error(text)
	}
	for _, c := range []struct{ adjacent, err, blind float64 }{{0.75, 0.03125, 0.25}, {0.75, 0.0625, 0}, {0.99, 0.001, 0}, {1.5, 0.01, 0}, {math.NaN(), math.NaN(), 0}, {-0.01, 0.01, 1}} {
		if n := (PhotonNoise{Adjacent: c.adjacent, AdjacentErr: c.err}); n.Blind() != c.blind {
			t.Errorf("products of neighbouring frames of %g +- %g make %g blind, want %g", c.adjacent, c.err, n.Blind(), c.blind)
		}
	}
	write(nil)
	if all, err := OpenPhotons(name); all != nil || err != nil {
		t.Errorf("a file without has %v: %v", all, err)
	}
	want[1].DeadTime = math.NaN()
	write(want)
	if _, err := Open(name); err == nil || !strings.Contains(err.Error(), "a dead time of NaN") {
		t.Errorf("a dead time of NaN: %v", err)
	}
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(keyPhotons+"/bins", []int32{1, 2}, hdf5.Layout{})
	for _, k := range []string{"mean_counts", "ratio", "ratio_err", "dead_time"} {
		w.Write(keyPhotons+"/"+k, []float64{1}, hdf5.Layout{})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenPhotons(name); err == nil || !strings.Contains(err.Error(), "has 1 number for 2 bins") {
		t.Errorf("one number for two bins: %v", err)
	}
}
