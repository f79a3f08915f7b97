// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"bytes"
	"io"
	"runtime"
	"testing"
)

// An array in a file of known size takes its memory once, and one from a stream little more than twice.
func TestReadNPYMemory(t *testing.T) {
	const n = 1 << 20
	x, err := From(make([]float64, n), n)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := x.WriteNPY(&b); err != nil {
		t.Fatal(err)
	}
	for most, r := range map[uint64]io.Reader{9 * n: io.NewSectionReader(bytes.NewReader(b.Bytes()), 0, int64(b.Len())), 25 * n: &b} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := ReadNPY(r); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > most {
			t.Errorf("%T: %d bytes were allocated for an array of %d, want at most %d", r, took, 8*n, most)
		}
	}
}
