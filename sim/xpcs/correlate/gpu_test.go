// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"testing"
	"time"
	"unsafe"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/gpu"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// realGPU says that the tests of devices run on a GPU.
var realGPU bool

// emulated lets a test run on the pretend device, unless it is to run on a GPU.
func emulated(t *testing.T) {
	t.Helper()
	if !realGPU {
		pretend.Shared(t)
	}
}

// On a machine with a GPU the tests of the pretend device run on it; scripts/gpu.sh starts this.
func TestGPUCorrelations(t *testing.T) {
	all := gpu.Need(t)
	realGPU = true
	two := both
	if len(all) < 2 {
		both = ad.Several{{}, {}}
	}
	defer func() { realGPU, both = false, two }()
	t.Run("multi-tau", TestMultitauOnDevice)
	t.Run("normalised", TestNormalizedOnDevice)
	t.Run("bad frames", TestBadFramesOnDevice)
	t.Run("traffic", TestTrafficOfCorrelations)
	t.Run("two-time", TestTwotimeOnDevice)
}

// Large correlations are timed; times are reported and not judged.
func TestGPUSpeedCorrelations(t *testing.T) {
	gpu.Need(t)
	const side = 1024
	for _, c := range []struct {
		name   string
		frames int
		s      Settings
	}{{"multi-tau", 4000, Settings{}}, {"multi-tau, normalised", 4000, Settings{Normalize: true}}, {"two-time", 2000, Settings{Bins: []int{1, 18}}}, {"two-time, float64", 2000, Settings{Bins: []int{1, 18}, Precision: 64}}} {
		m, maps := long(c.frames, side, false)
		some := make([]byte, 2*side*side*blockFrames)
		for i := range some {
			some[i] = byte(i*i%7) & byte(i%2-1) // small counts
		}
		// Memory is filled once and then stands for a source that writes its frames there itself.
		filled := map[*byte]bool{}
		m.Raw.Read = func(_ int, dst []byte) error {
			if at := unsafe.SliceData(dst); !filled[at] {
				filled[at] = true
				copy(dst, some)
			}
			return nil
		}
		c.s.Backend = ad.CUDA{}
		best, read := time.Hour, time.Duration(0)
		for range 3 {
			clear(filled)
			begin := time.Now()
			c.s.Progress = func(done, all int) {
				if done == all {
					read = time.Since(begin)
				}
			}
			var err error
			if c.name[0] == 'm' {
				_, err = Multitau(context.Background(), m, maps, c.s)
			} else {
				err = Twotime(context.Background(), m, maps, c.s, func(*Map) error { return nil })
			}
			if err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(begin))
		}
		bytes := float64(c.frames) * 2 * side * side
		t.Logf("%s, %d frames of 1 Mpx in 16 bits: %v, of which %v until all frames were there: %.3g us a frame, %.3g GB/s", c.name, c.frames, best, read, float64(read.Microseconds())/float64(c.frames), bytes/read.Seconds()/1e9)
	}
}
