// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/tensor"
)

// A fourth axis of length 1 changes nothing, whether it stands before or after that of the frames, in HDF5 and NPY; nor do chunks.
func TestFourAxes(t *testing.T) {
	const n, h, w = 7, 5, 6
	all := movie(n, h, w)
	dir := t.TempDir()
	x, _ := tensor.From(slices.Clone(all))
	x, _ = x.Reshape(n, 1, h, w)
	out, err := os.Create(filepath.Join(dir, "x.npy"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(x.WriteNPY(out), out.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		out.Name(),
		hdf5Of(t, filepath.Join(dir, "a.h5"), "/entry/data/data", as[uint16](all), []int{n, 1, h, w}, hdf5.Layout{}),
		hdf5Of(t, filepath.Join(dir, "b.h5"), "/entry/data/data", as[uint16](all), []int{1, n, h, w}, hdf5.Layout{Gzip: 1, Chunk: []int{1, 3, h, w}}),
		hdf5Of(t, filepath.Join(dir, "c.h5"), "/scan/frames", as[uint16](all), []int{n, 1, h, w}, hdf5.Layout{Gzip: 1, Chunk: []int{2, 1, 3, w}}),
	} {
		f, err := Open(name, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		check(t, f, all)
		f.Close()
	}
	name := hdf5Of(t, filepath.Join(dir, "d.h5"), "/entry/data/data", as[uint16](all)[:6*h*w], []int{2, 3, h, w}, hdf5.Layout{})
	if _, err := Open(name, Settings{}); err == nil || !strings.Contains(err.Error(), "no array of numbers or truth values with the axes") {
		t.Error(err)
	}
}

// Maps of single photons are truth values.
func TestTruthValues(t *testing.T) {
	all := movie(8, 5, 6)
	hit := make([]bool, len(all))
	for i, v := range all {
		if hit[i] = v > 1; hit[i] {
			all[i] = 1
			continue
		}
		all[i] = 0
	}
	f, err := Open(hdf5Of(t, filepath.Join(t.TempDir(), "a.h5"), "/entry/data/data", hit, []int{8, 5, 6}, hdf5.Layout{}), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	check(t, f, all)
}

// Frames that a filter of another program packed are refused with its name, and are not taken for a truncated file.
func TestUnknownFilter(t *testing.T) {
	if _, err := Open("testdata/zfp.h5", Settings{}); !errors.Is(err, data.ErrUnsupported) || !strings.Contains(err.Error(), "zfp") || strings.Contains(err.Error(), "can be read") {
		t.Error(err)
	}
}

// The size of a frame that a file declares is checked before memory is taken for it.
func TestDeclaredSize(t *testing.T) {
	name := hdf5Of(t, filepath.Join(t.TempDir(), "a.h5"), "/entry/data/data", as[uint16](movie(2, 5, 6)), []int{2, 5, 6}, hdf5.Layout{})
	if _, err := Open(name, Settings{MaxPixels: 29}); err == nil || !strings.Contains(err.Error(), "5 x 6 pixels: want at least 1 x 1 and at most 29") {
		t.Error(err)
	}
	if _, err := Open(write(t, filepath.Join(t.TempDir(), "a.raw"), make([]byte, 10)), Settings{Height: 1 << 14, Width: 1 << 14}); err == nil || !strings.Contains(err.Error(), "at most 67108864") {
		t.Error(err)
	}
}
