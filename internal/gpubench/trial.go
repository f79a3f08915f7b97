// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gpubench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// Trial is one value of a choice, timed on one row of the table.
type Trial struct {
	Choice  string  `json:"choice"`
	Value   int     `json:"value"`
	Row     string  `json:"row"`
	Millis  float64 `json:"gpu_ms"` // the median
	Low     float64 `json:"low_ms"` // it lies from Low to High with 95 %
	High    float64 `json:"high_ms"`
	Samples int     `json:"samples"`
	Error   string  `json:"error,omitempty"` // why the value cannot be used or was not timed
}

const (
	leastSamples = 11
	mostSamples  = 101
	narrowEnough = 0.01             // share of the median to either side at which an interval is narrow enough
	sampleTime   = time.Millisecond // about the length of a sample, which takes as many runs as that needs
	trialError   = 1e-4             // largest difference of results from those of the default, relative to the largest of them
)

// contender is a value of a choice while it is timed.
type contender struct {
	Trial
	state *ad.State
	runs  int
	times []float64
}

// trials times values of a choice on a row, in turn with each other, until the intervals of all are narrow or the time is used up. began hears of
// a value before the device works with it, so that whoever listens knows what the device was doing when it fails.
func (b *bench) trials(ctx context.Context, c cuda.Choice, r row, values []int, until time.Time, began func(value int)) ([]Trial, error) {
	defer b.d.Choose(nil)
	b.own = !strings.HasPrefix(c.Name, "library_")
	var all []*contender
	var want []float32
	for _, v := range values {
		x := &contender{Trial: Trial{Choice: c.Name, Value: v, Row: r.name}}
		all = append(all, x)
		began(v)
		got, err := b.prepare(ctx, x, r)
		switch {
		case errors.Is(err, cuda.ErrDeviceLost), ctx.Err() != nil:
			return nil, errors.Join(err, ctx.Err())
		case err != nil:
			x.Error = err.Error()
		case want == nil:
			want = got
		default:
			x.Error = differ(got, want)
		}
	}
	for round := 0; round < mostSamples && (round < leastSamples || !narrow(all)); round++ {
		if round > 0 && time.Now().After(until) {
			break
		}
		for k := range all {
			x := all[(k+round)%len(all)]
			if x.Error != "" {
				continue
			}
			began(x.Value)
			t, err := b.d.Default().Elapsed(ctx, func() error { return repeat(x.state, x.runs) })
			if err != nil {
				return nil, err
			}
			x.times = append(x.times, 1e3*t.Seconds()/float64(x.runs))
		}
	}
	var out []Trial
	for _, x := range all {
		x.Samples = len(x.times)
		x.Millis, x.Low, x.High = interval(x.times)
		out = append(out, x.Trial)
	}
	return out, nil
}

// prepare compiles the program of a row with a value and returns its results.
func (b *bench) prepare(ctx context.Context, x *contender, r row) ([]float32, error) {
	if err := b.d.Choose(map[string]int{x.Choice: x.Value}); err != nil {
		return nil, err
	}
	b.r = rand.New(rand.NewPCG(1, 2)) // the same numbers for all values
	s, err := b.compiled(r)
	if err != nil {
		return nil, err
	}
	if err := repeat(s, 1); err != nil {
		return nil, err
	}
	got := slices.Clone(s.Output32(0))
	once := func() error { return repeat(s, 1) }
	if _, err := b.d.Default().Elapsed(ctx, once); err != nil {
		return nil, err
	}
	t, err := b.d.Default().Elapsed(ctx, once)
	x.state, x.runs = s, max(1, min(200, int(sampleTime/max(t, time.Microsecond))))
	return got, err
}

func repeat(s *ad.State, times int) error {
	for range times {
		if err := s.Run(); err != nil {
			return err
		}
	}
	return nil
}

// differ says by how much results differ from others, or "" if they agree.
func differ(got, want []float32) string {
	largest, worst, at := 0.0, 0.0, 0
	for i, v := range want {
		largest = max(largest, math.Abs(float64(v)))
		if d := math.Abs(float64(got[i]) - float64(v)); d > worst || math.IsNaN(d) {
			worst, at = d, i
		}
	}
	if worst <= trialError*largest {
		return ""
	}
	return fmt.Sprintf("result %d is %g, with the first value %g", at, got[at], want[at])
}

// narrow reports whether the intervals of all that are timed are narrow enough.
func narrow(all []*contender) bool {
	for _, x := range all {
		if m, low, high := interval(x.times); x.Error == "" && (high-m > narrowEnough*m || m-low > narrowEnough*m) {
			return false
		}
	}
	return true
}

// interval returns the median of measurements, and order statistics between which the median of their distribution lies with 95 %, whatever the distribution
// is; zeros for none.
func interval(times []float64) (median, low, high float64) {
	n := len(times)
	if n == 0 {
		return 0, 0, 0
	}
	sorted := slices.Sorted(slices.Values(times))
	// Reference: the normal approximation to the binomial distribution of the number of measurements below the median.
	half := 1.96 * math.Sqrt(float64(n)) / 2
	first, last := int(math.Floor(float64(n)/2-half)), int(math.Ceil(float64(n)/2+half))
	return sorted[n/2], sorted[max(first, 0)], sorted[min(last, n-1)]
}
