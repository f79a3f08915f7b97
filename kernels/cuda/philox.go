// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	_ "embed"
	"fmt"

	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

//go:embed cu/philox.cu
var philoxText string

// philoxPTX is the program compiled for machines without NVRTC; make ptx writes it.
//
//go:embed ptx/philox.ptx
var philoxPTX []byte

// PhiloxSource returns the program that Philox runs, so that it can be checked with other
// compilers.
func PhiloxSource() rtc.Source {
	return rtc.Source{Name: "philox.cu", Text: philoxText, PTX: philoxPTX}
}

// Philox draws random numbers on a device from the counter-based generator Philox4x32-10. The same
// seed, subsequence and offset give the same integers and uniform numbers as package tensor's
// generator on the processor, and normal numbers within 2 units in the last place of tensor.BoxMuller.
//
// Each draw of n numbers advances Offset by n/4, rounded up. A Philox is a plain value: copying it
// copies the position. It is not safe for concurrent use.
type Philox struct {
	Seed   uint64
	Offset uint64 // number of blocks of four words that have been used
	// Subsequence numbers a stream. Streams with different numbers never overlap.
	Subsequence uint32
}

// Bits fills a buffer with n words of 32 random bits each.
func (g *Philox) Bits(s *Stream, dst *Buffer, n int) error {
	return g.draw(s, "philox_bits", dst, n, 4)
}

// Uniform32 fills a buffer with n numbers of float32, uniform in [0, 1) with 24 random bits.
func (g *Philox) Uniform32(s *Stream, dst *Buffer, n int) error {
	return g.draw(s, "philox_uniform_f32", dst, n, 4)
}

// Uniform64 fills a buffer with the numbers of Uniform32 as float64.
func (g *Philox) Uniform64(s *Stream, dst *Buffer, n int) error {
	return g.draw(s, "philox_uniform_f64", dst, n, 8)
}

// Normal32 fills a buffer with n standard normal numbers in float32. As they are made from 24
// random bits, the tails end at 5.8 standard deviations.
func (g *Philox) Normal32(s *Stream, dst *Buffer, n int) error {
	return g.draw(s, "philox_normal_f32", dst, n, 4)
}

// Normal64 fills a buffer with n standard normal numbers of float64, from 24 bits like Normal32.
func (g *Philox) Normal64(s *Stream, dst *Buffer, n int) error {
	return g.draw(s, "philox_normal_f64", dst, n, 8)
}

// Dropout32 writes x/keep to y with probability keep, and 0 otherwise, for n numbers in float32. A
// copy of the generator made before the call gives the same choices again, for the backward pass. x
// and y may be the same buffer.
func (g *Philox) Dropout32(s *Stream, y, x *Buffer, n int, keep float32) error {
	if !(keep > 0 && keep <= 1) {
		return fmt.Errorf("cuda: dropout is to keep numbers with probability %g: want more than 0 and at most 1", keep)
	}
	if err := x.usable(s.d, 0, 4*n); err != nil {
		return err
	}
	return g.run(s, "philox_dropout_f32", y, n, 4, x, y, int64(n), keep)
}

func (g *Philox) draw(s *Stream, kernel string, dst *Buffer, n, size int) error {
	return g.run(s, kernel, dst, n, size, dst, int64(n))
}

// run launches a kernel whose last parameters are seed, offset and subsequence.
func (g *Philox) run(s *Stream, kernel string, dst *Buffer, n, size int, args ...any) error {
	if n < 0 {
		return fmt.Errorf("cuda: cannot draw %d random numbers: want 0 or more", n)
	}
	if err := dst.usable(s.d, 0, n*size); err != nil || n == 0 {
		return err
	}
	m, err := s.d.Compile(PhiloxSource())
	if err != nil {
		return err
	}
	f, err := m.Function(kernel)
	if err != nil {
		return err
	}
	if err := f.Launch(s, s.d.Waves((n+3)/4, 256), Dim{X: 256}, 0, append(args, g.Seed, g.Offset, g.Subsequence)...); err != nil {
		return err
	}
	g.Offset += uint64(n+3) / 4
	return nil
}
