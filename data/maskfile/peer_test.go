// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/internal/peer"
)

// masked reads a mask with h5py or NumPy and compares it with zeros at given pixels.
const masked = `
import sys, numpy as np
hdf, npy = sys.argv[1:3]
import h5py
want = np.ones((10, 12), bool)
want[2, 5] = want[7, 1] = False
with h5py.File(hdf, "r") as f:
    found = []
    f.visititems(lambda n, o: found.append(o[()]) if isinstance(o, h5py.Dataset) and o.shape == want.shape else None)
assert found and all(np.array_equal(np.asarray(x) > 0, want) for x in found), found
assert np.array_equal(np.load(npy) > 0, want)
print("same", len(found))
`

// Masks that we write as HDF5 and NPY are those that h5py and NumPy read.
func TestMasksByPython(t *testing.T) {
	py := peer.Python(t, "h5py", "numpy")
	m := &maskfile.Mask{Height: 10, Width: 12, Keep: make([]bool, 120)}
	for i := range m.Keep {
		m.Keep[i] = i != 2*12+5 && i != 7*12+1
	}
	dir := t.TempDir()
	hdf, npy := filepath.Join(dir, "mask.h5"), filepath.Join(dir, "mask.npy")
	for _, name := range []string{hdf, npy} {
		if err := maskfile.Write(name, m, false); err != nil {
			t.Fatal(err)
		}
	}
	if out := py.Run(t, masked, hdf, npy); !strings.Contains(out, "same") {
		t.Error(out)
	}
}
