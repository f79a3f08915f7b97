// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package blosc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// errEnd says that packed data end before what they announce.
var errEnd = io.ErrUnexpectedEOF

// cframeHead is the size of the fixed part of the header of a contiguous frame in bytes.
const cframeHead = 87

// maxAxes is the largest number of axes of an array of Blosc 2.
const maxAxes = 8

// DecodeFrame returns the elements of a contiguous frame of Blosc 2, at most limit bytes: those of one chunk, as the HDF5 filter writes it.
// Where the frame says that they are an array of several axes, which is stored block by block, they are in row-major order.
//
// Format: README_CFRAME_FORMAT and README_B2ND_METALAYER of C-Blosc2.
func DecodeFrame(b []byte, limit int) ([]byte, error) {
	if len(b) < cframeHead || string(b[2:10]) != "b2frame\x00" {
		return nil, fmt.Errorf("%d bytes do not begin as a frame of Blosc2: copy the file again", len(b))
	}
	header := int64(int32(binary.BigEndian.Uint32(b[11:])))
	packed := int64(binary.BigEndian.Uint64(b[39:]))
	size, whole := int64(binary.BigEndian.Uint64(b[30:])), int64(int32(binary.BigEndian.Uint32(b[58:])))
	typeSize := int(int32(binary.BigEndian.Uint32(b[48:])))
	if header < cframeHead || packed < 0 || header > int64(len(b)) || packed > int64(len(b))-header || typeSize < 1 {
		return nil, fmt.Errorf("the Blosc2 frame of %d bytes announces a header of %d and %d of data: it is damaged, copy the file again", len(b), header, packed)
	}
	array, err := arrayOf(b[:header])
	if err != nil {
		return nil, err
	}
	most := limit // bytes of a chunk, which has whole blocks
	if array != nil {
		most = array.padded(typeSize, limit)
	}
	if size < 0 || size > int64(most) || whole < size {
		return nil, fmt.Errorf("the Blosc2 frame holds %d bytes in chunks of %d: want one chunk of at most %d", size, whole, most)
	}
	special, err := onlyChunk(b[header+packed:])
	if err != nil {
		return nil, err
	}
	var out []byte
	if special != nil {
		c := &chunk2{frame: frame{typeSize: typeSize}}
		out = make([]byte, size)
		err = c.fill(out, *special)
	} else {
		out, err = Decode2(b[header:header+packed], most)
	}
	if err != nil {
		return nil, err
	}
	if array == nil {
		return out, nil
	}
	return array.rows(out, typeSize, limit)
}

// onlyChunk reads the index of a frame with one chunk, and returns the value that all its elements have, if it has no chunk.
func onlyChunk(index []byte) (special *byte, err error) {
	if len(index) < head2Size {
		return nil, errEnd
	}
	b, err := Decode2(index[:min(int64(len(index)), int64(binary.LittleEndian.Uint32(index[12:])))], 8)
	if err != nil {
		return nil, fmt.Errorf("the index of the Blosc2 frame: %w", err)
	}
	if len(b) != 8 {
		return nil, fmt.Errorf("the index of the Blosc2 frame has %d bytes: want the 8 of one chunk", len(b))
	}
	if kind := b[7]; kind&0x80 != 0 {
		kind &= 0x7f
		return &kind, nil
	}
	return nil, nil
}

// array is the shape of a chunk and of the blocks in which it is stored.
type array struct{ shape, block []int }

// arrayOf returns the array that a header describes, or nil.
func arrayOf(header []byte) (*array, error) {
	key := []byte("\xa4b2nd\xd2")
	at := bytes.Index(header, key)
	if at < 0 || at+len(key)+4 > len(header) {
		return nil, nil
	}
	bad := errors.New("the shape of the array in the Blosc2 frame cannot be read: copy the file again")
	place := int(binary.BigEndian.Uint32(header[at+len(key):]))
	if place < 0 || place > len(header)-8 {
		return nil, bad
	}
	r := header[place+5:] // after a mark and the number of bytes
	n := int(r[2])
	if r[0]&0xf0 != 0x90 || n < 1 || n > maxAxes {
		return nil, bad
	}
	r = r[3:]
	lists := make([][]int, 3) // shapes of the array, of its chunks and of their blocks
	for k, wide := range []int{9, 5, 5} {
		if len(r) < 1+n*wide || r[0] != byte(0x90+n) {
			return nil, bad
		}
		for i := range n {
			v := r[1+i*wide+wide-4:]
			lists[k] = append(lists[k], int(binary.BigEndian.Uint32(v)))
		}
		r = r[1+n*wide:]
	}
	a := &array{lists[1], lists[2]}
	for i := range n {
		if a.shape[i] < 1 || a.block[i] < 1 || a.block[i] > a.shape[i] || a.shape[i] > 1<<31-1 || !slices.Equal(lists[0], lists[1]) {
			return nil, fmt.Errorf("the Blosc2 frame has an array of the shape %v in chunks of %v with blocks of %v: want one chunk of whole blocks", lists[0], a.shape, a.block)
		}
	}
	return a, nil
}

// padded returns the bytes of the chunk with whole blocks, which are at most a multiple of limit.
func (a *array) padded(typeSize, limit int) int {
	n := float64(typeSize)
	for i, s := range a.shape {
		n *= float64((s + a.block[i] - 1) / a.block[i] * a.block[i])
	}
	return int(min(n, 1<<20+4*float64(limit)))
}

// rows puts the blocks of the chunk into row-major order.
func (a *array) rows(b []byte, typeSize, limit int) ([]byte, error) {
	size := float64(typeSize)
	for _, s := range a.shape {
		size *= float64(s)
	}
	if size > float64(limit) || len(b) != a.padded(typeSize, limit) {
		return nil, fmt.Errorf("the Blosc2 array has the shape %v with blocks of %v, which does not go with its %d bytes: it is damaged, copy the file again", a.shape, a.block, len(b))
	}
	if slices.Equal(a.shape, a.block) {
		return b, nil
	}
	out := make([]byte, int(size))
	last := len(a.shape) - 1
	each, line := typeSize, a.block[last]*typeSize
	for _, n := range a.block {
		each *= n
	}
	at := make([]int, len(a.shape)) // first index of a block
	in := make([]int, len(a.shape)) // index of a line within it
	for from := 0; from < len(b); from += each {
		clear(in)
		for l := 0; l < each; l += line {
			if to, inside := a.place(at, in); inside {
				n := min(a.block[last], a.shape[last]-at[last]) * typeSize
				copy(out[to*typeSize:][:n], b[from+l:])
			}
			for i := last - 1; i >= 0; i-- {
				if in[i]++; in[i] < a.block[i] {
					break
				}
				in[i] = 0
			}
		}
		for i := last; i >= 0; i-- {
			if at[i] += a.block[i]; at[i] < a.shape[i] {
				break
			}
			at[i] = 0
		}
	}
	return out, nil
}

// place returns the number of the first element of a line, and whether the line lies inside the array.
func (a *array) place(at, in []int) (n int, inside bool) {
	for i, s := range a.shape {
		k := at[i] + in[i]
		if k >= s {
			return 0, false
		}
		n = n*s + k
	}
	return n, true
}
