// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"encoding"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
)

var (
	_ rand.Source                = (*Stream)(nil)
	_ encoding.BinaryMarshaler   = (*Stream)(nil)
	_ encoding.BinaryUnmarshaler = (*Stream)(nil)
)

// Stream is an endless sequence of random numbers addressed by position: word i
// of the stream (seed, purpose, id) is always the same, whatever was drawn
// before and on whatever device.
//
//	key = seed,  counter = (block low, block high, id, purpose),  word i = word i%4 of block i/4
//
// Streams that differ in seed, purpose or id never overlap. A Stream is a plain
// value: copying it copies the position, which is how a sampler steps back. It
// is a math/rand/v2 Source, so gonum's distributions draw from it. It is not
// safe for concurrent use; give each goroutine its own id.
type Stream struct {
	seed        uint64
	purpose, id uint32
	pos         uint64    // index of the next 32-bit word
	held        uint64    // 1 + index of the pair of blocks in words; 0 if words is empty
	words       [8]uint32 // output of that pair of blocks, which is computed at once
}

// NewStream returns the stream of a seed for one purpose (what the numbers are
// for) and one id (which chain, file or element), at position 0. With purpose
// and id 0 it is the sequence that the CUDA kernels draw from the same seed.
func NewStream(seed uint64, purpose, id uint32) Stream {
	return Stream{seed: seed, purpose: purpose, id: id}
}

// Position returns the index of the next 32-bit word.
func (s *Stream) Position() uint64 { return s.pos }

// Seek makes word the next 32-bit word.
func (s *Stream) Seek(word uint64) { s.pos = word }

// Uint32 returns the next word and advances by one.
func (s *Stream) Uint32() uint32 {
	if s.pos/8+1 != s.held {
		s.fill()
	}
	w := s.words[s.pos%8]
	s.pos++
	return w
}

// Uint64 returns the next two words, the first in the low half, and advances by
// two.
func (s *Stream) Uint64() uint64 {
	if at := s.pos % 8; at < 7 && s.pos/8+1 == s.held {
		s.pos += 2
		return uint64(s.words[at+1])<<32 | uint64(s.words[at])
	}
	lo := s.Uint32()
	return uint64(s.Uint32())<<32 | uint64(lo)
}

// Float64 returns a uniform number in [0, 1): 53 random bits, a multiple of
// 2^-53. It advances by two words.
func (s *Stream) Float64() float64 { return float64(int64(s.Uint64()>>11)) * 0x1p-53 }

// Float32 returns a uniform number in [0, 1): (word>>8) 2^-24, the convention of
// the CUDA kernels. It advances by one word.
func (s *Stream) Float32() float32 { return float32(s.Uint32()>>8) * 0x1p-24 }

// Exp returns an exponential number with mean 1: -log(1-u), where u is a number from Float64. It
// advances by two words.
func (s *Stream) Exp() float64 { return -math.Log1p(-s.Float64()) }

// IntN returns a uniform number in [0, n), without bias, by multiplication and
// rejection. It advances by two words per try and panics if n < 1.
//
// Reference: Lemire, doi 10.1145/3230636.
func (s *Stream) IntN(n int) int {
	if n < 1 {
		panic("tensor: Stream.IntN needs n >= 1")
	}
	m := uint64(n)
	hi, lo := bits.Mul64(s.Uint64(), m)
	for floor := -m % m; lo < floor; {
		hi, lo = bits.Mul64(s.Uint64(), m)
	}
	return int(hi)
}

// Perm returns a uniform permutation of 0 to n-1 (Fisher and Yates).
func (s *Stream) Perm(n int) []int {
	p := make([]int, n)
	for i := range p {
		j := s.IntN(i + 1)
		p[i], p[j] = p[j], i
	}
	return p
}

// Rand returns a generator of math/rand/v2 that draws from s; drawing from either advances both.
func (s *Stream) Rand() *rand.Rand { return rand.New(s) }

const streamVersion = 1

// MarshalBinary returns the seed, purpose, id and position in 25 bytes.
func (s *Stream) MarshalBinary() ([]byte, error) {
	b := append(make([]byte, 0, 25), streamVersion)
	b = binary.LittleEndian.AppendUint64(b, s.seed)
	b = binary.LittleEndian.AppendUint32(b, s.purpose)
	b = binary.LittleEndian.AppendUint32(b, s.id)
	return binary.LittleEndian.AppendUint64(b, s.pos), nil
}

// UnmarshalBinary restores a stream that MarshalBinary saved.
func (s *Stream) UnmarshalBinary(b []byte) error {
	if len(b) != 25 || b[0] != streamVersion {
		return fmt.Errorf("tensor: the state of a random stream has %d bytes: want 25 of version %d", len(b), streamVersion)
	}
	*s = Stream{
		seed:    binary.LittleEndian.Uint64(b[1:]),
		purpose: binary.LittleEndian.Uint32(b[9:]),
		id:      binary.LittleEndian.Uint32(b[13:]),
		pos:     binary.LittleEndian.Uint64(b[17:]),
	}
	return nil
}

// fill makes the pair of blocks of the next word.
func (s *Stream) fill() {
	pair := s.pos / 8
	s.held = pair + 1
	block := 2 * pair
	philoxPair(&s.words, [4]uint32{uint32(block), uint32(block >> 32), s.id, s.purpose},
		[2]uint32{uint32(s.seed), uint32(s.seed >> 32)})
}
