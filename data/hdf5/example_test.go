// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gorgonia.org/tensor"

	"github.com/euryale-dev/euryale/data/hdf5"
)

func Example() {
	dir, err := os.MkdirTemp("", "hdf5")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "example.h5")

	w, err := hdf5.Create(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	w.Write("/entry/image", []float32{1, 2, 3, 4, 5, 6}, hdf5.Layout{Shape: []int{2, 3}, Gzip: 4, Shuffle: true})
	w.Attr("/entry/image", "units", "counts")
	if err := w.Close(); err != nil { // returns the first mistake of all calls
		fmt.Println(err)
		return
	}

	f, err := hdf5.Open(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	image, err := f.Dataset("/entry/image")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(image.Shape(), image.Type(), image.Filters())
	fmt.Println(image.Slab([]int{1, 0}, []int{1, 3}).Float64s())
	_, err = f.Dataset("/entry/imgae")
	fmt.Println(err.Error()[len("hdf5: ")+len(name):])
	// Output:
	// [2 3] float32 [shuffle gzip]
	// [4 5 6] <nil>
	// : there is no /entry/imgae: nearest are /entry/image
}

func TestDense(t *testing.T) {
	f, err := hdf5.Open("testdata/latest.h5")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for key, want := range map[string]string{"/numbers/f4be": "float32 (3, 5)", "/numbers/f8": "float64 (3, 5)", "/numbers/u2": "int64 (3, 5)",
		"/types/bool": "bool (3)", "/numbers/scalar": "float32 (1)", "/types/array": "int64 (2, 3, 4)"} {
		d, err := f.Dataset(key)
		if err != nil {
			t.Fatal(err)
		}
		x, err := d.Dense()
		if err != nil || fmt.Sprint(x.Dtype(), " ", x.Shape()) != want {
			t.Errorf("%s: %v, want %s, %v", key, x, want, err)
		}
		if v, ok := x.Data().([]float32); ok && key == "/numbers/f4be" && (v[0] != -7 || x.Engine() == tensor.Engine(nil)) {
			t.Error(v)
		}
	}
	for _, key := range []string{"/layout/empty", "/text/vlen"} {
		d, err := f.Dataset(key)
		if err != nil {
			t.Fatal(err)
		}
		if x, err := d.Dense(); err == nil {
			t.Errorf("%s: %v", key, x)
		}
	}
}
