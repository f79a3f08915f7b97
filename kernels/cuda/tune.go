// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// Variant is one way to do a piece of work, such as a kernel with a certain tile.
type Variant struct {
	// Name distinguishes the variant from the others of its family, also in later runs.
	Name string
	// Run puts the work on a stream once.
	Run func(s *Stream) error
}

// TuneArray is an array that the variants read or write.
type TuneArray struct {
	Part  Part
	Type  Type
	Count int // number of elements
}

// Tuning is a choice between variants that do the same work on the same arrays.
type Tuning struct {
	Family string // name of the family of kernels, such as matmul
	Type   Type
	// Shape holds the sizes of the problem. Problems whose sizes round to the same powers of two
	// share a winner.
	Shape  []int
	Inputs []TuneArray
	// Outputs are the arrays that variants write. An array may be among Inputs as well.
	Outputs  []TuneArray
	Variants []Variant // variants to compare; the first is the default
	// Tolerance is the largest difference from the results of the default variant, relative to the
	// largest of them. Default 1e-4 for float32, 1e-11 for float64.
	Tolerance float64
}

// TuneResult is the result of a tuning.
type TuneResult struct {
	Winner int // index of the variant to use
	// Known reports whether the winner was found earlier, so that nothing was run now.
	Known  bool
	Trials []TuneTrial // outcome of each variant; nil if the winner was known
}

// TuneTrial is the outcome of one variant.
type TuneTrial struct {
	Name string
	MS   float64 // median time in ms; NaN if the variant was not timed
	Runs int     // number of timed runs
	// Refused says why the variant cannot win. It is empty if it can.
	Refused string
}

// How variants are timed.
const (
	tuneWarmups = 3
	tuneRuns    = 10
	tuneEarly   = 3   // runs after which a slow variant is given up
	tuneSlow    = 1.5 // times the best so far
)

// tuned remembers winners.
type tuned struct {
	running sync.Mutex // timings of one device do not disturb each other
	mu      sync.Mutex
	known   map[string]string // by key, the name of the winner
}

// Tune finds the fastest variant. Inputs are filled with random numbers and outputs with NaN; a
// variant must give the default's results before it is timed by events, with three runs to warm up
// and then ten, or only three if it is 1.5 times slower than the best so far. The winner is kept
// beside the compiled kernels, for the same family, type, powers of two of the shape, architecture
// and driver; the next call returns it at once, in later runs too.
//
// While a graph is captured nothing is run: the result is the winner of an earlier call, or the
// default. Tuning overwrites the arrays and waits for the device.
func (d *Device) Tune(ctx context.Context, t Tuning) (TuneResult, error) {
	if len(t.Variants) == 0 {
		return TuneResult{}, fmt.Errorf("%w: there are no variants of %s to tune: give at least one", ErrArgument, t.Family)
	}
	key := d.tuneKey(t)
	if w, ok := d.winner(key, t); ok || d.captures.current() != nil {
		return TuneResult{Winner: w, Known: ok}, nil
	}
	d.tuned.running.Lock()
	defer d.tuned.running.Unlock()
	if w, ok := d.winner(key, t); ok { // somebody else has just found it
		return TuneResult{Winner: w, Known: true}, nil
	}
	r, err := d.tune(ctx, t)
	if err == nil {
		d.keepWinner(key, t.Variants[r.Winner].Name)
	}
	return r, err
}

// tuneKey says for what a winner holds.
func (d *Device) tuneKey(t Tuning) string {
	var b strings.Builder
	fmt.Fprintf(&b, "1 %s %s sm_%d%d driver %d", t.Family, t.Type.C(), d.info.Capability[0], d.info.Capability[1], d.info.DriverVersion)
	for _, n := range t.Shape {
		fmt.Fprintf(&b, " %d", bits.Len(uint(max(n, 0))))
	}
	return b.String()
}

// winner returns the variant that an earlier tuning found, from memory or from the disk.
func (d *Device) winner(key string, t Tuning) (int, bool) {
	d.tuned.mu.Lock()
	defer d.tuned.mu.Unlock()
	name, ok := d.tuned.known[key]
	if !ok {
		if name = d.readWinner(key); name == "" {
			return 0, false
		}
	}
	i := slices.IndexFunc(t.Variants, func(v Variant) bool { return v.Name == name })
	return max(i, 0), i >= 0
}

// winnerFile is the form of a winner on the disk.
type winnerFile struct {
	Key    string `json:"key"`
	Winner string `json:"winner"`
}

// cache returns where winners are kept: beside the compiled kernels, or nil for nowhere.
func (d *Device) cache() *rtc.Cache {
	o := d.options.Compiler
	if o.NoCache {
		return nil
	}
	return rtc.NewCache(o.Cache, o.CacheBytes)
}

func (d *Device) readWinner(key string) string {
	var w winnerFile
	if json.Unmarshal(d.cache().ReadNote(key), &w) != nil || w.Key != key {
		return ""
	}
	return w.Winner
}

// keepWinner remembers a winner. As with compiled kernels, a disk that takes nothing is no error.
func (d *Device) keepWinner(key, name string) {
	d.tuned.mu.Lock()
	defer d.tuned.mu.Unlock()
	if d.tuned.known == nil {
		d.tuned.known = map[string]string{}
	}
	d.tuned.known[key] = name
	if b, err := json.Marshal(winnerFile{key, name}); err == nil {
		d.cache().WriteNote(key, b)
	}
}

// tuneRun is a tuning under way.
type tuneRun struct {
	d    *Device
	s    *Stream
	t    Tuning
	want [][]float64 // the default's outputs
}

func (d *Device) tune(ctx context.Context, t Tuning) (TuneResult, error) {
	if t.Tolerance == 0 {
		t.Tolerance = [...]float64{Float32: 1e-4, Float64: 1e-11}[t.Type]
	}
	r := &tuneRun{d: d, s: d.compute, t: t}
	result, best := TuneResult{}, math.Inf(1)
	for i, v := range t.Variants {
		trial, err := r.trial(ctx, i, v, best)
		if err != nil {
			return TuneResult{}, fmt.Errorf("tuning %s, variant %s: %w", t.Family, v.Name, err)
		}
		if trial.Refused == "" && trial.MS < best {
			best, result.Winner = trial.MS, i
		}
		result.Trials = append(result.Trials, trial)
	}
	return result, nil
}

// trial checks and times a variant. Only a default that fails, a lost device and a cancelled context are
// errors; other variants are refused.
func (r *tuneRun) trial(ctx context.Context, i int, v Variant, best float64) (TuneTrial, error) {
	t := TuneTrial{Name: v.Name, MS: math.NaN()}
	refuse := func(err error) (TuneTrial, error) {
		if cause := context.Cause(ctx); cause != nil {
			return t, cause
		}
		if i == 0 || errors.Is(err, ErrDeviceLost) {
			return t, err
		}
		t.Refused = err.Error()
		return t, nil
	}
	if err := r.prepare(ctx); err != nil {
		return t, err
	}
	if err := v.Run(r.s); err != nil {
		return refuse(err)
	}
	got, err := r.outputs(ctx)
	if err != nil {
		return refuse(err)
	}
	if i == 0 {
		r.want = got
	} else if err := r.compare(got); err != nil {
		return refuse(err)
	}
	var times []float64
	for n := range tuneWarmups + tuneRuns {
		took, err := r.s.Elapsed(ctx, func() error { return v.Run(r.s) })
		ms := took.Seconds() * 1e3
		if err != nil {
			return refuse(err)
		}
		if n < tuneWarmups {
			continue
		}
		times = append(times, ms)
		if len(times) == tuneEarly && median(times) > tuneSlow*best {
			break
		}
	}
	t.MS, t.Runs = median(times), len(times)
	return t, nil
}

// prepare fills outputs with NaN and inputs with the same random numbers every time.
func (r *tuneRun) prepare(ctx context.Context) error {
	for _, a := range r.t.Outputs {
		if err := r.s.Fill(a.Part.Buffer, a.Part.Offset, a.Count*a.Type.Size(), 0xFF); err != nil {
			return err
		}
	}
	source := rand.New(rand.NewPCG(1, 2))
	for _, a := range r.t.Inputs {
		if err := r.randomize(ctx, a, source); err != nil {
			return err
		}
	}
	return nil
}

// randomize fills an array with numbers between -1 and 1, which repeat after a million.
func (r *tuneRun) randomize(ctx context.Context, a TuneArray, source *rand.Rand) error {
	n := min(a.Count, 1<<20)
	var values any
	if a.Type == Float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = 2*source.Float32() - 1
		}
		values = x
	} else {
		x := make([]float64, n)
		for i := range x {
			x[i] = 2*source.Float64() - 1
		}
		values = x
	}
	if err := r.s.CopyIn(ctx, a.Part.Buffer, a.Part.Offset, values); err != nil {
		return err
	}
	for at := n; at < a.Count; at += n {
		size := a.Type.Size()
		if err := r.s.Copy(a.Part.Buffer, a.Part.Offset+at*size, a.Part.Buffer, a.Part.Offset, min(n, a.Count-at)*size); err != nil {
			return err
		}
	}
	return nil
}

// outputs waits for the results and fetches them.
func (r *tuneRun) outputs(ctx context.Context) ([][]float64, error) {
	all := make([][]float64, len(r.t.Outputs))
	for i, a := range r.t.Outputs {
		all[i] = make([]float64, a.Count)
		if a.Type == Float64 {
			if err := r.s.CopyOut(ctx, all[i], a.Part.Buffer, a.Part.Offset); err != nil {
				return nil, err
			}
			continue
		}
		x := make([]float32, a.Count)
		if err := r.s.CopyOut(ctx, x, a.Part.Buffer, a.Part.Offset); err != nil {
			return nil, err
		}
		for j, v := range x {
			all[i][j] = float64(v)
		}
	}
	return all, nil
}

// compare returns an error if results are not the default's.
func (r *tuneRun) compare(got [][]float64) error {
	for i, want := range r.want {
		scale := 0.0
		for _, v := range want {
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				scale = max(scale, math.Abs(v))
			}
		}
		for j, v := range want {
			g := got[i][j]
			if g == v || math.IsNaN(g) && math.IsNaN(v) || math.Abs(g-v) <= r.t.Tolerance*scale {
				continue
			}
			return fmt.Errorf("number %d of output %d is %g, but the default variant gives %g: correct the variant, or raise Tuning.Tolerance if both are right", j, i, g, v)
		}
	}
	return nil
}

// median returns the middle of some numbers, the mean of both for an even count.
func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}
