// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"errors"
	"fmt"
)

// Options of the szip filter.
const (
	szipBig      = 16 // option: samples are big-endian
	szipNearest  = 32 // option: samples are differences from their neighbours
	szipSegment  = 64 // number of blocks that one run of zero blocks can span
	szipMaxRatio = 8192
)

// unszip undoes the szip filter: a length, then the adaptive entropy coding of CCSDS 121.0-B,
// "Lossless Data Compression". The filter's parameters are options, samples per block, bits per
// sample and samples per scan line. Numbers of 32 and 64 bits are stored bytewise: first the first
// byte of all numbers, then the second and so on.
// second and so on.
//
// Reference: CCSDS 121.0-B-3, chapters 3 (entropy coder) and 4 (preprocessor).
func (u *unpacker) unszip(b []byte, values []uint32, size uint64) ([]byte, error) {
	s, err := szipOf(values)
	if err != nil {
		return nil, err
	}
	if len(b) < 4 {
		return nil, fmt.Errorf("%d bytes are too few to contain a length", len(b))
	}
	n := uint64(word(b))
	if n > roomy(size) || n > uint64(len(b))*szipMaxRatio || n%uint64(s.bytes*s.planes) != 0 {
		return nil, fmt.Errorf("the length is given as %d bytes, compressed to %d, in a chunk of %d bytes", n, len(b), size)
	}
	out := u.spare(int(n))
	s.r, s.dst = bitReader{b: b[4:]}, out
	if err := s.run(); err != nil {
		return nil, err
	}
	out = u.swapBuffers(b, out)
	if s.planes > 1 {
		out = u.swapBuffers(out, unshuffle(u.spare(len(out)), out, s.planes))
	}
	return out, nil
}

// szip is the state of the decoder.
type szip struct {
	r      bitReader
	dst    []byte
	bits   int // number of bits of a sample
	bytes  int // number of bytes of a sample in dst
	planes int // number of byte planes; 1 if samples are whole numbers
	idBits int // number of bits of a code's identifier
	block  int // number of samples in a block
	blocks int // number of blocks in a scan line, the last one padded
	line   int // number of samples in a scan line
	big    bool
	near   bool

	done int    // number of samples written to dst
	at   int    // index in the scan line
	last uint64 // previous sample
}

func szipOf(values []uint32) (*szip, error) {
	if len(values) < 4 {
		return nil, fmt.Errorf("the filter has %d parameters, want 4", len(values))
	}
	options, block, bits, line := values[0], int(values[1]), int(values[2]), int(values[3])
	s := &szip{bits: bits, planes: 1, block: block, line: line, big: options&szipBig != 0, near: options&szipNearest != 0}
	if block < 2 || block > 64 || block%2 != 0 || line < 1 || line > 1<<24 || bits < 1 || bits > 24 && bits != 32 && bits != 64 {
		return nil, fmt.Errorf("blocks of %d samples of %d bits in scan lines of %d are not possible", block, bits, line)
	}
	if bits > 24 {
		s.planes, s.bits = bits/8, 8
	}
	switch {
	case s.bits <= 8:
		s.bytes, s.idBits = 1, 3
	case s.bits <= 16:
		s.bytes, s.idBits = 2, 4
	default:
		s.bytes, s.idBits = 4, 5
	}
	s.blocks = (line + block - 1) / block
	return s, nil
}

// run decodes scan lines until dst is full.
func (s *szip) run() error {
	for !s.full() {
		s.at = 0
		for i := 0; i < s.blocks && !s.full(); {
			n, err := s.next(i)
			if err != nil {
				return fmt.Errorf("sample %d: %w", s.done, err)
			}
			i += n
		}
	}
	return nil
}

func (s *szip) full() bool { return s.done*s.bytes >= len(s.dst) }

// next decodes block i of a scan line, or a run of zero blocks there, and
// returns how many those are.
func (s *szip) next(i int) (int, error) {
	id := int(s.r.read(s.idBits))
	low := id == 0
	second := low && s.r.read(1) == 1
	start := 0
	var err error
	if s.near && i == 0 && id != 1<<s.idBits-1 { // the first sample stands alone
		err = s.emit(s.r.read(s.bits))
		start = 1
	}
	n := 1
	switch {
	case err != nil:
	case second:
		err = s.pairs(start)
	case low:
		n = s.zeroBlocks(i)
		err = s.zeros(n*s.block - start)
	case id == 1<<s.idBits-1:
		err = s.plain()
	default:
		err = s.split(start, id-1)
	}
	if err == nil && s.r.short {
		err = errors.New("the compressed data end too early")
	}
	return n, err
}

// plain reads a block that is not coded.
func (s *szip) plain() error {
	for range s.block {
		if err := s.emit(s.r.read(s.bits)); err != nil {
			return err
		}
	}
	return nil
}

// split reads samples whose low k bits follow all the unary codes of the
// others.
func (s *szip) split(start, k int) error {
	var high [64]uint64
	for i := start; i < s.block; i++ {
		high[i] = s.r.unary()
	}
	for i := start; i < s.block; i++ {
		if high[i] > 1<<s.bits {
			return fmt.Errorf("the value %d<<%d does not fit %d bits", high[i], k, s.bits)
		}
		if err := s.emit(high[i]<<k | s.r.read(k)); err != nil {
			return err
		}
	}
	return nil
}

// pairs reads the second extension: two samples a and b as the unary code of (a+b)(a+b+1)/2 + b. If
// a block begins with a sample of its own, the first sample of the first pair is ignored.
func (s *szip) pairs(start int) error {
	for i := 0; i < s.block; i += 2 {
		m := s.r.unary()
		if s.r.short {
			return errors.New("the compressed data end too early")
		}
		sum := uint64(0)
		for (sum+1)*(sum+2)/2 <= m {
			sum++
		}
		b := m - sum*(sum+1)/2
		if i >= start {
			if err := s.emit(sum - b); err != nil {
				return err
			}
		}
		if err := s.emit(b); err != nil {
			return err
		}
	}
	return nil
}

// zeroBlocks reads the length of a run of zero blocks that begins at block i: 1 to 4 directly, or
// the code for all blocks up to the end of the segment.
func (s *szip) zeroBlocks(i int) int {
	left := s.blocks - i
	n := int(min(s.r.unary()+1, 1<<20))
	switch {
	case n == 5:
		n = szipSegment - i%szipSegment
	case n > 5:
		n--
	}
	return min(n, left)
}

func (s *szip) zeros(n int) error {
	for ; n > 0 && !s.full(); n-- {
		if err := s.emit(0); err != nil {
			return err
		}
	}
	return nil
}

// emit appends the next coded value of a scan line, and drops padding.
func (s *szip) emit(v uint64) error {
	most := uint64(1)<<s.bits - 1
	if v > most {
		return fmt.Errorf("the value %d does not fit %d bits", v, s.bits)
	}
	if s.near && s.at > 0 {
		v = unmap(v, s.last, most)
	}
	s.last = v
	if s.at < s.line && !s.full() {
		to := s.dst[s.done*s.bytes : (s.done+1)*s.bytes]
		for k := range to {
			if s.big {
				to[len(to)-1-k] = byte(v >> (8 * k))
			} else {
				to[k] = byte(v >> (8 * k))
			}
		}
		s.done++
	}
	s.at++
	return nil
}

// unmap returns the sample after last whose difference was mapped to v: alternately up and down
// while both are possible, then in the remaining direction. Samples are 0 to most.
func unmap(v, last, most uint64) uint64 {
	room := min(last, most-last)
	switch {
	case v > 2*room && last <= most-last:
		return v
	case v > 2*room:
		return most - v
	case v%2 == 0:
		return last + v/2
	}
	return last - (v+1)/2
}
