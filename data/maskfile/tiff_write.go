// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
)

// writeTIFF writes a mask as a picture of one byte for each pixel in one LZW-compressed strip.
func writeTIFF(w io.Writer, m *Mask) error {
	packed := packLZW(m.bytes())
	var out bytes.Buffer
	out.WriteString("II*\x00")
	le := binary.LittleEndian
	number := func(v uint32) { out.Write(le.AppendUint32(nil, v)) }
	number(uint32(8 + len(packed) + len(packed)%2))
	out.Write(packed)
	if len(packed)%2 == 1 {
		out.WriteByte(0)
	}
	tags := [][2]uint32{{tagWidth, uint32(m.Width)}, {tagHeight, uint32(m.Height)}, {tagBits, 8}, {tagCompression, 5}, {tagPhotometric, 1},
		{tagStrips, 8}, {tagSamples, 1}, {tagRowsPerStrip, uint32(m.Height)}, {tagStripBytes, uint32(len(packed))}, {tagFormat, 1}}
	out.Write(le.AppendUint16(nil, uint16(len(tags))))
	for _, t := range tags {
		const long, short = 4, 3
		kind := uint16(long)
		if t[0] != tagWidth && t[0] != tagHeight && t[0] != tagStrips && t[0] != tagRowsPerStrip && t[0] != tagStripBytes {
			kind = short
		}
		out.Write(le.AppendUint16(nil, uint16(t[0])))
		out.Write(le.AppendUint16(nil, kind))
		number(1)
		number(t[1])
	}
	number(0)
	_, err := w.Write(out.Bytes())
	return err
}

// packLZW packs bytes as TIFF has it: codes of 9 to 12 bits, high bit first, which grow one code earlier than
// elsewhere.
func packLZW(b []byte) []byte {
	const clear, end, first = 256, 257, 258
	var out []byte
	bits, held := uint32(0), 0
	width, next := 9, first
	table := map[uint32]uint32{} // code before and byte, to code
	put := func(code uint32) {
		bits, held = bits<<width|code, held+width
		for held >= 8 {
			out = append(out, byte(bits>>(held-8)))
			held -= 8
		}
	}
	put(clear)
	before := uint32(math.MaxUint32)
	for _, v := range b {
		if before == math.MaxUint32 {
			before = uint32(v)
			continue
		}
		key := before<<8 | uint32(v)
		if code, ok := table[key]; ok {
			before = code
			continue
		}
		put(before)
		table[key] = uint32(next)
		next++
		switch next {
		case 512, 1024, 2048:
			width++
		case 4095:
			put(clear)
			table, width, next = map[uint32]uint32{}, 9, first
		}
		before = uint32(v)
	}
	if before != math.MaxUint32 {
		put(before)
		if next++; next == 512 || next == 1024 || next == 2048 {
			width++
		}
	}
	put(end)
	if held > 0 {
		out = append(out, byte(bits<<(8-held)))
	}
	return out
}
