// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"errors"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

func shearSetup(angles, frames int) Setup {
	s := Setup{Model: Laminar, Q: 0.0054, Gap: 2e6}
	for i := range frames {
		s.Times = append(s.Times, 0.1*(float64(i)+0.5))
	}
	for k := range angles {
		s.Angles = append(s.Angles, 7*float64(k))
	}
	return s
}

var somewhere = []float64{1000, -0.2, 200, 1e-4, 0.1, 1e-5, 4}

// gram is room for sums.
func gram(angles, parameters int) [][]float64 {
	all := make([][]float64, angles)
	for k := range all {
		all[k] = make([]float64, (parameters+3)*(parameters+3))
	}
	return all
}

// fresh is a GPU with some memory that no other test has opened.
func fresh(t *testing.T, ordinal, memory int) (ad.CUDA, *cuda.Device, *pretend.Library) {
	t.Helper()
	lib := pretend.Shared(t)
	lib.Set("devices", ordinal+1)
	lib.Set("memory", memory)
	defer lib.Set("memory", 1<<30)
	d, err := ad.DeviceFor(ad.CUDA{Device: ordinal}, ad.Need{})
	if err != nil {
		t.Fatal(err)
	}
	return ad.CUDA{Device: ordinal}, d, lib
}

// Peak memory and traffic of full-size data on a GPU of 141 GB, by the allocator's count: the pairs, and next to nothing beside them; what an
// evaluation moves over the bus does not depend on their number. A GPU without the room refuses with numbers.
func TestMemoryOfStores(t *testing.T) {
	large, d, lib := fresh(t, 2, 141e9)
	lib.Set("count", 1)
	defer lib.Set("count", 0)
	for _, c := range []struct{ angles, frames, bits int }{{23, 1000, 64}, {23, 1000, 32}, {3, 4000, 64}} {
		s := shearSetup(c.angles, c.frames)
		pairs := uint64(c.angles * c.frames * (c.frames - 1) / 2 * c.bits / 8)
		before := d.Stats().Active
		d.ResetPeak()
		store, err := s.NewStore(context.Background(), large, Measured{Bits: c.bits, Pairs: func(int, []float64, []float64) {}})
		if err != nil {
			t.Fatal(err)
		}
		var chains []*Sums
		for range 4 {
			sums, err := store.NewSums()
			if err != nil {
				t.Fatal(err)
			}
			chains = append(chains, sums)
		}
		sent := d.Stats().Sent
		peak := d.Stats().PeakActive - before
		d.ResetPeak()
		for _, sums := range chains {
			if err := sums.Run(context.Background(), somewhere, false, gram(c.angles, 7)); err != nil {
				t.Fatal(err)
			}
		}
		st := d.Stats()
		t.Logf("%d x %d^2 in float%d, four chains: peak %.4g MB, pairs %.4g MB, %d B sent before; a gradient sends %d B and fetches %d B in %d copies", c.angles, c.frames, c.bits,
			float64(peak)/1e6, float64(pairs)/1e6, sent, st.Sent/4, st.Fetched/4, st.Copies/4)
		if float64(peak) > 1.05*float64(pairs)+4e6 || st.Sent > 4*56 || st.Fetched > uint64(4*8*24*c.angles) {
			t.Errorf("peak %d B for %d B of pairs; %d B sent and %d fetched", peak, pairs, st.Sent, st.Fetched)
		}
		for _, sums := range chains {
			sums.Free()
		}
		store.Free()
	}
	small, _, _ := fresh(t, 3, 60e6)
	s := shearSetup(23, 1000)
	var room *cuda.RoomError
	if _, err := s.NewStore(context.Background(), small, Measured{Bits: 64, Pairs: func(int, []float64, []float64) {}}); !errors.As(err, &room) || room.Needed < 92e6 {
		t.Errorf("on 60 MB: %v", err)
	} else {
		t.Log(err)
	}
}

// Where memory runs out in the middle there is an error with the numbers, nothing stays in use, and the next try succeeds; a run that is
// cancelled ends with the cause.
func TestShortMemoryOfStores(t *testing.T) {
	b, d, lib := fresh(t, 4, 1<<30)
	s := shearSetup(3, 70)
	m := Measured{Bits: 64, Pairs: func(_ int, y, _ []float64) {
		for i := range y {
			y[i] = 0.1
		}
	}}
	try := func() (*Store, *Sums, error) {
		store, err := s.NewStore(context.Background(), b, m)
		if err != nil {
			return nil, nil, err
		}
		sums, err := store.NewSums()
		if err != nil {
			store.Free()
		}
		return store, sums, err
	}
	failed := 0
	for after := range 6 {
		lib.Fail("cuMemAlloc_v2", after, 1000, int32(drv.OutOfMemory))
		store, sums, err := try()
		lib.Fail("cuMemAlloc_v2", 0, 0, 0)
		if err == nil {
			sums.Free()
			store.Free()
			continue
		}
		failed++
		var short *cuda.OutOfMemoryError
		if !errors.As(err, &short) || short.Requested == 0 {
			t.Errorf("after %d allocations: %v", after, err)
		}
	}
	if failed == 0 {
		t.Error("no allocation failed")
	}
	store, sums, err := try()
	if err != nil {
		t.Fatal(err)
	}
	want, got := gram(3, 7), gram(3, 7)
	if err := sums.Run(context.Background(), somewhere, true, want); err != nil {
		t.Fatal(err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if err := sums.Run(stopped, somewhere, true, got); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := sums.Run(context.Background(), somewhere, true, got); err != nil || !slices.EqualFunc(got, want, slices.Equal[[]float64]) {
		t.Errorf("after that: %v", err)
	}
	sums.Free()
	store.Free()
	t.Logf("%d B stay in use", d.Stats().Active)
}
