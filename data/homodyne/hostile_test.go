// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// made writes an HDF5 file of datasets.
func made(t *testing.T, sets map[string]any, layouts map[string]hdf5.Layout) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "made.hdf")
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range sets {
		w.Write(key, v, layouts[key])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// Every fault is an error that names the file, the place in it, and numbers.
func TestFaultsOfFiles(t *testing.T) {
	maps := newMaps + "/c2_00001"
	square := hdf5.Layout{Shape: []int{3, 3}}
	m := make([]float32, 9)
	for want, name := range map[string]string{
		"there are no two-time correlations in the file, only of one time": made(t, map[string]any{"/xpcs/multitau/tau": m}, nil),
		"the file has x": made(t, map[string]any{"/x": m}, nil),
		"/exchange/C2T_all: it has 1 matrices, but /xpcs/dqlist has 2 values of q and /xpcs/dphilist 1 angles": made(t, map[string]any{oldMaps + "/a": m, "/xpcs/dqlist": []float64{1, 2}, "/xpcs/dphilist": []float64{1}},
			map[string]hdf5.Layout{oldMaps + "/a": square}),
		"/xpcs/dqlist: it is missing":                             made(t, map[string]any{oldMaps + "/a": m}, map[string]hdf5.Layout{oldMaps + "/a": square}),
		"/exchange/C2T_all/a: it has the shape [9]":               made(t, map[string]any{oldMaps + "/a": m}, nil),
		"/xpcs/dqlist: it has the shape [2 2]":                    made(t, map[string]any{oldMaps + "/a": m, "/xpcs/dqlist": make([]float64, 4)}, map[string]hdf5.Layout{oldMaps + "/a": square, "/xpcs/dqlist": {Shape: []int{2, 2}}}),
		"dynamic_v_list_dim0: it is missing":                      made(t, map[string]any{maps: m}, map[string]hdf5.Layout{maps: square}),
		"processed_bins: it names bin 7, but /xpcs/qmap/dynamic_": made(t, apsu(map[string]any{"/xpcs/twotime/processed_bins": []int32{7}}), map[string]hdf5.Layout{maps: square}),
		"bin 1 is in cell 9 of a grid of 1 x 2":                   made(t, apsu(map[string]any{"/xpcs/qmap/dynamic_index_mapping": []int32{9}}), map[string]hdf5.Layout{maps: square}),
		"processed_bins: it lists 2 bins":                         made(t, apsu(map[string]any{"/xpcs/twotime/processed_bins": []int32{1, 2}}), map[string]hdf5.Layout{maps: square}),
		"map_names: the bins are over \"x\"":                      made(t, apsu(map[string]any{"/xpcs/qmap/map_names": []string{"x", "y"}}), map[string]hdf5.Layout{maps: square}),
		"map_units: it gives q in \"furlong\"":                    made(t, apsu(map[string]any{"/xpcs/qmap/map_units": []string{"furlong", "deg"}}), map[string]hdf5.Layout{maps: square}),
		"frame_time: it is -1":                                    made(t, apsu(map[string]any{"/entry/instrument/detector_1/frame_time": -1.0}), map[string]hdf5.Layout{maps: square}),
		"element 0 is 1.5: want whole numbers":                    made(t, apsu(map[string]any{"/xpcs/twotime/processed_bins": []float64{1.5}}), map[string]hdf5.Layout{maps: square}),
		"the file is empty":                                       text(t, ""),
		"is text: want HDF5 or .npz":                              text(t, "hello"),
		"is a single NumPy array":                                 text(t, "\x93NUMPY..."),
		"is a FITS file":                                          text(t, "SIMPLE  =     T"),
		"cannot be read as .npz: the ZIP archive (such as .npz) of 7 bytes lacks the list of its members": text(t, "PK\x03\x04..."),
	} {
		f, err := Open(name)
		if err == nil {
			f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
}

func text(t *testing.T, s string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "made.txt")
	if err := os.WriteFile(name, []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// apsu is a small file of the new layout with some parts changed.
func apsu(changes map[string]any) map[string]any {
	all := map[string]any{newMaps + "/c2_00001": make([]float32, 9), "/xpcs/twotime/processed_bins": []int32{1}, "/xpcs/qmap/dynamic_v_list_dim0": []float64{0.01},
		"/xpcs/qmap/dynamic_v_list_dim1": []float64{0, 90}, "/xpcs/qmap/dynamic_index_mapping": []int32{1}}
	for k, v := range changes {
		all[k] = v
	}
	return all
}

// Units of 1/nm become 1/angstrom.
func TestUnits(t *testing.T) {
	name := made(t, apsu(map[string]any{"/xpcs/qmap/map_units": []string{"nm^-1", "deg"}, "/xpcs/qmap/dynamic_v_list_dim0": []float64{0.1}}), map[string]hdf5.Layout{newMaps + "/c2_00001": {Shape: []int{3, 3}}})
	if f := open(t, name); f.Bins[0].Q != 0.01 || f.Bins[0].Phi != 90 {
		t.Error(f.Bins)
	}
}

// A dataset that declares more than the file can hold is an error before memory is taken.
func TestDeclaredSizes(t *testing.T) {
	key := newMaps + "/c2_00001"
	name := made(t, apsu(map[string]any{key: make([]float32, 0)}), map[string]hdf5.Layout{key: {Shape: []int{0, 0}, MaxShape: []int{-1, -1}, Chunk: []int{8, 8}}})
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head := []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}
	i := bytes.Index(b, head)
	if i < 0 {
		t.Fatal("the shape was not found")
	}
	for _, n := range []byte{1, 100} { // 16 million and 1.6 thousand million frames
		c := bytes.Clone(b)
		c[i+3], c[i+11] = n, n
		os.WriteFile(name, c, 0o600)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := Open(name)
		if err == nil {
			_, err = f.Read(Selection{Step: 1})
			f.Close()
		}
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "frames, more than a file of this size can hold") && !strings.Contains(err.Error(), "shape") {
			t.Error(n, err)
		}
		if after.TotalAlloc-before.TotalAlloc > 64<<20 {
			t.Error(n, after.TotalAlloc-before.TotalAlloc)
		}
	}
}

// Files that are cut short or damaged anywhere are read or refused: no panic, no endless loop.
func TestDamagedFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, layout := range []Layout{APSOld, APSU, NPZ} {
		whole, err := os.ReadFile(write(t, layout, sample(6)))
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "damaged")
		refused := 0
		const tries = 300
		for k := range tries {
			b := bytes.Clone(whole)
			if k%3 == 0 {
				b = b[:r.IntN(len(b))]
			} else {
				for range 1 + r.IntN(6) {
					b[r.IntN(len(b))] = byte(r.IntN(256))
				}
			}
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := Open(name)
			if err == nil {
				_, err = f.Read(Selection{Q: 0.0054, Step: 0.1})
				f.Close()
			}
			if err != nil {
				refused++
				if k%3 == 0 && !strings.Contains(err.Error(), "damaged") {
					t.Errorf("%v does not name the file", err)
				}
			} else if k%3 == 0 && len(b) < len(whole)/2 {
				t.Errorf("%s: half of a file was read", layout)
			}
		}
		if refused < tries/4 {
			t.Error(layout, refused)
		}
	}
}

// A pickle is a program: it is refused.
func TestPickles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "old.npz")
	z, err := createNPZ(name)
	if err != nil {
		t.Fatal(err)
	}
	c := sample(4)
	z.floats("wavevector_q_list", []float64{0.01}, 1)
	z.floats("phi_angles_list", []float64{0}, 1)
	z.cube("c2_exp", c.C2[:1], 4)
	z.array("cache_metadata", "|O", nil)
	if err := z.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(name); err == nil || !strings.Contains(err.Error(), "Python pickle") {
		t.Error(err)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("analysis_mode: laminar_flow\nanalyzer_parameters: {dt: 0.1, start_frame: 1}\n")
	f.Add(`{"analysis_mode": "static", "parameter_space": {"bounds": [{"name": "D0", "min": 1, "max": 2}]}}`)
	f.Add("parameters: {reference: {D0_ref: {value: 1, vary: false}}}\nphi_filtering: {target_ranges: [[1, 2]]}")
	f.Add("a: &a [*a]\noptimization: {nlsq: 3, cmc: []}")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"a.yaml", "a.json"} {
			c, err := ParseConfig([]byte(text), name)
			if err == nil && len(c.Parameters) == 0 {
				t.Error("no parameters")
			}
		}
	})
}
