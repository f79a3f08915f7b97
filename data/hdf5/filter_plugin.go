// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/euryale-dev/euryale/internal/blosc"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Filters that the HDF5 library loads as plugins; detectors write with them.
const (
	filterBzip2      = 307
	filterBlosc      = 32001
	filterLZ4        = 32004
	filterBitshuffle = 32008
	filterZstd       = 32015
	filterBlosc2     = 32026
)

// Compressors after the bit shuffle.
const (
	bitsOnly = 0
	bitsLZ4  = 2
	bitsZstd = 3
)

var errShort = errors.New("the compressed data end too early")

// unplug undoes the filter of a plugin.
func (u *unpacker) unplug(b []byte, p filter, size uint64) ([]byte, error) {
	switch p.id {
	case filterLZ4:
		return u.unlz4(b, size)
	case filterBitshuffle:
		return u.unbitshuffle(b, p.values, size)
	case filterBlosc, filterBlosc2:
		decode := blosc.Decode
		if p.id == filterBlosc2 {
			decode = blosc.DecodeFrame
		}
		out, err := decode(b, int(roomy(size)))
		if errors.Is(err, errors.ErrUnsupported) {
			err = fmt.Errorf("%v: %w", err, ErrUnsupported)
		}
		return u.swapBuffers(b, out), err
	case filterBzip2:
		return u.stream(b, bzip2.NewReader(bytes.NewReader(b)), size)
	case filterZstd:
		return u.unzstd(b, size)
	}
	return nil, ErrUnsupported
}

// stream reads all of r, at most as many bytes as a chunk may have.
func (u *unpacker) stream(b []byte, r io.Reader, size uint64) ([]byte, error) {
	out := u.spare(int(roomy(size)))
	n, err := foreign.AtMost(out, r)
	if err != nil {
		return nil, fmt.Errorf("where %d bytes are expected: %w", size, err)
	}
	return u.swapBuffers(b, out[:n]), nil
}

func (u *unpacker) unzstd(b []byte, size uint64) ([]byte, error) {
	if err := u.zstdReset(b); err != nil {
		return nil, err
	}
	return u.stream(b, u.zstd, size)
}

// zstdReset makes u.zstd read b. Its window, and so its memory, is bounded.
func (u *unpacker) zstdReset(b []byte) error {
	if u.zstd != nil {
		return u.zstd.Reset(bytes.NewReader(b))
	}
	var err error
	u.zstd, err = zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(64<<20))
	return err
}

// unlz4 unpacks blocks of LZ4: the size of the whole and of a block in bytes, and before each block the size
// that it has packed, all big endian.
//
// Format: HDF5_LZ4.pdf of the HDF Group's list of registered filters.
func (u *unpacker) unlz4(b []byte, size uint64) ([]byte, error) {
	all, block, rest, err := blocksOf(b, size)
	if err != nil {
		return nil, err
	}
	out := u.spare(all)
	for at := 0; at < all; at += block {
		to := out[at:min(at+block, all)]
		var src []byte
		if src, rest, err = sized(rest); err != nil {
			return nil, err
		}
		if len(src) == len(to) {
			copy(to, src)
		} else if err := blosc.LZ4(to, src); err != nil {
			return nil, fmt.Errorf("the block at byte %d: %w", at, err)
		}
	}
	return u.swapBuffers(b, out), nil
}

// blocksOf reads the size in bytes of what is packed and of a block of it.
func blocksOf(b []byte, size uint64) (all, block int, rest []byte, err error) {
	if len(b) < 12 {
		return 0, 0, nil, fmt.Errorf("%d bytes are too few to contain the sizes of blocks", len(b))
	}
	whole, each := binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:])
	if whole > roomy(size) || int32(each) <= 0 {
		return 0, 0, nil, fmt.Errorf("the header gives %d bytes in blocks of %d, want at most %d", whole, int32(each), size)
	}
	return int(whole), int(each), b[12:], nil
}

// sized takes a block and its size off b.
func sized(b []byte) (block, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errShort
	}
	n := binary.BigEndian.Uint32(b)
	if b = b[4:]; uint64(n) > uint64(len(b)) {
		return nil, nil, errShort
	}
	return b[:n], b[n:], nil
}

// unbitshuffle undoes the bit shuffle, which works on blocks of a multiple of 8 elements, and the compression
// of each block.
func (u *unpacker) unbitshuffle(b []byte, values []uint32, size uint64) ([]byte, error) {
	if len(values) < 3 || values[2] == 0 || values[2] > 1<<20 {
		return nil, errors.New("the filter does not give the size of elements")
	}
	element, elements, compressor := int(values[2]), 0, uint32(bitsOnly)
	if len(values) > 3 && values[3] > 0 {
		elements = int(min(values[3], 1<<28))
	} else {
		elements = max(8192/element&^7, 128)
	}
	if len(values) > 4 {
		compressor = values[4]
	}
	all, rest := len(b), b
	if compressor != bitsOnly {
		block := 0
		var err error
		if all, block, rest, err = blocksOf(b, size); err != nil {
			return nil, err
		}
		elements = block / element
	}
	if elements%8 != 0 || elements == 0 {
		return nil, fmt.Errorf("blocks have %d elements, want a multiple of 8", elements)
	}
	if compressor != bitsOnly && compressor != bitsLZ4 && compressor != bitsZstd {
		return nil, fmt.Errorf("the bits are compressed by method %d: %w", compressor, ErrUnsupported)
	}
	out := u.spare(all)
	at, whole := 0, all/element&^7*element
	for at < whole {
		n := min(elements*element, whole-at)
		var err error
		if rest, err = u.bits(out[at:at+n], rest, element, compressor); err != nil {
			return nil, fmt.Errorf("the block at byte %d: %w", at, err)
		}
		at += n
	}
	if copy(out[at:], rest) < all-at {
		return nil, errShort
	}
	return u.swapBuffers(b, out), nil
}

// bits unpacks one block from the begin of rest into dst.
func (u *unpacker) bits(dst, rest []byte, element int, compressor uint32) ([]byte, error) {
	if compressor == bitsOnly {
		if len(rest) < len(dst) {
			return nil, errShort
		}
		blosc.Unshuffle(dst, rest[:len(dst)], element)
		return rest[len(dst):], nil
	}
	src, rest, err := sized(rest)
	if err != nil {
		return nil, err
	}
	if cap(u.block) < len(dst) {
		u.block = make([]byte, len(dst))
	}
	flat := u.block[:len(dst)]
	if compressor == bitsLZ4 {
		err = blosc.LZ4(flat, src)
	} else if err = u.zstdReset(src); err == nil {
		err = foreign.Exactly(flat, u.zstd)
	}
	if err != nil {
		return nil, err
	}
	blosc.Unshuffle(dst, flat, element)
	return rest, nil
}
