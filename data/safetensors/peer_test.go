// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package safetensors_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/safetensors"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/tensor"
)

const exchanged = `
import sys, numpy as np
from safetensors.numpy import load_file, save_file
got = load_file(sys.argv[1])
assert got["w"].dtype == np.float32 and np.array_equal(got["w"], np.arange(6, dtype=np.float32).reshape(2, 3)), got
save_file({"b": np.array([[1.5, -2]]), "i": np.array([7], np.int64)}, sys.argv[2], {"format": "np"})
print("same")
`

// What we write is read by the format's own library, and the other way round.
func TestExchange(t *testing.T) {
	py := peer.Python(t, "safetensors", "numpy")
	dir := t.TempDir()
	ours, theirs := filepath.Join(dir, "a.safetensors"), filepath.Join(dir, "b.safetensors")
	w, err := tensor.From([]float32{0, 1, 2, 3, 4, 5}, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := safetensors.Save(ours, map[string]*tensor.Tensor{"w": w}, map[string]string{"format": "np"}); err != nil {
		t.Fatal(err)
	}
	if out := py.Run(t, exchanged, ours, theirs); !strings.Contains(out, "same") {
		t.Fatal(out)
	}
	got, notes, err := safetensors.Load(theirs)
	if err != nil {
		t.Fatal(err)
	}
	if b := got["b"].Float64s(); notes["format"] != "np" || b[0] != 1.5 || b[1] != -2 || got["i"].At(0) != int64(7) {
		t.Errorf("%v %v", got, notes)
	}
}
