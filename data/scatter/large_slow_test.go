//go:build slow

// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter_test

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/scatter"
)

// A file of 55 energies of 1024 x 1026 pixels of 64 bits, as a beamline writes them, is binned by 4 in less than 2 GB, wherever its axis of
// energies is and however it is stored.
func TestLargeFile(t *testing.T) {
	const energies, rows, columns = 55, 1024, 1026
	for name, layout := range map[string]hdf5.Layout{
		"energy first":             {Shape: []int{energies, rows, columns}},
		"energy first, compressed": {Shape: []int{energies, rows, columns}, Chunk: []int{1, rows, columns}, Gzip: 1, Shuffle: true},
		"energy last, compressed":  {Shape: []int{rows, columns, energies}, Chunk: []int{64, 128, energies}, Gzip: 1, Shuffle: true},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "large.h5")
			writeLarge(t, file, layout, energies, rows*columns)
			runtime.GC()
			var before, after, peak runtime.MemStats
			runtime.ReadMemStats(&before)
			done, stopped := make(chan bool), make(chan bool)
			go func() { // the largest heap while the file is read
				defer close(stopped)
				for {
					select {
					case <-done:
						return
					case <-time.After(5 * time.Millisecond):
						runtime.ReadMemStats(&after)
						peak.HeapInuse = max(peak.HeapInuse, after.HeapInuse)
					}
				}
			}()
			began := time.Now()
			set, err := scatter.Open(file, scatter.Settings{Bin: 4})
			close(done)
			<-stopped
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s in %v, heap up to %d MiB", set.Summary(), time.Since(began), peak.HeapInuse>>20)
			if set.Rows != 256 || set.Columns != 256 || len(set.Frames) != energies || set.Frames[54].Counts[0] != 16*54 {
				t.Errorf("%d images of %d x %d, %g", len(set.Frames), set.Rows, set.Columns, set.Frames[54].Counts[0])
			}
			if peak.HeapInuse > 2e9 {
				t.Errorf("the heap grew to %d MiB", peak.HeapInuse>>20)
			}
		})
	}
}

func writeLarge(t *testing.T, file string, layout hdf5.Layout, energies, pixels int) {
	t.Helper()
	w, err := hdf5.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	x, list := make([]int64, energies*pixels), make([]float64, energies)
	for i := range x {
		if layout.Shape[0] == energies {
			x[i] = int64(i / pixels)
		} else {
			x[i] = int64(i % energies)
		}
	}
	for i := range list {
		list[i] = 270 + float64(i)
	}
	w.Write("/I", x, layout)
	axes := map[bool][]string{true: {"energy", "pix_y", "pix_x"}, false: {"pix_y", "pix_x", "energy"}}[layout.Shape[0] == energies]
	for i, a := range axes {
		v := list
		if a != "energy" {
			v = make([]float64, layout.Shape[i])
		}
		w.Write("/"+a, v, hdf5.Layout{})
		w.Scale("/"+a, a)
		w.Attach("/I", i, "/"+a)
	}
	for k, v := range map[string]float64{"dist": 0.5, "pixel1": 6e-5, "pixel2": 6e-5, "poni1": 0.03, "poni2": 0.03, "exposure": 1} {
		w.Attr("/I", k, v)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
