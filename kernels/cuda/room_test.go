// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
)

// A computation may fill four fifths of a device, and is refused with the numbers before it begins where it
// needs more.
func TestRoom(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("memory", 100<<20)
	d := device(t, lib, Settings{Allocator: Direct})
	if room, err := d.Room(); err != nil || room>>20 != 80 {
		t.Errorf("%d bytes of 100 MiB are left: %v", room, err)
	}
	b := alloc(t, d, nil, 30<<20)
	if room, err := d.Room(); err != nil || room>>20 != 50 {
		t.Errorf("%d bytes are left after 30 MiB: %v", room, err)
	}
	if err := d.Fits("a volume", 40<<20); err != nil {
		t.Errorf("40 MiB do not fit: %v", err)
	}
	err := d.Fits("a volume", 60<<20)
	var e *RoomError
	if !errors.As(err, &e) || !errors.Is(err, ErrOutOfMemory) || e.Needed != 60<<20 || !strings.Contains(err.Error(), "a volume needs at least 60.0 MiB of device 0") {
		t.Errorf("60 MiB: %v", err)
	}
	alloc(t, d, nil, 65<<20) // more than planned computations take
	if room, err := d.Room(); err != nil || room != 5<<20/4 {
		t.Errorf("%d bytes are left of a full device: %v, want a quarter of 5 MiB", room, err)
	}
	b.Free()
}

// Every byte that crosses the bus is counted, and what was freed counts as room.
func TestTrafficIsCounted(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	before, err := d.Room()
	if err != nil {
		t.Fatal(err)
	}
	b := alloc(t, d, make([]float32, 1000), 4000)
	floats(t, d.Default(), b, 10)
	p, err := d.AllocPinned(64)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.CopyIn(background, b, 0, p), d.CopyOut(background, p, b, 0), d.Synchronize(background)); err != nil {
		t.Fatal(err)
	}
	if st := d.Stats(); st.Sent != 4064 || st.Fetched != 104 || st.Copies != 4 {
		t.Errorf("sent %d, fetched %d in %d copies: want 4064, 104, 4", st.Sent, st.Fetched, st.Copies)
	}
	b.Free()
	if after, err := d.Room(); err != nil || after != before {
		t.Errorf("room of %d bytes, %d before: %v", after, before, err)
	}
	d.ResetPeak()
	if st := d.Stats(); st.Sent+st.Fetched+st.Copies != 0 {
		t.Errorf("%+v after ResetPeak", st)
	}
	p.Free()
}

// The counting device takes what no machine that tests has.
func TestCountingDevice(t *testing.T) {
	lib := pretend.LookPath(t)
	d := systemDevice(t, lib, newSystem(), lib.Count(t, 141_000_000_000), Settings{})
	b := alloc(t, d, make([]float64, 1000), 100<<30)
	if st := d.Stats(); st.PeakActive < 100<<30 || st.Sent != 8000 {
		t.Errorf("%+v", st)
	}
	if _, err := d.Alloc(40 << 30); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("140 GiB of 131: %v", err)
	}
	if err := errors.Join(d.Default().Fill(b, 50<<30, 1<<30, 1), d.Synchronize(background)); err != nil {
		t.Error(err)
	}
	b.Free()
}
