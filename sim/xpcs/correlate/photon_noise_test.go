// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
	"github.com/euryale-dev/euryale/tensor"
)

// counted is a movie of speckles that a detector counts.
type counted struct {
	pixels, frames int
	count          float64   // mean number of photons of a pixel in a frame
	modes          int       // the contrast is 1/modes
	decay          float64   // of g from frame to frame
	ballistic      bool      // g falls as exp(-decay frame^2), else as exp(-decay frame)
	dead           float64   // dead time in exposure times
	uneven         bool      // the beam varies by a factor of 3, and pixels by another
	beam           []float64 // intensity of the beam in each frame; nil: 1
	seed           uint64
}

// movie returns the counts (frame, pixel): photons come at random times in an exposure, and one that comes within the dead time after the
// last one that was counted is missed.
func (c counted) movie() []float32 {
	z := tensor.NewStream(c.seed, 3, 0)
	weights, waves := []float64{math.Exp(-c.decay / 2), math.Sqrt(1 - math.Exp(-c.decay))}, 12
	out := make([]float32, c.frames*c.pixels)
	for p := range c.pixels {
		intensity := make([]float64, c.frames)
		for range 2 * c.modes { // real and imaginary parts
			x := z.Normal()
			var of [][3]float64
			if c.ballistic {
				for range waves {
					of = append(of, [3]float64{z.Normal() * math.Sqrt(c.decay), z.Normal(), z.Normal()})
				}
			}
			for t := range intensity {
				if c.ballistic { // fields of waves whose frequencies are normal
					x = 0
					for _, w := range of {
						s, co := math.Sincos(w[0] * float64(t))
						x += (w[1]*s + w[2]*co) / math.Sqrt(float64(waves))
					}
				} else if t > 0 {
					x = weights[0]*x + weights[1]*z.Normal()
				}
				intensity[t] += x * x / float64(2*c.modes)
			}
		}
		for t, v := range intensity {
			v *= c.count
			if c.beam != nil {
				v *= c.beam[t]
			}
			if c.uneven {
				v *= (0.5 + float64((t*7)%5)/4) * (0.5 + float64(p%100)/100)
			}
			n := 0
			for at := z.Exp() / v; at < 1; at += c.dead + z.Exp()/v {
				n++
			}
			out[t*c.pixels+p] = float32(n)
		}
	}
	return out
}

// noise returns the noise that a correlation of frames with one bin finds, nil if none.
func noise(t testing.TB, m correlate.Movie, s correlate.Settings) *correlate.PhotonNoise {
	t.Helper()
	maps := correlate.Maps{Height: m.Height, Width: m.Width, Dynamic: make([]int32, m.Height*m.Width)}
	for i := range maps.Dynamic {
		maps.Dynamic[i] = min(1, int32(i)) // the first pixel is masked
	}
	s.Photons = true
	r, err := correlate.Multitau(context.Background(), m, maps, s)
	if err != nil {
		t.Fatal(err)
	}
	var of []correlate.PhotonNoise
	s.Intensities = func(two *correlate.Result) {
		if of = two.Photons; math.Abs(two.Trace[0]-r.Trace[0]) > 1e-6*r.Trace[0] {
			t.Errorf("the first frame has the mean %g by Twotime and %g by Multitau", two.Trace[0], r.Trace[0])
		}
	}
	if err := correlate.Twotime(context.Background(), m, maps, s, func(*correlate.Map) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(r.Photons) != fmt.Sprint(of) { // NaN equals NaN
		t.Errorf("the noise is %+v by Multitau and %+v by Twotime", r.Photons, of)
	}
	if len(of) == 0 {
		return nil
	}
	return &of[0]
}

func (c counted) array(frames []float32) correlate.Movie {
	return correlate.FromArray(frames, c.frames, 1, c.pixels)
}

// usual is a movie whose speckles move by a tenth between frames.
func usual() counted {
	return counted{pixels: 1000, frames: 24, count: 5, modes: 2, decay: 0.1, seed: 1}
}

// The dead time of a detector is found, and that of one without is 0, whatever else makes counts scatter.
func TestPhotonNoiseTellsDeadTime(t *testing.T) {
	for name, c := range map[string]counted{
		"slow":                   {pixels: 1000, frames: 24, count: 5, modes: 2, decay: 0.001, dead: 0.05},
		"fast":                   {pixels: 1000, frames: 24, count: 5, modes: 2, decay: 1, dead: 0.1},
		"many counts":            {pixels: 1000, frames: 24, count: 50, modes: 2, decay: 0.1, dead: 0.01},
		"few counts":             {pixels: 2000, frames: 100, count: 0.1, modes: 1, decay: 0.1, dead: 1},
		"uneven":                 {pixels: 1000, frames: 24, count: 5, modes: 2, decay: 0.1, dead: 0.1, uneven: true},
		"right":                  usual(),
		"right, slow and uneven": {pixels: 1000, frames: 24, count: 5, modes: 2, decay: 0.001, uneven: true},
		"right, ballistic":       {pixels: 1000, frames: 24, count: 20, modes: 1, decay: 0.1, ballistic: true},
	} {
		c.seed = 1
		n := noise(t, c.array(c.movie()), correlate.Settings{})
		if d := n.DeadTime; c.dead == 0 && d != 0 || c.dead > 0 && !(d > 0.5*c.dead && d < 2.1*c.dead) {
			t.Errorf("%s: a dead time of %g exposures is found, want %g: %+v", name, d, c.dead, n)
		}
	}
}

// Lists of events have the noise of arrays, and averages of frames that of their sums.
func TestPhotonNoiseOfEventsAndAverages(t *testing.T) {
	c := usual()
	c.count, c.dead = 0.5, 0.2
	frames := c.movie()
	want := noise(t, c.array(frames), correlate.Settings{})
	sparse := correlate.Movie{Frames: c.frames, Height: 1, Width: c.pixels, Sparse: func(first, n int, dst *correlate.Events) error {
		dst.Reset()
		for f := first; f < first+n; f++ {
			for p, v := range frames[f*c.pixels:][:c.pixels] {
				if v > 0 {
					dst.Pixel, dst.Count = append(dst.Pixel, uint32(p)), append(dst.Count, v)
				}
			}
			dst.End()
		}
		return nil
	}}
	if got := noise(t, sparse, correlate.Settings{}); !reflect.DeepEqual(got, want) {
		t.Errorf("the noise of events is %+v, want %+v", got, want)
	}
	n := c.pixels
	sums := make([]float32, len(frames)/2)
	for i := range sums {
		f := i / n
		sums[i] = frames[2*f*n+i%n] + frames[(2*f+1)*n+i%n]
	}
	c.frames /= 2
	want = noise(t, c.array(sums), correlate.Settings{})
	if got := noise(t, sparse, correlate.Settings{Selection: correlate.Selection{Average: 2}}); !reflect.DeepEqual(got, want) {
		t.Errorf("the noise of averages is %+v, want that of the sums, %+v", got, want)
	}
}

// What is no dead time is not taken for one: multiples of counts, charge that neighbours share, noise of an amplifier, a pixel that always has
// the same number, frames that were stored twice. Values that are no counts have no noise of photons.
func TestPhotonNoiseOfOtherFaults(t *testing.T) {
	z := tensor.NewStream(7, 0, 0)
	for name, fault := range map[string]func(v float32, frame, pixel int) float32{
		"gain":                 func(v float32, _, _ int) float32 { return 3 * v },
		"amplifier":            func(v float32, _, _ int) float32 { return float32(max(0, math.Round(2*float64(v)+5*z.Normal()))) },
		"many of an amplifier": func(v float32, _, _ int) float32 { return float32(math.Round(500 + 2*float64(v) + 5*z.Normal())) },
		"stuck": func(v float32, _, pixel int) float32 {
			if pixel == 500 {
				return 400
			}
			return v
		},
	} {
		c := usual()
		frames := c.movie()
		for i, v := range frames {
			frames[i] = fault(v, i/c.pixels, i%c.pixels)
		}
		if n := noise(t, c.array(frames), correlate.Settings{}); n.DeadTime != 0 {
			t.Errorf("%s: a dead time is found: %+v", name, n)
		}
	}
	c := usual()
	frames := c.movie()
	want := noise(t, c.array(frames), correlate.Settings{})
	var twice []float32
	for f := range c.frames {
		for range 1 + f%2 {
			twice = append(twice, frames[f*c.pixels:][:c.pixels]...)
		}
	}
	c.frames = len(twice) / c.pixels
	if n := noise(t, c.array(twice), correlate.Settings{}); n.DeadTime != 0 || math.Abs(n.Ratio-want.Ratio) > 1e-9 {
		t.Errorf("with frames that were stored twice the noise is %+v, want %+v", n, want)
	}
	frames[1500] += 0.5
	c = usual()
	if n := noise(t, c.array(frames), correlate.Settings{}); n != nil {
		t.Errorf("values that are no counts have the noise %+v", n)
	}
}

// Frames that go to a GPU in the type of their file have the same noise.
func TestPhotonNoiseOnDevice(t *testing.T) {
	pretend.Shared(t)
	c := usual()
	c.pixels, c.dead = 400, 0.05
	frames := c.movie()
	want := noise(t, c.array(frames), correlate.Settings{})
	m := c.array(frames)
	m.Raw = &correlate.Raw{Type: "uint16", Read: func(first int, dst []byte) error {
		for i := range len(dst) / 2 {
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(frames[first*c.pixels+i]))
		}
		return nil
	}}
	if got := noise(t, m, correlate.Settings{Backend: ad.CUDA{}}); want.DeadTime == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("the noise is %+v on a GPU, want %+v", got, want)
	}
}
