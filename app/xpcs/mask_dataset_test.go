// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/data/hdf5"
)

// A mask in a file of several is named by --dataset or after the name of the file, by mask and by qmap.
func TestMaskDataset(t *testing.T) {
	t.Chdir(t.TempDir())
	w, err := hdf5.Create("m.h5")
	if err != nil {
		t.Fatal(err)
	}
	keep := make([]uint8, 6*8)
	for i := range keep {
		keep[i] = uint8(min(i, 1)) // all but one
	}
	w.Write("/good", keep, hdf5.Layout{Shape: []int{6, 8}})
	w.Write("/image", make([]float32, 6*8), hdf5.Layout{Shape: []int{6, 8}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const qmap = "qmap q.hdf --overwrite --shape 6x8 --beam-x 3 --beam-y 3 --pixel-size 75um --distance 5 --energy 10 --dynamic 1 --static 1 "
	for line, want := range map[string]string{
		"mask a.h5 --overwrite --shape 6x8 --file m.h5 --dataset good": "1 masked", "mask a.h5 --overwrite --shape 6x8 --file m.h5:/good": "1 masked",
		qmap + "--mask m.h5 --dataset /good": "47 kept", qmap + "--mask m.h5:/good": "47 kept",
	} {
		if code, stdout, stderr := apptest.Do(t, strings.Fields(line)...); code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit %d: %s%s", line, code, stdout, stderr)
		}
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("mask a.h5 --overwrite --shape 6x8 --file m.h5")...); code == 0 || !strings.Contains(stderr, "name one with --dataset, or as FILE:/good") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
