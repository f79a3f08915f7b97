// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/tensor"
)

// Every kind of picture gives the numbers that were written.
func TestImages(t *testing.T) {
	t.Chdir(t.TempDir())
	want := []float64{0, 1, 2, 300, 40000, 65535}
	w, err := hdf5.Create("a.h5")
	if err != nil {
		t.Fatal(err)
	}
	w.Write("/some/image", want, hdf5.Layout{Shape: []int{1, 2, 3}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w, _ = hdf5.Create("two.h5")
	w.Write("/one", want, hdf5.Layout{Shape: []int{2, 3}})
	w.Write("/two", want, hdf5.Layout{Shape: []int{3, 2}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	x, err := tensor.From(want, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.WriteNPY(&b); err != nil {
		t.Fatal(err)
	}
	os.WriteFile("a.npy", b.Bytes(), 0o644)
	os.WriteFile("a.tif", bigEndian(16, 1, 1, []byte{0, 2, 1, 44, 255, 255}), 0o644)
	for name, s := range map[string]Settings{"a.h5": {Key: "/some/image"}, "two.h5": {Key: "/one"}, "a.npy": {}, "a.tif": {}} {
		m, err := ReadImage(name, s)
		if name == "a.tif" {
			want = []float64{2, 300, 65535}
		} else {
			want = []float64{0, 1, 2, 300, 40000, 65535}
		}
		if err != nil || m.Height*m.Width != len(want) || !slices.Equal(m.Values, want) {
			t.Errorf("%s: %v %+v", name, err, m)
		}
	}
	for name, text := range map[string]string{"two.h5": "/one", "a.csv": "not an image", "none.npy": "none.npy", "a.png": ".png"} {
		if _, err := ReadImage(name, Settings{}); err == nil || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
