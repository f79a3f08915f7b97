// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// Chunk indices in pages, most of which were never written, are read; a damaged byte
// of them is an error, and one of the numbers spoils that number alone.
func TestPagedIndices(t *testing.T) {
	z, err := os.Open("testdata/pages.h5.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	r, err := gzip.NewReader(z)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) (wrong int, err error) {
		f := &File{name: "pages", r: bytes.NewReader(b), size: int64(len(b)), MaxBytes: 1 << 30}
		if err := f.superblock(); err != nil {
			return 0, err
		}
		d, err := f.Dataset(name)
		if err != nil {
			return 0, err
		}
		written := []int{0, 5, 40000, 330000, 1399990, 1399999}
		for _, first := range []int{0, 16, 40000, 329992, 330000, 1399984, 1399992} { // of chunks
			v, err := d.Slab([]int{first}, []int{8}).Float64s()
			if err != nil {
				return wrong, err
			}
			for i, x := range v {
				want := -1.0
				for _, w := range written {
					if w == first+i {
						want = float64(w % 100)
					}
				}
				if x != want {
					wrong++
				}
			}
		}
		return wrong, nil
	}
	damaged, silent := 0, 0
	for _, name := range []string{"grow", "fixed"} {
		if wrong, err := read(name); err != nil || wrong > 0 {
			t.Fatalf("%s: %d wrong numbers, %v", name, wrong, err)
		}
		for i, was := range b {
			if was == 0 || was == 255 {
				continue
			}
			b[i] ^= 0x40
			wrong, err := read(name)
			if b[i] = was; wrong > 1 {
				t.Fatalf("%s: byte %d damaged: %d wrong numbers, %v", name, i, wrong, err)
			}
			if damaged++; err == nil {
				silent++
			}
		}
	}
	if 2*silent > damaged { // those of the other dataset
		t.Errorf("%d of %d damaged bytes went unnoticed", silent, damaged)
	}
}
