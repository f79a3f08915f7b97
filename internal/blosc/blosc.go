// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package blosc unpacks what Blosc 1 and 2 and their relatives packed: chunks, contiguous frames, LZ4 blocks, BloscLZ, and bits sorted by
// their position.
//
//	b, err := blosc.Decode(frame, 1<<20) // at most 1 MiB
package blosc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// frame is the header of a Blosc 1 chunk, which holds blocks of shuffled elements, each compressed
// separately.
type frame struct {
	flags     byte
	typeSize  int
	size      int // size of all elements in bytes
	blockSize int
	body      []byte // whole frame, including the header
}

// inner maps the numbers of the compressors inside a frame to their names and functions.
var inner = map[byte]struct {
	name   string
	decode func(dst, src []byte) error
}{
	0: {"blosclz", bloscLZ},
	1: {"lz4", LZ4},
	3: {"zlib", func(dst, src []byte) error {
		r, err := zlib.NewReader(bytes.NewReader(src))
		return readExactly(dst, r, err)
	}},
	4: {"zstd", func(dst, src []byte) error {
		r, err := zstd.NewReader(bytes.NewReader(src), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(64<<20))
		if err == nil {
			defer r.Close()
		}
		return readExactly(dst, r, err)
	}},
}

func readExactly(dst []byte, r io.Reader, err error) error {
	if err != nil {
		return err
	}
	return foreign.Exactly(dst, r)
}

// Decode returns the elements of a frame, at most limit bytes.
func Decode(b []byte, limit int) ([]byte, error) {
	f, err := head(b, limit)
	if err != nil {
		return nil, err
	}
	out := make([]byte, f.size)
	if f.flags&2 != 0 { // the data are stored without compression
		if copy(out, b[16:]) < f.size {
			return nil, fmt.Errorf("the Blosc frame has %d bytes, too few for its %d bytes of data: copy the file again", len(b), f.size)
		}
		return out, nil
	}
	work := make([]byte, min(f.blockSize, f.size))
	for k, at := 0, 0; at < f.size; k, at = k+1, at+f.blockSize {
		end := min(at+f.blockSize, f.size)
		block := work[:end-at]
		if err := f.block(block, k); err != nil {
			if said := int(binary.LittleEndian.Uint32(b[12:])); said > len(b) {
				return nil, fmt.Errorf("the Blosc frame has %d bytes, and its header announces %d: it is cut short", len(b), said)
			}
			return nil, fmt.Errorf("Blosc block %d: %w", k, err)
		}
		f.arrange(out[at:end], block)
	}
	return out, nil
}

func head(b []byte, limit int) (*frame, error) {
	if len(b) < 16 {
		return nil, fmt.Errorf("the Blosc frame has %d bytes, too few for its header: copy the file again", len(b))
	}
	f := &frame{flags: b[2], typeSize: int(b[3]), size: int(binary.LittleEndian.Uint32(b[4:])), blockSize: int(binary.LittleEndian.Uint32(b[8:])), body: b}
	switch {
	case f.size > limit:
		return nil, fmt.Errorf("the Blosc frame holds %d bytes: want at most %d", f.size, limit)
	case f.size > 0 && f.blockSize == 0 || f.typeSize == 0:
		return nil, fmt.Errorf("the Blosc frame has blocks of %d bytes and elements of %d bytes: it is damaged, copy the file again", f.blockSize, f.typeSize)
	case f.flags&2 == 0 && inner[f.flags>>5].decode == nil:
		return nil, fmt.Errorf("the data are compressed by Blosc with format %d (Snappy is 2): %w: write them with Blosc's lz4, zlib or zstd", f.flags>>5, errors.ErrUnsupported)
	}
	return f, nil
}

// block decompresses block k into dst.
func (f *frame) block(dst []byte, k int) error {
	entry := 16 + 4*k
	if entry+4 > len(f.body) {
		return io.ErrUnexpectedEOF
	}
	at := int(binary.LittleEndian.Uint32(f.body[entry:]))
	parts := 1
	if f.flags&0x10 == 0 && len(dst) == f.blockSize && len(dst)%f.typeSize == 0 {
		parts = f.typeSize
	}
	n := len(dst) / parts
	for p := range parts {
		if at < 0 || at > len(f.body)-4 {
			return io.ErrUnexpectedEOF
		}
		size := int(int32(binary.LittleEndian.Uint32(f.body[at:])))
		at += 4
		if size < 0 || size > len(f.body)-at {
			return io.ErrUnexpectedEOF
		}
		src, to := f.body[at:at+size], dst[p*n:(p+1)*n]
		at += size
		if size == n {
			copy(to, src)
		} else if err := inner[f.flags>>5].decode(to, src); err != nil {
			return err
		}
	}
	return nil
}

// arrange undoes the byte or bit shuffle.
func (f *frame) arrange(dst, src []byte) {
	n := len(src) / f.typeSize
	switch {
	case f.flags&1 != 0 && f.typeSize > 1:
		for j := range f.typeSize {
			for i, v := range src[j*n : (j+1)*n] {
				dst[i*f.typeSize+j] = v
			}
		}
		copy(dst[n*f.typeSize:], src[n*f.typeSize:])
	case f.flags&4 != 0 && n%8 == 0:
		Unshuffle(dst, src, f.typeSize)
	default:
		copy(dst, src)
	}
}
