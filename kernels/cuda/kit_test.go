// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
)

// What follows the first error is not started, and that error is the one that is told.
func TestLauncherKeepsTheFirstError(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	l := Launcher{Module: m, Stream: d.Default()}
	b := Buffers{Device: d}
	defer b.Free()
	x, err := b.Put(t.Context(), l.Stream, []float32{1, 2, 3}, "numbers")
	if err != nil {
		t.Fatal(err)
	}
	zeros, err := b.Zeros(l.Stream, 12, "zeros")
	if err != nil {
		t.Fatal(err)
	}
	l.Run("scaled", Blocks(3, 16), 16, x, float32(2), int32(3))
	l.Run("nothing", Dim{X: 1}, 16)
	l.Run("scaled", Blocks(3, 16), 16, x, float32(2), int32(3))
	if n := lib.Get("cuLaunchKernel"); n != 1 {
		t.Errorf("the driver saw %d launches, want 1", n)
	}
	if err := l.Done(); err == nil || !strings.Contains(err.Error(), "nothing") || l.Failed() {
		t.Errorf("the error is %v, want one about a kernel that does not exist, and none after it is told", err)
	}
	got, none := make([]float32, 3), []float32{1, 1, 1}
	if err := l.Stream.CopyOut(t.Context(), none, zeros, 0); err != nil || slices.Max(none) != 0 {
		t.Errorf("zeros: %v, %v", none, err)
	}
	if err := l.Stream.CopyOut(t.Context(), got, x, 0); err != nil || !slices.Equal(got, []float32{2, 4, 6}) {
		t.Errorf("doubled: %v, %v", got, err)
	}
	b.Free()
	if bytes := d.Stats().Active; bytes != 0 {
		t.Errorf("%d bytes are in use after Free", bytes)
	}
}
