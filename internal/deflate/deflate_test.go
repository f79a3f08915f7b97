// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package deflate

import (
	"bytes"
	"compress/zlib"
	"io"
	"testing"
)

// Zeros are what whole datasets consist of: zlib makes 277 bytes of 256 KiB.
func TestEveryLevelIsSmallOnZeros(t *testing.T) {
	data := make([]byte, 256<<10)
	for level := 1; level <= 9; level++ {
		var out bytes.Buffer
		w, err := NewWriter(&out, level)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			out.Reset()
			w.Reset(&out)
			if _, err := w.Write(data); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if out.Len() > 1200 { // the compressor that is slow on zeros also makes more of them
			t.Errorf("level %d: %d bytes", level, out.Len())
		}
		r, err := zlib.NewReader(&out)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := io.ReadAll(r); err != nil || !bytes.Equal(back, data) {
			t.Errorf("level %d: %v", level, err)
		}
	}
	if _, err := NewWriter(io.Discard, 12); err == nil {
		t.Error("there is no level 12")
	}
}
