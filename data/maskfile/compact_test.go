// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A TIFF picture in one strip of 16-bit numbers is read in pieces: in single precision it takes little more than 4 bytes for each pixel, and
// has the same numbers as in double precision. Numbers of 32 bits are not made compact.
func TestCompactImage(t *testing.T) {
	const height, width = 1500, 1001
	le := binary.LittleEndian
	file := func(name string, bits int) string {
		out := le.AppendUint32([]byte("II*\x00"), uint32(8+height*width*bits/8))
		for i := range height * width {
			if bits == 16 {
				out = le.AppendUint16(out, uint16(i*7))
			} else {
				out = le.AppendUint32(out, uint32(i*7))
			}
		}
		tags := [][2]int{{256, width}, {257, height}, {258, bits}, {259, 1}, {262, 1}, {273, 8}, {277, 1}, {278, height}, {279, height * width * bits / 8}, {339, 1}}
		out = le.AppendUint16(out, uint16(len(tags)))
		for _, tag := range tags {
			out = le.AppendUint32(le.AppendUint32(le.AppendUint16(le.AppendUint16(out, uint16(tag[0])), 4), 1), uint32(tag[1]))
		}
		name = filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(name, le.AppendUint32(out, 0), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	name := file("a.tif", 16)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := ReadImage(name, Settings{Compact: true})
	runtime.ReadMemStats(&after)
	if err != nil || m.Values != nil || len(m.Compact) != height*width {
		t.Fatal(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 4*height*width+3<<20 {
		t.Errorf("%d bytes for %d pixels", took, height*width)
	}
	whole, err := ReadImage(name, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range whole.Values {
		if v != float64(uint16(i*7)) || m.Compact[i] != float32(v) {
			t.Fatalf("pixel %d: %g and %g", i, v, m.Compact[i])
		}
	}
	if wide, err := ReadImage(file("b.tif", 32), Settings{Compact: true}); err != nil || wide.Compact != nil || len(wide.Values) != height*width {
		t.Error(err)
	}
}
