// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/hdf5"
)

// An image whose data are damaged is called that, not taken for something else.
func TestDamagedImage(t *testing.T) {
	t.Chdir(t.TempDir())
	w, err := hdf5.Create("image.h5")
	if err != nil {
		t.Fatal(err)
	}
	v := make([]uint32, 64*64)
	for i := range v {
		v[i] = uint32(0x01020304 + i)
	}
	if err := w.Write("image", v, hdf5.Layout{Shape: []int{64, 64}, Chunk: []int{32, 32}, Fletcher32: true}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const line = "mask m.npy --image image.h5 --dataset image --threshold 5:1e9"
	if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	b, err := os.ReadFile("image.h5")
	if err != nil {
		t.Fatal(err)
	}
	b[strings.Index(string(b), "\x04\x03\x02\x01")+5] ^= 8
	if err := os.WriteFile("image.h5", b, 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, append(strings.Fields(line), "--overwrite")...); code != exit.Data || !strings.Contains(stderr, "checksum") || !strings.Contains(stderr, "image.h5") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
