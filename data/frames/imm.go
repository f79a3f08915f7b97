// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
)

// Bytes and values of the head of a frame in an IMM file, a little-endian structure of 1024 bytes.
const (
	immHead        = 1024
	immCompression = 4   // int32: 6 for events
	immRows        = 108 // int32
	immCols        = 112 // int32
	immBytes       = 116 // int32: bytes of a pixel of a dense frame
	immEntries     = 152 // uint32: number of events or pixels after the head
	immSparse      = 6
)

// imm is a file of the Advanced Photon Source's image server: frames with a head each, dense (two or four bytes a pixel)
// or as events (all pixels as int32, then all counts as int16).
type imm struct {
	in     *os.File
	name   string
	at     []int64 // where the data of each frame begin
	n      []uint32
	pixels int
	wide   int // bytes of a pixel of a dense frame; 0 for events
	buf    []byte
}

func init() { register("imm", format{extensions: []string{".imm"}, open: openIMM}) }

func openIMM(f *File, in *os.File, size int64, _ Settings) error {
	head := make([]byte, immHead)
	word := func(at int) uint32 { return binary.LittleEndian.Uint32(head[at:]) }
	if _, err := in.ReadAt(head, 0); err != nil {
		return f.bad("copy the file again, or give its format", "the file has %d bytes, fewer than the %d bytes of the header of an IMM frame", size, immHead)
	}
	rows, cols, compression := int(int32(word(immRows))), int(int32(word(immCols))), word(immCompression)
	if err := f.size(rows, cols); err != nil {
		return err
	}
	m := &imm{in: in, name: f.Name, pixels: rows * cols}
	each := int64(6)
	if f.Sparse = compression == immSparse; !f.Sparse {
		if m.wide = int(word(immBytes)); m.wide != 4 {
			m.wide = 2
		}
		each = int64(m.wide)
	}
	f.source = m
	for at := int64(0); at < size; {
		if size-at < immHead {
			f.Lost = f.cut(len(m.at), size-at, immHead, -1)
			break
		}
		if _, err := in.ReadAt(head, at); err != nil {
			return err
		}
		n := word(immEntries)
		if word(immCompression) != compression || int(int32(word(immRows))) != rows || int(int32(word(immCols))) != cols || !f.Sparse && int(n) != m.pixels || f.Sparse && int(n) > m.pixels {
			return f.bad("copy the file again, or give its format if it is not an IMM file", "frame %d, at byte %d, has %d entries for %d x %d pixels and compression %d, but the first one has %d x %d pixels and compression %d", len(m.at), at, n, int32(word(immRows)), int32(word(immCols)), word(immCompression), rows, cols, compression)
		}
		if left := size - at - immHead; left < int64(n)*each {
			f.Lost = f.cut(len(m.at), left, int64(n)*each, -1)
			break
		}
		m.at, m.n = append(m.at, at+immHead), append(m.n, n)
		at += immHead + int64(n)*each
	}
	f.Frames = len(m.at)
	return nil
}

func (m *imm) read(frame int) ([]byte, error) {
	each := m.wide
	if each == 0 {
		each = 6
	}
	n := int(m.n[frame]) * each
	m.buf = slices.Grow(m.buf[:0], n)[:n]
	if _, err := m.in.ReadAt(m.buf, m.at[frame]); err != nil {
		return nil, &FormatError{Format: "frames", File: m.name, What: fmt.Sprintf("frame %d cannot be read", frame), Err: err}
	}
	return m.buf, nil
}

func (m *imm) dense(first int, dst []float32) error {
	if m.wide == 0 {
		return toDense(m, m.pixels, first, dst)
	}
	typ := numberTypes[map[int]string{2: "u2", 4: "u4"}[m.wide]]
	for i := 0; i < len(dst); i, first = i+m.pixels, first+1 {
		b, err := m.read(first)
		if err != nil {
			return err
		}
		typ.read(dst[i:i+m.pixels], b, binary.LittleEndian)
	}
	return nil
}

func (m *imm) events(first, n int, dst *Events) error {
	if m.wide > 0 {
		return fromDense(m, m.pixels, first, n, dst)
	}
	for f := first; f < first+n; f++ {
		b, err := m.read(f)
		if err != nil {
			return err
		}
		k := int(m.n[f])
		counts := b[4*k:]
		for i := range k {
			p := binary.LittleEndian.Uint32(b[4*i:])
			if int64(p) >= int64(m.pixels) {
				return &FormatError{Format: "frames", File: m.name, What: fmt.Sprintf("frame %d has an event at pixel %d, but there are %d pixels", f, p, m.pixels), Try: "leave the frame out, since the file is damaged there"}
			}
			if c := int16(binary.LittleEndian.Uint16(counts[2*i:])); c != 0 {
				dst.Pixel, dst.Count = append(dst.Pixel, p), append(dst.Count, float32(c))
			}
		}
		dst.Tidy()
		dst.End()
	}
	return nil
}

func (m *imm) close() error { return m.in.Close() }
