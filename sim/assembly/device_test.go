// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/sim/assembly"
)

// onBoth runs the same script on the processor and on the pretend device, and compares the rounds and a
// snapshot of the end, which has every weight.
func onBoth(t *testing.T, backend ad.Backend, build func(backend ad.Backend) (*assembly.Brain, error), script func(b *assembly.Brain) ([][]assembly.Round, error)) {
	t.Helper()
	var traces [2][][]assembly.Round
	var ends [2]bytes.Buffer
	for i, back := range []ad.Backend{nil, backend} {
		b, err := build(back)
		if err != nil {
			t.Fatal(err)
		}
		if traces[i], err = script(b); err != nil {
			t.Fatal(err)
		}
		if err := b.Save(&ends[i]); err != nil {
			t.Fatal(err)
		}
	}
	if len(traces[0]) != len(traces[1]) {
		t.Fatalf("%d steps on the device, %d on the processor", len(traces[1]), len(traces[0]))
	}
	for step := range traces[0] {
		for k, want := range traces[0][step] {
			got := traces[1][step][k]
			if !slices.Equal(got.Winners, want.Winners) || got.Kth != want.Kth || got.Next != want.Next || got.First != want.First || got.Kept != want.Kept || got.Support != want.Support {
				t.Fatalf("step %d of area %s:\n%+v on the device,\n%+v on the processor", step, want.Area, got, want)
			}
		}
	}
	if !bytes.Equal(ends[0].Bytes(), ends[1].Bytes()) {
		t.Error("the brains end with different weights")
	}
}

// Steps on a device choose the winners that steps on the processor choose, and leave the same weights: exact
// and lazy areas, all learning rules, bounds, policies, inhibition, normalised and given synapses.
func TestDeviceEqualsProcessor(t *testing.T) {
	pretend.Shared(t)
	merge := func(b *assembly.Brain) ([][]assembly.Round, error) { return b.Merge("s", "A", "r", "B", "C", 6) }
	form := func(b *assembly.Brain) ([][]assembly.Round, error) { return b.Form("s", "A", 8) }
	three := func(s assembly.Settings, a assembly.Area, change func(b *assembly.Brain) error) func(ad.Backend) (*assembly.Brain, error) {
		return func(backend ad.Backend) (*assembly.Brain, error) {
			s.Backend = backend
			b := assembly.New(s)
			err := errors.Join(b.AddStimulus("s", 40), b.AddStimulus("r", 40))
			for _, name := range []string{"A", "B", "C"} {
				a.Name = name
				err = errors.Join(err, b.AddArea(a))
			}
			if change != nil {
				err = errors.Join(err, change(b))
			}
			return b, err
		}
	}
	settings := assembly.Settings{P: 0.1, Seed: 7}
	area := assembly.Area{N: 800, K: 30, Beta: 0.1}
	lazy, column, thin := area, area, settings
	lazy.Lazy, lazy.N = true, 20000
	thin.P, thin.NoSelf = 0.004, true
	column.Column = assembly.Column{Latency: 3, LatencyStrength: 2, Refraction: 0.25, Policy: assembly.Relative, Threshold: 0.8, AtLeast: 5}
	for _, c := range []struct {
		name   string
		build  func(ad.Backend) (*assembly.Brain, error)
		script func(b *assembly.Brain) ([][]assembly.Round, error)
	}{
		{"exact", three(settings, area, nil), merge},
		{"lazy", three(settings, lazy, nil), merge},
		{"sparse", three(thin, area, nil), form},
		{"column", three(settings, column, nil), form},
		{"additive", three(assembly.Settings{P: 0.1, Seed: 1, MaxWeight: 2}, assembly.Area{N: 500, K: 20, Beta: 0.2, Rule: assembly.Additive}, nil), form},
		{"bounded", three(assembly.Settings{P: 0.1, Seed: 1, MaxWeight: 1.3}, area, nil), form},
		{"anti-Hebb", three(settings, assembly.Area{N: 500, K: 20, Beta: 1, Rule: assembly.AntiHebb}, nil), form},
		{"Willshaw", three(settings, assembly.Area{N: 500, K: 20, Beta: 0.3, Rule: assembly.Willshaw}, nil), form},
		{"hashed", three(assembly.Settings{P: 0.1, Seed: 1, Connect: assembly.Hashed(3, func(from, to string) uint64 { return uint64(len(from + to)) })}, area, nil), form},
		{"normalised", three(settings, area, func(b *assembly.Brain) error { return errors.Join(b.Normalize("A", "A"), b.Normalize("s", "A")) }), form},
		{"few neurons", three(assembly.Settings{P: 0.3, Seed: 5}, assembly.Area{N: 12, K: 12, Beta: 0.1}, nil), merge},
		{"rivals", three(settings, area, func(b *assembly.Brain) error { return b.Rivals("A", "B") }), merge},
	} {
		t.Run(c.name, func(t *testing.T) { onBoth(t, ad.CUDA{}, c.build, c.script) })
	}
	t.Run("between steps", func(t *testing.T) {
		onBoth(t, ad.CUDA{}, three(settings, area, nil), func(b *assembly.Brain) ([][]assembly.Round, error) {
			all, err := b.Form("s", "A", 4)
			if err != nil {
				return nil, err
			}
			if w, err := b.Weight("A", "A", int(all[3][0].Winners[0]), int(all[3][0].Winners[1])); err != nil || w < 0 {
				return nil, fmt.Errorf("weight %g: %w", w, err)
			}
			if err := errors.Join(b.SetBeta("A", "A", 0.3), b.SetRule("s", "A", assembly.AntiHebb), b.Normalize("A", "A")); err != nil {
				return nil, err
			}
			more, err := b.Clone().Form("s", "A", 3)
			if err != nil {
				return nil, err
			}
			b.SetBackend(nil)
			last, err := b.Form("s", "A", 3)
			return append(append(all, more...), last...), err
		})
	})
}

// Many brains that share launches, on one device or on two, each do what they do alone.
func TestManyBrainsOnDevice(t *testing.T) {
	pretend.Shared(t)
	run := func(backend ad.Backend, together bool) (all [][][]assembly.Round) {
		var plans []*assembly.Plan
		for seed := range 5 {
			b := assembly.New(assembly.Settings{P: 0.1, Seed: uint64(seed), Backend: backend})
			if err := errors.Join(b.AddStimulus("s", 30), b.AddArea(assembly.Area{Name: "A", N: 400 + 10*seed, K: 20, Beta: 0.1}),
				b.AddArea(assembly.Area{Name: "L", N: 5000, K: 20, Beta: 0.1, Lazy: true})); err != nil {
				t.Fatal(err)
			}
			p, err := b.Plan("s>A s>L A>A A>L L>A L>L")
			if err != nil {
				t.Fatal(err)
			}
			if together {
				plans = append(plans, p)
				continue
			}
			one, err := b.Continue(p, 5)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, one)
		}
		if together {
			var err error
			if all, err = assembly.ProjectAll(plans, 5); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	want := run(nil, false)
	for _, backend := range []ad.Backend{nil, ad.CUDA{}, ad.Several{{}, {Device: 1}}} {
		for i, got := range run(backend, true) {
			for step := range got {
				for k := range got[step] {
					if !slices.Equal(got[step][k].Winners, want[i][step][k].Winners) {
						t.Fatalf("%T: brain %d, step %d: %v, alone %v", backend, i, step, got[step][k].Winners, want[i][step][k].Winners)
					}
				}
			}
		}
	}
}

// Weights of half precision keep the assembly.
func TestHalfWeights(t *testing.T) {
	pretend.Shared(t)
	var ends [2][]int32
	for i, backend := range []ad.Backend{nil, ad.CUDA{Storage: ad.Float16}} {
		b := assembly.New(assembly.Settings{P: 0.1, Seed: 3, Backend: backend})
		if err := errors.Join(b.AddStimulus("s", 50), b.AddArea(assembly.Area{Name: "A", N: 1000, K: 40, Beta: 0.1})); err != nil {
			t.Fatal(err)
		}
		trace, err := b.Form("s", "A", 15)
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = trace[14][0].Winners
	}
	same := 0
	for _, j := range ends[0] {
		if slices.Contains(ends[1], j) {
			same++
		}
	}
	if same < 36 {
		t.Errorf("assemblies share %d of 40 neurons", same)
	}
}

// A device without memory, or one that is lost, ends a run with the rounds that are over; the brain then goes
// on elsewhere as if it had never been on the device.
func TestBrainsOutliveDevices(t *testing.T) {
	lib := pretend.Shared(t)
	build := func(backend ad.Backend) *assembly.Brain {
		b := assembly.New(assembly.Settings{P: 0.1, Seed: 9, Backend: backend})
		if err := errors.Join(b.AddStimulus("s", 30), b.AddArea(assembly.Area{Name: "A", N: 600, K: 25, Beta: 0.1})); err != nil {
			t.Fatal(err)
		}
		return b
	}
	want, err := build(nil).Form("s", "A", 9)
	if err != nil {
		t.Fatal(err)
	}
	for after := 5; after < 200; after += 37 {
		b := build(ad.CUDA{})
		p, err := b.Plan("s>A A>A")
		if err != nil {
			t.Fatal(err)
		}
		var all [][]assembly.Round
		first, err := b.Form("s", "A", 1)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, first...)
		lib.Fail("cuLaunchKernel", after, 1, 2)
		trace, err := b.Continue(p, 8)
		lib.Fail("cuLaunchKernel", 0, 0, 0)
		if all = append(all, trace...); err == nil && len(trace) < 8 {
			t.Fatalf("%d of 8 steps without an error", len(trace))
		}
		b.SetBackend(nil)
		rest, err := b.Continue(p, 8-len(trace))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rest...)
		for step := range want {
			if !slices.Equal(all[step][0].Winners, want[step][0].Winners) {
				t.Fatalf("a failure after %d launches: step %d of %d differs", after, step, len(trace))
			}
		}
	}
	if _, err := build(ad.CUDA{Device: 99}).Form("s", "A", 2); !errors.Is(err, cuda.ErrNoDevice) {
		t.Errorf("device 99: %v", err)
	}
	if _, err := build(ad.CUDA{Storage: ad.BFloat16}).Form("s", "A", 2); !errors.Is(err, assembly.ErrBackend) {
		t.Errorf("bfloat16: %v", err)
	}
	huge := assembly.New(assembly.Settings{P: 0.01, Seed: 9, Backend: ad.CUDA{}})
	if err := errors.Join(huge.AddArea(assembly.Area{Name: "A", N: 40e6, K: 10000}), huge.Activate("A", 0)); err != nil {
		t.Fatal(err)
	}
	p, err := huge.Plan("A>A")
	if err != nil {
		t.Fatal(err)
	}
	var room *cuda.RoomError
	if _, err := huge.Project(p, 1); !errors.As(err, &room) {
		t.Errorf("a brain that does not fit: %v", err)
	}
}

// Once an assembly has formed, a step moves the numbers of winners over the bus and nothing of the size of the
// area; forming one moves no synapses either.
func TestTrafficOfSteps(t *testing.T) {
	pretend.Shared(t)
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	const n, k = 20000, 50
	b := assembly.New(assembly.Settings{P: 0.05, Seed: 2, Backend: ad.CUDA{}})
	if err := errors.Join(b.AddStimulus("s", k), b.AddArea(assembly.Area{Name: "A", N: n, K: k, Beta: 0.1})); err != nil {
		t.Fatal(err)
	}
	d.ResetPeak()
	if _, err := b.Form("s", "A", 12); err != nil {
		t.Fatal(err)
	}
	formed := d.Stats()
	d.ResetPeak()
	if _, err := b.Form("s", "A", 1); err != nil {
		t.Fatal(err)
	}
	p, err := b.Plan("s>A A>A")
	if err != nil {
		t.Fatal(err)
	}
	d.ResetPeak()
	if _, err := b.Project(p, 4); err != nil {
		t.Fatal(err)
	}
	st := d.Stats()
	perStep := (st.Sent + st.Fetched) / 4
	t.Logf("forming: %d B up, %d B down; then %d B a step; an area has %d B of inputs", formed.Sent, formed.Fetched, perStep, 8*n)
	if perStep > 100*k || formed.Sent+formed.Fetched > 12*8*n {
		t.Errorf("%d bytes a step of an assembly of %d neurons, %d to form it", perStep, k, formed.Sent+formed.Fetched)
	}
}

// A million neurons of which a thousand fire, at p = 0.01, take a small part of a GPU: the allocator's own count on a
// device that only counts.
func TestMemoryOfLargeBrains(t *testing.T) {
	lib := pretend.Shared(t)
	ordinal := lib.Count(t, 141e9)
	d, err := cuda.Open(ordinal, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	b := assembly.New(assembly.Settings{P: 0.01, Seed: 2, Backend: ad.CUDA{Device: ordinal}})
	if err := errors.Join(b.AddArea(assembly.Area{Name: "A", N: 1e6, K: 1000, Beta: 0.1}), b.Activate("A", 0)); err != nil {
		t.Fatal(err)
	}
	p, err := b.Plan("A>A")
	if err != nil {
		t.Fatal(err)
	}
	d.ResetPeak()
	b.Project(p, 1) // its winners are none, as nothing is computed
	if st := d.Stats(); st.PeakActive < 44e6 || st.PeakActive > 120e6 {
		t.Errorf("%.1f MB: want the 44 MB of the rows, and the weights and inputs", float64(st.PeakActive)/1e6)
	} else {
		t.Logf("%.1f MB", float64(st.PeakActive)/1e6)
	}
}

// Synapses that the processor taught are not lost where a fixed area learns more of them on the device, whose array
// of weights must grow for that.
func TestFixedAreaLearnsOnDevice(t *testing.T) {
	pretend.Shared(t)
	steps := func(b *assembly.Brain, n int, fibres string) ([][]assembly.Round, error) {
		p, err := b.Plan(fibres)
		if err != nil {
			return nil, err
		}
		return b.Continue(p, n)
	}
	onBoth(t, ad.CUDA{}, func(backend ad.Backend) (*assembly.Brain, error) {
		b := assembly.New(assembly.Settings{P: 0.1, Seed: 7})
		err := errors.Join(b.AddStimulus("s", 40), b.AddStimulus("r", 40), b.AddArea(assembly.Area{Name: "A", N: 1500, K: 100, Beta: 0.3}),
			b.AddArea(assembly.Area{Name: "B", N: 1500, K: 100, Beta: 0.3}))
		for _, fibres := range []string{"s>A", "s>A A>A", "A>B", "r>A"} {
			if err == nil {
				_, err = steps(b, 1, fibres)
			}
		}
		b.SetBackend(backend)
		return b, err
	}, func(b *assembly.Brain) ([][]assembly.Round, error) {
		err := b.Fix("B", true)
		one, e := steps(b, 6, "A>B r>A") // new neurons of A fire into B, whose winners stay
		err = errors.Join(err, e, b.Fix("B", false))
		two, e := steps(b, 3, "A>B s>A")
		return append(one, two...), errors.Join(err, e)
	})
}

// A device that fails while it counts the synapses of a stimulus is an error of Plan; the next attempt counts them
// anew.
func TestCountingFails(t *testing.T) {
	tier.SlowOnly(t)
	lib := pretend.Shared(t)
	c := assembly.New(assembly.Settings{P: 0.02, Seed: 3})
	if err := errors.Join(c.AddStimulus("s", 4), c.AddArea(assembly.Area{Name: "A", N: 2_500_000, K: 5, Beta: 0.1})); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Form("s", "A", 1); err != nil {
		t.Fatal(err)
	}
	want, _ := c.Winners("A")
	for _, call := range []string{"cuLaunchKernel", "cuMemcpyDtoHAsync_v2"} {
		b := assembly.New(assembly.Settings{P: 0.02, Seed: 3, Backend: ad.CUDA{}})
		if err := errors.Join(b.AddStimulus("s", 4), b.AddArea(assembly.Area{Name: "A", N: 2_500_000, K: 5, Beta: 0.1})); err != nil {
			t.Fatal(err)
		}
		after := map[string]int{"cuLaunchKernel": 0, "cuMemcpyDtoHAsync_v2": 1}[call]
		lib.Fail(call, after, 1, 2)
		_, err := b.Plan("s>A")
		lib.Fail(call, 0, 0, 0)
		if !errors.Is(err, cuda.Result(2)) {
			t.Errorf("%s fails: %v", call, err)
		}
		if _, err := b.Form("s", "A", 1); err != nil {
			t.Fatal(err)
		}
		got, _ := b.Winners("A")
		if !slices.Equal(got, want) {
			t.Errorf("after %s failed: winners %v, want %v", call, got, want)
		}
	}
}

// different makes brains of many kinds, each with a plan of its own.
func different(t *testing.T, backend ad.Backend, n int) (brains []*assembly.Brain, plans []*assembly.Plan) {
	t.Helper()
	for i := range n {
		s := assembly.Settings{P: 0.1, Seed: uint64(i), Backend: backend}
		a := assembly.Area{Name: "A", N: 300 + 20*i, K: 15 + i, Beta: 0.1}
		switch i % 4 {
		case 1:
			a.Column = assembly.Column{Latency: 2, LatencyStrength: 2, Refraction: 0.25}
		case 2:
			s.Connect = assembly.Hashed(uint64(i), func(from, to string) uint64 { return uint64(len(from + to)) })
		case 3:
			s.NoSelf, a.Rule = true, assembly.Willshaw
		}
		b := assembly.New(s)
		if err := errors.Join(b.AddStimulus("s", 30), b.AddArea(a), b.AddArea(assembly.Area{Name: "L", N: 1500, K: 10 + i, Beta: 0.1, Lazy: i%4 != 2})); err != nil {
			t.Fatal(err)
		}
		p, err := b.Plan([]string{"s>A A>A", "s>A s>L A>A A>L L>A L>L", "s>L s>A L>A"}[i%3])
		if err != nil {
			t.Fatal(err)
		}
		brains, plans = append(brains, b), append(plans, p)
	}
	return brains, plans
}

// The number of threads changes neither what brains do that share launches, nor the launches, nor what crosses
// the bus.
func TestThreadsChangeNoBrain(t *testing.T) {
	lib := pretend.Shared(t)
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var counts, results [2]string
	for i, threads := range []int{1, 4} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		brains, plans := different(t, ad.CUDA{}, 12)
		d.ResetPeak()
		launches := lib.Get("cuLaunchKernel")
		rounds, err := assembly.ProjectAll(plans, 3)
		if err != nil {
			t.Fatal(err)
		}
		st := d.Stats()
		counts[i] = fmt.Sprintf("%d launches, %d B sent and %d B fetched in %d copies", lib.Get("cuLaunchKernel")-launches, st.Sent, st.Fetched, st.Copies)
		var ends bytes.Buffer
		for _, b := range brains {
			if err := b.Save(&ends); err != nil {
				t.Fatal(err)
			}
		}
		results[i] = fmt.Sprint(rounds) + ends.String()
	}
	t.Log(counts[0])
	if counts[0] != counts[1] {
		t.Errorf("%s on one thread, %s on four", counts[0], counts[1])
	}
	if results[0] != results[1] {
		t.Error("winners or weights depend on the number of threads")
	}
}

// Brains whose device fails, while some of them prepare a step or between their launches, all stop after the same
// step and go on elsewhere as if they had never been on the device.
func TestManyBrainsOutliveDevice(t *testing.T) {
	lib := pretend.Shared(t)
	_, plans := different(t, nil, 6)
	want, err := assembly.ProjectAll(plans, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{4, 30, 55} {
		brains, plans := different(t, ad.CUDA{}, 6)
		lib.Fail("cuLaunchKernel", after, 1, 2)
		got, err := assembly.ProjectAll(plans, 3)
		lib.Fail("cuLaunchKernel", 0, 0, 0)
		if !errors.Is(err, cuda.Result(2)) {
			t.Fatalf("a failure after %d launches: %v", after, err)
		}
		for i, b := range brains {
			if len(got[i]) != len(got[0]) {
				t.Fatalf("a failure after %d launches: brain %d has done %d steps, the first %d", after, i, len(got[i]), len(got[0]))
			}
			b.SetBackend(nil)
			rest, err := b.Continue(plans[i], 3-len(got[i]))
			if err != nil {
				t.Fatal(err)
			}
			for step, rounds := range append(got[i], rest...) {
				for k := range rounds {
					if !slices.Equal(rounds[k].Winners, want[i][step][k].Winners) {
						t.Fatalf("a failure after %d launches: brain %d differs in step %d of %d", after, i, step, len(got[i]))
					}
				}
			}
		}
	}
}
