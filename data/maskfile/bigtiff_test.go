// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// bigTIFF is a picture of 3 x 2 pixels in two strips, whose positions are in a list of 64-bit numbers outside the directory.
func bigTIFF(order binary.ByteOrder) []byte {
	var b bytes.Buffer
	put := func(v ...any) {
		for _, x := range v {
			binary.Write(&b, order, x)
		}
	}
	if b.WriteString("II"); order == binary.BigEndian {
		b.Reset()
		b.WriteString("MM")
	}
	put(uint16(43), uint16(8), uint16(0), uint64(40))
	b.Write([]byte{1, 0, 5, 0, 7, 9, 0, 0}) // 16: the strips
	put(uint64(16), uint64(19))             // 24: their positions
	entry := func(tag, kind uint16, n uint64, value ...any) {
		at := b.Len()
		put(tag, kind, n)
		put(value...)
		b.Write(make([]byte, 20-(b.Len()-at)))
	}
	put(uint64(6)) // 40
	entry(tagWidth, 3, 1, uint16(3))
	entry(tagHeight, 16, 1, uint64(2))
	entry(tagBits, 3, 1, uint16(8))
	entry(tagStrips, 16, 2, uint64(24))
	entry(tagRowsPerStrip, 4, 1, uint32(1))
	entry(tagStripBytes, 4, 2, uint32(3), uint32(3))
	put(uint64(0))
	return b.Bytes()
}

// A BigTIFF file is read, as detectors' programs write it for stacks; one that is cut or whose numbers are absurd is told.
//
// Layout: the BigTIFF proposal, as in libtiff 4 (https://www.awaresystems.be/imaging/tiff/bigtiff.html).
func TestBigTIFF(t *testing.T) {
	want := []bool{true, false, true, false, true, true}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		b := bigTIFF(order)
		m, err := readTIFF(bytes.NewReader(b), int64(len(b)), Settings{})
		if err != nil || m.Height != 2 || m.Width != 3 || !slices.Equal(m.Keep, want) {
			t.Errorf("%v: %+v, %v", order, m, err)
		}
		for n := range len(b) - 8 { // the last 8 bytes say that there is no other picture
			if m, err := readTIFF(bytes.NewReader(b[:n]), int64(n), Settings{}); err == nil {
				t.Errorf("%v: cut at %d: %+v", order, n, m)
			}
		}
		for at := 4; at < len(b); at++ { // no damage stops the reader or takes much memory
			for _, x := range []byte{0x7f, 0xff} {
				bad := slices.Clone(b)
				bad[at] ^= x
				if _, err := readTIFF(bytes.NewReader(bad), int64(len(b)), Settings{}); err != nil && strings.Contains(err.Error(), "byte -") {
					t.Errorf("%v: byte %d: %v", order, at, err)
				}
			}
		}
	}
}
