// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"archive/zip"
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// Images that tifffile and fabio wrote have the numbers that these read (testdata/others.py).
func TestImagesOfOthers(t *testing.T) {
	z, err := zip.OpenReader("testdata/others.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for name, b := range files {
		if strings.HasSuffix(name, ".npy") {
			continue
		}
		x, err := tensor.ReadNPY(bytes.NewReader(files[name+".npy"]))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		want, shape := x.Float64s(), x.Shape()
		if len(shape) == 3 {
			if _, err := ReadImage(path, Settings{}); err == nil || !strings.Contains(err.Error(), "3 pages") {
				t.Errorf("%s: %v, want one that names the pages", name, err)
			}
			path, want, shape = path+":2", want[shape[1]*shape[2]:2*shape[1]*shape[2]], shape[1:]
		}
		m, err := ReadImage(path, Settings{})
		if err != nil {
			t.Error(err)
			continue
		}
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if m.Height != shape[0] || m.Width != shape[1] || !slices.EqualFunc(m.Values, want, same) {
			t.Errorf("%s: %d x %d pixels of other numbers", name, m.Height, m.Width)
		}
	}
}
