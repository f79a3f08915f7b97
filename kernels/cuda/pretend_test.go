// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
)

var background = context.Background()

// device opens device 0 of the pretend driver, and after the test closes it and looks for what was
// not given back. A device that a test has lost gives nothing back.
func device(t testing.TB, lib *pretend.Library, o Settings) *Device {
	t.Helper()
	return systemDevice(t, lib, newSystem(), 0, o)
}

func systemDevice(t testing.TB, lib *pretend.Library, s *system, ordinal int, o Settings) *Device {
	t.Helper()
	d, err := s.device(ordinal, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		lost := d.lost.Load() != nil
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if n := lib.Get("leaks"); n != 0 && !lost {
			t.Errorf("%d things were not given back to the driver", n)
		}
	})
	return d
}

// alloc returns a buffer that holds some numbers.
func alloc(t testing.TB, d *Device, values any, bytes int) *Buffer {
	t.Helper()
	b, err := d.Alloc(bytes)
	if err != nil {
		t.Fatal(err)
	}
	if values != nil {
		if err := d.CopyIn(background, b, 0, values); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// floats copies n float32 numbers out of a buffer.
func floats(t testing.TB, s *Stream, b *Buffer, n int) []float32 {
	t.Helper()
	out := make([]float32, n)
	if err := s.CopyOut(background, out, b, 0); err != nil {
		t.Fatal(err)
	}
	return out
}
