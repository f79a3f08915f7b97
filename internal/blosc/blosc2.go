// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package blosc

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Filters of Blosc 2.
const (
	filterShuffle    = 1
	filterBitshuffle = 2
	filterDelta      = 3
	filterTruncate   = 4 // loses digits when it packs
)

// Values that a whole chunk of Blosc 2 may have without storing them.
const (
	specialZero          = 1
	specialNaN           = 2
	specialValue         = 3
	specialUninitialized = 4
)

// chunk2 is the header of a chunk of Blosc 2, whose blocks went through up to six filters.
type chunk2 struct {
	frame
	filters, meta []byte
	more          byte // further flags
}

// head2Size is the size of the header of a chunk of Blosc 2 in bytes.
const head2Size = 32

// Decode2 returns the elements of a chunk of Blosc 2, at most limit bytes.
//
// Format: README_CHUNK_FORMAT of C-Blosc2, versions 4 to 6.
func Decode2(b []byte, limit int) ([]byte, error) {
	if len(b) < head2Size || b[2]&5 != 5 {
		return Decode(b, limit)
	}
	f, err := head(b, limit)
	if err != nil {
		return nil, err
	}
	c := &chunk2{frame: *f, filters: b[16:22], meta: b[24:30], more: b[31]}
	if c.more&1 != 0 || c.more&0x80 != 0 {
		return nil, fmt.Errorf("the Blosc2 chunk uses dictionaries or was instrumented (flags %#x): %w: write it without", c.more, errors.ErrUnsupported)
	}
	for _, id := range c.filters {
		if id > filterTruncate {
			return nil, fmt.Errorf("the Blosc2 chunk went through filter %d: %w: write it with shuffle, bitshuffle or delta", id, errors.ErrUnsupported)
		}
	}
	out := make([]byte, c.size)
	switch special := c.more >> 4 & 7; {
	case special != 0:
		return out, c.fill(out, special)
	case c.flags&2 != 0:
		if copy(out, b[head2Size:]) < c.size {
			return nil, fmt.Errorf("the Blosc2 chunk has %d bytes, too few for its %d bytes of data: copy the file again", len(b), c.size)
		}
		return out, nil
	}
	work, next := make([]byte, min(c.blockSize, c.size)), make([]byte, min(c.blockSize, c.size))
	for k, at := 0, 0; at < c.size; k, at = k+1, at+c.blockSize {
		end := min(at+c.blockSize, c.size)
		if err := c.block(work[:end-at], k); err != nil {
			return nil, fmt.Errorf("Blosc2 block %d: %w", k, err)
		}
		copy(out[at:end], c.undone(work[:end-at], next[:end-at], out, at == 0))
	}
	return out, nil
}

// fill writes the one value that a chunk has.
func (c *chunk2) fill(out []byte, special byte) error {
	var value []byte
	switch {
	case special == specialZero || special == specialUninitialized:
		return nil
	case special == specialNaN && c.typeSize == 4:
		value = binary.LittleEndian.AppendUint32(nil, 0x7fc00000)
	case special == specialNaN && c.typeSize == 8:
		value = binary.LittleEndian.AppendUint64(nil, 0x7ff8000000000000)
	case special == specialValue && len(c.body) >= head2Size+c.typeSize:
		value = c.body[head2Size:][:c.typeSize]
	default:
		return fmt.Errorf("the Blosc2 chunk has the special value %d of %d bytes: it is damaged, copy the file again", special, c.typeSize)
	}
	for at := 0; at < len(out); at += len(value) {
		copy(out[at:], value)
	}
	return nil
}

// block decompresses block k into dst, whose streams may be zeros or one repeated byte.
func (c *chunk2) block(dst []byte, k int) error {
	entry := head2Size + 4*k
	if entry+4 > len(c.body) {
		return errEnd
	}
	at := int(binary.LittleEndian.Uint32(c.body[entry:]))
	parts := 1
	if c.flags&0x10 == 0 && len(dst) == c.blockSize && len(dst)%c.typeSize == 0 {
		parts = c.typeSize
	}
	n := len(dst) / parts
	for p := range parts {
		if at < 0 || at > len(c.body)-4 {
			return errEnd
		}
		size := int(int32(binary.LittleEndian.Uint32(c.body[at:])))
		at += 4
		to := dst[p*n : (p+1)*n]
		switch {
		case size == 0:
			clear(to)
		case size < 0:
			if at >= len(c.body) || c.body[at]&1 == 0 || size < -255 {
				return fmt.Errorf("a stream has the size %d, which stands for no repeated byte: the data are damaged, copy the file again", size)
			}
			at++
			for i := range to {
				to[i] = byte(-size)
			}
		case size > len(c.body)-at:
			return errEnd
		default:
			src := c.body[at : at+size]
			at += size
			if size == n {
				copy(to, src)
			} else if err := inner[c.flags>>5].decode(to, src); err != nil {
				return err
			}
		}
	}
	return nil
}

// undone returns a block without its filters, the last of which came last. The delta filter refers to the first block of out.
func (c *chunk2) undone(b, next, out []byte, first bool) []byte {
	for i := len(c.filters) - 1; i >= 0; i-- {
		size := c.typeSize
		if c.filters[i] == filterShuffle && c.meta[i] != 0 {
			size = int(c.meta[i])
		}
		switch c.filters[i] {
		case filterShuffle:
			if size > 1 {
				(&frame{flags: 1, typeSize: size}).arrange(next, b)
				b, next = next, b
			}
		case filterBitshuffle:
			Unshuffle(next, b, size)
			b, next = next, b
		case filterDelta:
			undelta(b, out, size, first)
		}
	}
	return b
}

// undelta undoes differences by exclusive or: of the first block to the element before, and of others to the first block.
func undelta(b, reference []byte, size int, first bool) {
	if !first {
		for i := range b {
			b[i] ^= reference[i]
		}
		return
	}
	if size != 2 && size != 4 {
		size = map[bool]int{true: 8, false: 1}[size%8 == 0]
	}
	for i := size; i < len(b); i++ {
		b[i] ^= b[i-size]
	}
}
