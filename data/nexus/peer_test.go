// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/peer"
)

// layout compares a file that we wrote with one of the reference, name by name: kind of type, shape and value. It prints the
// names that only the reference has.
const layout = `
import sys, h5py, numpy as np
ours, theirs, root = h5py.File(sys.argv[1]), h5py.File(sys.argv[2]), sys.argv[3]
kind = lambda d: "str" if h5py.check_string_dtype(d.dtype) else "bool" if d.dtype == bool else {"i": "int", "u": "int", "f": "float"}[d.dtype.kind] + (str(d.dtype.itemsize) if d.dtype.kind == "f" else "")
names = []
theirs[root].visititems(lambda n, o: names.append(root + "/" + n) if isinstance(o, h5py.Dataset) else None)
checked = 0
for n in names:
    if n not in ours:
        print("only", n)
        continue
    a, b = ours[n], theirs[n]
    assert kind(a) == kind(b), (n, a.dtype, b.dtype)
    assert a.shape == b.shape, (n, a.shape, b.shape)
    x, y = a[()], b[()]
    if kind(a) == "str":
        assert np.all(np.asarray(x) == np.asarray(y)), (n, x, y)
    else:
        assert np.allclose(np.asarray(x, float), np.asarray(y, float), rtol=1e-6, atol=0, equal_nan=True), n
    checked += 1
print("checked", checked)
`

// h5py finds in result and q-map files that we write the names, types, shapes and values of the reference's.
func TestLayoutByH5py(t *testing.T) {
	py := peer.Python(t, "h5py", "numpy", "hdf5plugin")
	golden.Each(t, "xpcs/hdf5/result_*.hdf", func(t *testing.T, file string) {
		r := open(t, golden.Path(t, file))
		name := filepath.Join(t.TempDir(), "result.hdf")
		if err := Write(name, r); err != nil {
			t.Fatal(err)
		}
		compared(t, py.Run(t, "import hdf5plugin\n"+layout, name, golden.Path(t, file), "/xpcs"))
	})
	golden.Each(t, "xpcs/hdf5/qmap_*.hdf", func(t *testing.T, file string) {
		q, err := OpenQMap(golden.Path(t, file))
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "qmap.hdf")
		if err := WriteQMap(name, q); err != nil {
			t.Fatal(err)
		}
		compared(t, py.Run(t, "import hdf5plugin\n"+layout, name, golden.Path(t, file), "/qmap"))
	})
}

// compared makes the test fail if a name is missing that is neither a note of the other program nor the correlation of every pixel, which
// a Writer adds.
func compared(t *testing.T, out string) {
	t.Helper()
	for line := range strings.Lines(out) {
		if _, name, only := strings.Cut(strings.TrimSpace(line), "only "); only && !strings.Contains(name, "/config/") && !strings.HasSuffix(name, "rawdata_path") && !strings.HasSuffix(name, "unnormalized_G2") {
			t.Errorf("a file of ours lacks %s", name)
		}
	}
	if !strings.Contains(out, "checked") {
		t.Errorf("h5py says %s", out)
	}
}
