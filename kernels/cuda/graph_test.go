// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/dl"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// graphWork is a small program on two streams that join again.
func graphWork(t *testing.T, d *Device, m *Module, x, y, out *Buffer, factor float32) func(*Stream) error {
	side, err := d.NewStream(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { side.Close() })
	scaled, sums := kernel(t, m, "scaled"), kernel(t, m, "block_sums")
	return func(s *Stream) error {
		fork, err := s.Record()
		if err != nil {
			return err
		}
		err = errors.Join(side.Wait(fork),
			scaled.Launch(s, Dim{X: 4}, Dim{X: 256}, 0, x, factor, int32(1000)),
			scaled.Launch(side, Dim{X: 4}, Dim{X: 256}, 0, y, float32(0.5), int32(1000)),
			sums.Launch(side, Dim{X: 4}, Dim{X: 256}, 1024, y, out, int32(1000)))
		if err != nil {
			return err
		}
		join, err := side.Record()
		if err != nil {
			return err
		}
		return errors.Join(s.Wait(join), s.Copy(x, 0, out, 0, 16))
	}
}

// Replays give the same bits as running the same calls directly, in every order of independent work.
func TestReplayEqualsEager(t *testing.T) {
	lib := pretend.LookPath(t)
	for seed := range 4 {
		t.Run("", func(t *testing.T) {
			lib.Reset()
			lib.Set("seed", seed)
			lib.Set("order", seed%3)
			d := device(t, lib, Settings{})
			m, err := d.Compile(sample())
			if err != nil {
				t.Fatal(err)
			}
			checkReplay(t, d, m)
		})
	}
}

func checkReplay(t *testing.T, d *Device, m *Module) {
	t.Helper()
	run := func(replay bool) []float32 {
		x, y, out := alloc(t, d, wave(1000, 0.1), 4000), alloc(t, d, wave(1000, 0.3), 4000), alloc(t, d, nil, 16)
		defer x.Free()
		defer y.Free()
		defer out.Free()
		work := graphWork(t, d, m, x, y, out, 1.25)
		step := func() error { return work(d.Default()) }
		if replay {
			g, err := d.Capture(work)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			step = func() error { return g.Launch(d.Default()) }
		}
		for range 3 {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
		return append(floats(t, d.Default(), x, 1000), floats(t, d.Default(), y, 1000)...)
	}
	eager, replayed := run(false), run(true)
	for i := range eager {
		if eager[i] != replayed[i] {
			t.Fatalf("element %d is %g eagerly and %g replayed", i, eager[i], replayed[i])
		}
	}
}

// What a graph cannot do is refused by name, also if the captured function ignores the error.
func TestCaptureRefuses(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	b := alloc(t, d, nil, 64)
	defer b.Free()
	event, err := d.Default().Record()
	if err != nil {
		t.Fatal(err)
	}
	other := rtc.Source{Name: "other.cu", Text: "extern \"C\" __global__ void other() {}\n"}
	for call, f := range map[string]func(s *Stream) error{
		"Device.Alloc":       func(*Stream) error { _, err := d.Alloc(16); return err },
		"Device.Synchronize": func(*Stream) error { return d.Synchronize(background) },
		"Stream.Synchronize": func(s *Stream) error { return s.Synchronize(background) },
		"Device.Compile":     func(*Stream) error { _, err := d.Compile(other); return err },
		"Device.Load":        func(*Stream) error { _, err := d.Load(nil, "x"); return err },
		"CopyIn":             func(s *Stream) error { return s.CopyIn(background, b, 0, []byte{1}) },
		"CopyOut":            func(s *Stream) error { return s.CopyOut(background, []byte{1}, b, 0) },
		"Device.AllocPinned": func(*Stream) error { _, err := d.AllocPinned(16); return err },
		"Device.Trim":        func(*Stream) error { return d.Trim() },
		"Event.Done":         func(*Stream) error { _, err := event.Done(); return err },
		"Device.Capture":     func(*Stream) error { _, err := d.Capture(func(*Stream) error { return nil }); return err },
	} {
		var inner error
		_, err := d.Capture(func(s *Stream) error { inner = f(s); return nil })
		var e *CaptureError
		if !errors.Is(err, ErrCapture) || !errors.As(err, &e) || e.Call != call || !errors.Is(inner, ErrCapture) || !strings.Contains(err.Error(), call) {
			t.Errorf("%s: got %v, and inside %v", call, err, inner)
		}
	}
	// Afterwards everything works, and other goroutines were never held up.
	side, err := d.NewStream(0)
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close()
	g, err := d.Capture(func(s *Stream) error {
		fork, err := s.Record()
		if err == nil {
			err = side.Wait(fork)
		}
		if err != nil {
			return err
		}
		done := make(chan error)
		go func() {
			b, err := d.Alloc(1 << 21)
			if err == nil {
				err = errors.Join(d.CopyIn(background, b, 0, make([]byte, 1<<21)), d.Synchronize(background))
				b.Free()
			}
			done <- err
		}()
		return errors.Join(<-done, s.Fill(b, 0, 64, 1))
	})
	if err != nil {
		t.Fatalf("another goroutine was held up: %v", err)
	}
	g.Close()
	failed := errors.New("the user's")
	if _, err := d.Capture(func(*Stream) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	func() {
		defer func() { recover() }()
		d.Capture(func(*Stream) error { panic("the user's") })
	}()
	if _, err := d.Alloc(0); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}

// A graph keeps its buffers, and takes new arguments.
func TestGraphKeepsBuffersAndUpdates(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("mode", pretend.Lazy)
	d := device(t, lib, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	f := kernel(t, m, "scaled")
	x, y := alloc(t, d, []float32{1, 2, 3, 4}, 16), alloc(t, d, nil, 16)
	defer y.Free()
	times := func(factor float32, more bool) func(s *Stream) error {
		return func(s *Stream) error {
			err := f.Launch(s, Dim{X: 1}, Dim{X: 4}, 0, x, factor, int32(4))
			if more {
				err = errors.Join(err, s.Fill(y, 0, 16, 0))
			}
			return errors.Join(err, s.Copy(y, 0, x, 0, 16))
		}
	}
	g, err := d.Capture(times(2, false))
	if err != nil {
		t.Fatal(err)
	}
	check := func(want float32) {
		t.Helper()
		if err := g.Launch(d.Default()); err != nil {
			t.Fatal(err)
		}
		if got := floats(t, d.Default(), y, 4); got[0] != want || got[3] != 4*want {
			t.Fatalf("got %v, want %g times 1 to 4", got, want)
		}
	}
	check(2)
	if err := g.Update(times(10, false)); err != nil {
		t.Fatal(err)
	}
	check(20)
	if n := lib.Get("cuGraphInstantiateWithFlags"); n != 1 {
		t.Errorf("a graph of the same shape was made %d times", n)
	}
	if err := g.Update(times(0.5, true)); err != nil {
		t.Fatal(err)
	}
	check(10)
	if n := lib.Get("cuGraphInstantiateWithFlags"); n != 2 {
		t.Errorf("a graph of another shape was made %d times in all", n)
	}
	x.Free() // the graph still uses it
	z := alloc(t, d, []float32{9, 9, 9, 9}, 16)
	defer z.Free()
	if z.Uintptr() == x.Uintptr() {
		t.Error("memory of a graph was given out again")
	}
	check(5)
	if err := errors.Join(g.Close(), g.Close()); err != nil {
		t.Fatal(err)
	}
	if err := g.Launch(d.Default()); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	if st := d.Stats(); st.Active != 1024 {
		t.Errorf("after Close %d B are in use", st.Active)
	}
}

func TestGraphKeepsArguments(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	x := alloc(t, d, nil, 16)
	g, err := d.Capture(func(s *Stream) error {
		return kernel(t, m, "scaled").Launch(s, Dim{X: 1}, Dim{X: 4}, 0, x, float32(2), int32(4))
	})
	if err != nil {
		t.Fatal(err)
	}
	x.Free()
	y := alloc(t, d, nil, 16)
	if y.Uintptr() == x.Uintptr() {
		t.Error("an argument of a graph was given out again")
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	z := alloc(t, d, nil, 16)
	if z.Uintptr() != x.Uintptr() {
		t.Error("an argument of a closed graph is not given out again")
	}
	y.Free()
	z.Free()
}

func TestUnjoinedCaptureFails(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	b := alloc(t, d, nil, 64)
	defer b.Free()
	side, err := d.NewStream(0)
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close()
	_, err = d.Capture(func(s *Stream) error {
		fork, err := s.Record()
		if err != nil {
			return err
		}
		return errors.Join(side.Wait(fork), side.Fill(b, 0, 64, 1))
	})
	if err == nil || !strings.Contains(err.Error(), "UNJOINED") {
		t.Errorf("got %v", err)
	}
	if err := errors.Join(side.Fill(b, 0, 64, 2), side.Synchronize(background)); err != nil {
		t.Errorf("afterwards the stream does not work: %v", err)
	}
}

func TestOldDriverHasNoGraphs(t *testing.T) {
	lib := pretend.LookPath(t)
	t.Setenv(dl.Variable("CUDA"), lib.Old)
	sys := newSystem()
	d, err := sys.device(0, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Capture(func(*Stream) error { return nil }); !errors.Is(err, ErrUnsupported) {
		t.Errorf("Capture: got %v, want ErrUnsupported", err)
	}
	if _, err := sys.device(1, Settings{Allocator: Async}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("Async: got %v, want ErrUnsupported", err)
	}
}

// A device that is lost while a graph is captured does not leave the capture on the thread, whose other devices go on.
func TestLostInCapture(t *testing.T) {
	lib := pretend.LookPath(t)
	s := newSystem()
	d, other := systemDevice(t, lib, s, 0, Settings{}), systemDevice(t, lib, s, 1, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	x := alloc(t, d, make([]float32, 1000), 4000)
	scaled := kernel(t, m, "scaled")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, err = d.Capture(func(on *Stream) error {
		lib.Fail("cuLaunchKernel", 0, 1, 719)
		return scaled.Launch(on, Dim{X: 4}, Dim{X: 256}, 0, x, float32(2), int32(1000))
	})
	if !errors.Is(err, ErrDeviceLost) {
		t.Fatalf("%v: want a lost device", err)
	}
	b, err := other.Alloc(100 << 20)
	if err != nil {
		t.Fatalf("the other device: %v", err)
	}
	b.Free()
}
