// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// A buffer that another stream still reads is not given out again, also if no event can be recorded.
func TestFreeWithoutEvent(t *testing.T) {
	for _, call := range []string{"cuEventRecord", "cuEventCreate"} {
		lib := pretend.LookPath(t)
		lib.Set("mode", pretend.Lazy)
		d := device(t, lib, Settings{})
		s, err := d.NewStream(0)
		if err != nil {
			t.Fatal(err)
		}
		old := []float32{1, 2, 3, 4}
		from, to := alloc(t, d, old, 16), alloc(t, d, nil, 16)
		if err := errors.Join(d.Synchronize(background), s.Copy(to, 0, from, 0, 16)); err != nil {
			t.Fatal(err)
		}
		d.events.free = nil // so that one must be made
		lib.Fail(call, 0, 1, int32(drv.InvalidValue))
		at := from.Uintptr()
		from.Free()
		again := alloc(t, d, []float32{9, 9, 9, 9}, 16)
		if again.Uintptr() != at {
			t.Fatal("the test needs the same memory again")
		}
		if err := d.Default().Synchronize(background); err != nil {
			t.Fatal(err)
		}
		if got := floats(t, s, to, 4); !slices.Equal(got, old) {
			t.Errorf("%s: the copy of a freed buffer gave %v, want %v", call, got, old)
		}
	}
}

// Page-locked memory whose copy has no event is not used for the next copy before that one has ended.
func TestStagingWithoutEvent(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("mode", pretend.Lazy)
	d := device(t, lib, Settings{})
	const n = 1 << 18
	fill := func(v float32) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = v
		}
		return x
	}
	first, second := alloc(t, d, fill(1), 4*n), alloc(t, d, nil, 4*n)
	if err := d.Synchronize(background); err != nil {
		t.Fatal(err)
	}
	lib.Fail("cuEventRecord", 1, 1, int32(drv.InvalidValue)) // after that which lets the copy wait for the stream
	if err := d.CopyOut(background, make([]float32, n), first, 0); !errors.Is(err, drv.InvalidValue) {
		t.Fatalf("CopyOut: %v", err)
	}
	if err := d.CopyIn(background, second, 0, fill(2)); err != nil {
		t.Fatal(err)
	}
	if got := floats(t, d.Default(), second, n); got[0] != 2 || got[n-1] != 2 {
		t.Errorf("got %g ... %g, want 2", got[0], got[n-1])
	}
}

// What cannot be given back at once is given back later.
func TestFreeWithoutContext(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	b := alloc(t, d, nil, 1000)
	g, err := d.Capture(func(s *Stream) error { return s.Fill(b, 0, 1000, 0) })
	if err != nil {
		t.Fatal(err)
	}
	lib.Fail("cuCtxSetCurrent", 0, 2, int32(drv.InvalidValue))
	b.Free()
	if err := g.Close(); !errors.Is(err, drv.InvalidValue) {
		t.Errorf("Graph.Close: %v", err)
	}
	alloc(t, d, nil, 8).Free()
	if st := d.Stats(); st.Active != 0 {
		t.Errorf("%d bytes are in use, want none", st.Active)
	}
	s, err := d.NewStream(0)
	if err != nil {
		t.Fatal(err)
	}
	lib.Fail("cuStreamSynchronize", 0, 1, int32(drv.InvalidValue))
	if err := s.Close(); !errors.Is(err, drv.InvalidValue) {
		t.Errorf("Stream.Close: %v", err)
	}
}

// A buffer that fits into what is left is not refused because a slab for many does not.
func TestLastMemory(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("memory", 15<<20)
	d := device(t, lib, Settings{})
	var held []*Buffer
	for _, bytes := range []int{3 << 20, 9 << 20, 2 << 20} {
		held = append(held, alloc(t, d, nil, bytes))
	}
	if _, err := d.Alloc(2 << 20); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("more than there is: %v", err)
	}
	runtime.KeepAlive(held)
}
