// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// Chunks are halved along their longest axis until they are small enough.
func TestCutChunks(t *testing.T) {
	for _, c := range []struct {
		shape       []int
		size, limit int
		want        string
	}{
		{[]int{}, 8, 8, "[]"},
		{[]int{100}, 8, 800, "[100]"},
		{[]int{100}, 8, 799, "[50]"},
		{[]int{101}, 8, 400, "[26]"},
		{[]int{4, 1000}, 8, 8000, "[4 250]"},
		{[]int{3}, 8, 1, "[1]"},
		{[]int{0, 5}, 8, 1000, "[1 5]"},
	} {
		if got := fmt.Sprint(cutChunks(c.shape, c.size, c.limit)); got != c.want {
			t.Errorf("%v of %d bytes in chunks of at most %d: %s, want %s", c.shape, c.size, c.limit, got, c.want)
		}
	}
}

// Each setting that cannot be is refused by itself.
func TestSettingsThatCannotBe(t *testing.T) {
	for _, s := range []Settings{{Zlib: -1}, {Zlib: 10}, {ChunkBytes: -1}, {ChunkDraws: -1}} {
		if err := Write(filepath.Join(t.TempDir(), "a.zarr"), tensor.NewDataTree(), s); err == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}
