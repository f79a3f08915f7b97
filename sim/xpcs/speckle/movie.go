// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package speckle

import (
	"fmt"
	"math"
	"runtime"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/tensor"
)

// Sample describes what fluctuates and how it is seen. Tau, Mean and FrameTime are needed.
type Sample struct {
	Height, Width int       // size of a frame in pixels
	Tau           []float64 // relaxation time of the field of each pixel (s), row-major; +Inf for frozen speckles
	Mean          []float64 // mean counts of each pixel in a frame
	FrameTime     float64   // time from frame to frame (s)

	Modes  int     // number of independent speckle patterns that add up. Default 1
	Static float64 // fraction of the intensity that does not fluctuate at all, 0 to 1. Default 0
	// Aging makes relaxation slower with the age t of the sample, as tau (1 + t/Aging), with Aging
	// in s. Default 0, for none.
	Aging float64
	// Flicker is the relative standard deviation of the intensity of the source from frame to frame. Default 0.
	Flicker float64
	// DeadTime is the time after a photon that was counted in which the detector misses others, in exposure times of a frame. Default 0.
	DeadTime float64
	// Smooth makes frames mean intensities instead of counts of photons.
	Smooth bool
	Seed   uint64
}

// Contrast returns the contrast of g2: (1 - Static)^2 / Modes.
func (s Sample) Contrast() float64 { return (1 - s.Static) * (1 - s.Static) / float64(max(s.Modes, 1)) }

// Movie is a simulation in progress. It belongs to one goroutine.
type Movie struct {
	s     Sample
	frame int
	field []float64 // real and imaginary parts, (pixel, mode, 2)
	noise []tensor.Stream
}

// New starts a movie. The error lists what is wrong with the sample.
func New(s Sample) (*Movie, error) {
	n := s.Height * s.Width
	s.Modes = max(s.Modes, 1)
	switch {
	case s.Height < 1 || s.Width < 1 || len(s.Tau) != n || len(s.Mean) != n:
		return nil, fmt.Errorf("speckle: there are %d relaxation times and %d means for %d x %d pixels: give one of each per pixel", len(s.Tau), len(s.Mean), s.Height, s.Width)
	case !(s.FrameTime > 0) || math.IsInf(s.FrameTime, 0):
		return nil, fmt.Errorf("speckle: the time between frames is %g s: want a positive number", s.FrameTime)
	case !(s.Static >= 0 && s.Static <= 1) || !(s.Flicker >= 0 && s.Flicker < 1) || !(s.Aging >= 0) || !(s.DeadTime >= 0):
		return nil, fmt.Errorf("speckle: the static fraction is %g, the flicker %g, the ageing time %g s and the dead time %g exposures: want 0 to 1, 0 to below 1, and at least 0", s.Static, s.Flicker, s.Aging, s.DeadTime)
	}
	for i := range n {
		if !(s.Tau[i] > 0) || !(s.Mean[i] >= 0) || math.IsInf(s.Mean[i], 0) {
			return nil, fmt.Errorf("speckle: pixel (%d, %d) has relaxation time %g s and mean %g: want a positive time and a finite mean of at least 0", i/s.Width, i%s.Width, s.Tau[i], s.Mean[i])
		}
	}
	m := &Movie{s: s, field: make([]float64, n*s.Modes*2), noise: make([]tensor.Stream, n+1)}
	for i := range m.noise {
		m.noise[i] = tensor.NewStream(s.Seed, purpose, uint32(i))
	}
	parallel.Do(runtime.GOMAXPROCS(0), n, func(_, i int) {
		field := m.noise[i].NormalTo(m.field[i*2*s.Modes:][:2*s.Modes])
		for k := range field {
			field[k] *= math.Sqrt(0.5)
		}
	})
	return m, nil
}

// purpose keeps the streams of this package apart from others of the same seed.
const purpose = 0x5bec

// Frames writes the next frames, row-major, one after another, until dst is full. Its length must be a
// multiple of the number of pixels.
func (m *Movie) Frames(dst []float32) {
	s := &m.s
	n := s.Height * s.Width
	if len(dst)%n != 0 {
		panic(fmt.Sprintf("speckle: Frames got an array of %d elements for frames of %d pixels: want a multiple", len(dst), n))
	}
	frames := len(dst) / n
	source := make([]float64, frames)
	for f := range source {
		if source[f] = 1; s.Flicker > 0 {
			// gamma distributed, so that it stays positive
			shape := 1 / (s.Flicker * s.Flicker)
			source[f] = distuv.Gamma{Alpha: shape, Beta: shape, Src: &m.noise[n]}.Rand()
		}
	}
	parallel.Do(runtime.GOMAXPROCS(0), (n+together-1)/together, func(_, b int) {
		m.some(b*together, min(n, (b+1)*together), frames, source, dst)
	})
	m.frame += frames
}

// together is the number of pixels whose normal numbers are computed at once.
const together = 16

// some writes frames of the pixels from..to-1. Each pixel draws its count from its stream and then the words of its next field.
func (m *Movie) some(from, to, frames int, source []float64, dst []float32) {
	s := &m.s
	n, width := s.Height*s.Width, 2*s.Modes
	field := m.field[from*width : to*width]
	words, fresh := make([]uint64, len(field)), make([]float64, len(field))
	keep, add := make([]float64, to-from), make([]float64, to-from)
	for k := range keep {
		keep[k], add[k] = s.step(s.Tau[from+k])
	}
	for f := range frames {
		for i := from; i < to; i++ {
			intensity := 0.0
			for _, v := range field[(i-from)*width:][:width] {
				intensity += v * v
			}
			intensity = s.Static + (1-s.Static)*intensity/float64(s.Modes)
			mean, noise := s.Mean[i]*source[f]*intensity, &m.noise[i]
			if dst[f*n+i] = float32(mean); !s.Smooth {
				dst[f*n+i] = float32(counts(mean, s.DeadTime, noise))
			}
			for k := range width {
				words[(i-from)*width+k] = noise.Uint64()
			}
			if s.Aging > 0 {
				keep[i-from], add[i-from] = s.step(s.Tau[i] * (1 + float64(m.frame+f)*s.FrameTime/s.Aging))
			}
		}
		tensor.Normals(fresh, words)
		for k := range field {
			field[k] = keep[k/width]*field[k] + add[k/width]*fresh[k]
		}
	}
}

// step returns how much of a field of a relaxation time is kept from one frame to the next, and the
// standard deviation of what is added to its real and its imaginary part.
func (s *Sample) step(tau float64) (keep, fresh float64) {
	return math.Exp(-s.FrameTime / tau), math.Sqrt(0.5 * -math.Expm1(-2*s.FrameTime/tau))
}

// counts draws from a Poisson distribution, or counts what a detector with a dead time does not miss.
func counts(mean, dead float64, noise *tensor.Stream) (n float64) {
	if mean <= 0 {
		return 0
	}
	if dead > 0 {
		for at := noise.Exp() / mean; at < 1; at += dead + noise.Exp()/mean {
			n++
		}
		return n
	}
	return distuv.Poisson{Lambda: mean, Src: noise}.Rand()
}
