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

// Stray readings are read as they were written, damaged ones are refused, and those that move g2 are told with their frames.
func TestStrays(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.hdf")
	want := []Stray{{Bin: 1, Frame: 250, Row: 3, Column: 7, Counts: 20000, Mean: 1.25, Shift: 0.0625, Delay: 96, Errors: 8}, {Bin: 1, Frame: 12, Row: 1, Column: 2, Counts: 900, Mean: 1, Shift: 0.0625, Delay: 96, Errors: 8},
		{Bin: 2, Frame: 0, Row: 0, Column: 0, Counts: 100, Mean: 0, Shift: math.NaN(), Errors: math.NaN(), Entries: 5}, {Bin: 3, Frame: 5, Counts: 90, Shift: 1e-5, Errors: 0.5}, {Bin: 4, Frame: 1000, Row: 7, Column: 7, Counts: 20, Frames: 10, Mean: 0.1, Shift: 0.2, Delay: 1, Errors: 3}}
	r := &Result{Flavour: Nexus, FrameTime: 0.1, QMap: &QMap{Dynamic: Partition{Axis0: []float64{1, 2}, Cells: []int{0, 1}}}, Strays: want,
		Multitau: &Multitau{Delay: []float64{1}, G2: &Matrix{1, 2, []float64{1.5, 1.25}}}}
	if err := Write(name, r); err != nil {
		t.Fatal(err)
	}
	got, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	alone, err := OpenStrays(name)
	if err != nil || fmt.Sprint(got.Strays) != fmt.Sprint(want) || fmt.Sprint(alone) != fmt.Sprint(want) || len(StraysOf(alone, 1)) != 2 {
		t.Errorf("%v, %v: want %v; %v", got.Strays, alone, want, err)
	}
	for bin, text := range map[int]string{1: "2 pixels have single readings far above all others, of which the largest is at row 3, column 7, with 20000 counts in frame 250 and 1.25 in the others", 2: "pixel (row 0, column 0) has 100 counts in frame 0", 3: ""} {
		if said, remedy := DescribeStrays(StraysOf(want, bin)); !strings.HasPrefix(said, text) || text == "" && said+remedy != "" || bin == 1 && !(strings.HasSuffix(said, "g2 of bin 1 changes by 0.062 at a delay of 96 frames, 8 of its standard errors") && strings.Contains(remedy, "(--skip 12,250)")) {
			t.Errorf("bin %d: %s: %s", bin, said, remedy)
		}
	}
	hot := "pixel (row 7, column 7) is hot in about 10 frames, with up to 20 counts (in frame 1000) and 0.1 in the others"
	if said, remedy := DescribeStrays(StraysOf(want, 4)); !strings.HasPrefix(said, hot) || strings.Contains(remedy, "--skip") || !strings.HasPrefix(remedy, "mask the pixel (") {
		t.Errorf("a hot pixel: %s: %s", said, remedy)
	}
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"bin", "frame", "row", "column"} {
		w.Write(keyStrays+"/"+k, []int32{1, 2}, hdf5.Layout{})
	}
	w.Write(keyStrays+"/delay_frames", []int32{1}, hdf5.Layout{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStrays(name); err == nil || !strings.Contains(err.Error(), "has 1 number for 2 readings") {
		t.Errorf("one number for two readings: %v", err)
	}
}
