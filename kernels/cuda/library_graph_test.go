// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
)

// libraryWork is work of all libraries on two streams that join again. It reads x and writes the
// buffers of out, of which each has room for 64 float64 numbers.
type libraryWork struct {
	l    *Libraries
	side *Stream
	x    *Buffer
	out  [6]*Buffer
	info *Buffer
}

func newLibraryWork(t *testing.T, d *Device) *libraryWork {
	t.Helper()
	side, err := d.NewStream(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { side.Close() })
	w := &libraryWork{l: d.Libraries(), side: side, x: upload(t, d, Float64, random(64, 1)), info: alloc(t, d, nil, 64)}
	for i := range w.out {
		w.out[i] = alloc(t, d, nil, 64*8)
	}
	return w
}

func (w *libraryWork) free() {
	free(w.out[:]...)
	free(w.x, w.info)
}

func (w *libraryWork) run(s *Stream, alpha float64) error {
	l, o := w.l, w.out
	if err := w.side.waitFor(s); err != nil {
		return err
	}
	conv := Convolution{Type: Float64, N: 1, C: 1, H: 8, W: 8, K: 1, R: 3, S: 3, PadH: 1, PadW: 1}
	return errors.Join(
		l.MatMul(s, MatMul{Type: Float64, M: 8, N: 8, K: 8, A: w.x.At(0), B: w.x.At(0), C: o[0].At(0), Alpha: alpha}),
		l.MatMul(w.side, MatMul{Type: Float64, M: 8, N: 8, K: 8, A: w.x.At(0), B: w.x.At(0), C: o[1].At(0), TransA: true}),
		l.FFT(s, FFT{Type: Float64, Shape: []int{4, 8}}, o[2].At(0), o[0].At(0), false),
		l.FFT(w.side, FFT{Type: Float64, Shape: []int{4, 8}}, o[3].At(0), o[1].At(0), true),
		s.Copy(o[4], 0, w.x, 0, 512),
		l.LU(s, Float64, 8, o[4].At(0), w.info.At(0), w.info.At(32)),
		l.Convolve(s, conv, o[5].At(0), w.x.At(0), o[0].At(0)),
		s.waitFor(w.side))
}

func (w *libraryWork) results(t *testing.T, d *Device) []float64 {
	t.Helper()
	var all []float64
	for _, b := range w.out {
		all = append(all, download(t, d.Default(), Float64, b, 64)...)
	}
	return all
}

func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: number %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}

// What the libraries do is captured like kernels: replays give the bits of the same calls made directly,
// while the libraries go on with other work in workspaces of their own.
func TestLibrariesInGraphs(t *testing.T) {
	for seed := range 6 {
		t.Run("", func(t *testing.T) {
			p, d := withLibraries(t, seed)
			w := newLibraryWork(t, d)
			defer w.free()
			if err := w.run(d.Default(), 1); err != nil {
				t.Fatal(err)
			}
			want := w.results(t, d)
			g, err := d.Capture(func(s *Stream) error { return w.run(s, 1) })
			if err != nil {
				t.Fatal(err)
			}
			other, err := d.NewStream(0)
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			busy := alloc(t, d, nil, 64*8)
			defer busy.Free()
			for range 3 {
				p.Set("mode", pretend.Lazy) // so that much waits, which is then done in any order
				for _, b := range w.out {
					if err := d.Default().Fill(b, 0, 512, 0xFF); err != nil {
						t.Fatal(err)
					}
				}
				if err := other.waitFor(d.Default()); err != nil {
					t.Fatal(err)
				}
				if err := g.Launch(other); err != nil {
					t.Fatal(err)
				}
				for range 2 { // at the same time, on the stream from which the graph has its handle
					if err := w.l.MatMul(d.Default(), MatMul{Type: Float64, M: 8, N: 8, K: 8, A: w.x.At(0), B: w.x.At(0), C: busy.At(0)}); err != nil {
						t.Fatal(err)
					}
				}
				if err := d.Default().waitFor(other); err != nil {
					t.Fatal(err)
				}
				p.Set("mode", pretend.Random)
				same(t, "replay", w.results(t, d), want)
			}
			if err := g.Update(func(s *Stream) error { return w.run(s, 2) }); err != nil {
				t.Fatal(err)
			}
			if err := g.Launch(d.Default()); err != nil {
				t.Fatal(err)
			}
			if got := w.results(t, d); got[0] != 2*want[0] || got[70] != want[70] {
				t.Errorf("after the update: %g and %g, want %g and %g", got[0], got[70], 2*want[0], want[70])
			}
			failed := errors.New("on purpose")
			if err := g.Update(func(s *Stream) error { return errors.Join(w.run(s, 3), failed) }); !errors.Is(err, failed) {
				t.Errorf("got %v", err)
			}
			p.Set("mode", pretend.Lazy)
			if err := g.Launch(other); err != nil {
				t.Fatal(err)
			}
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			made := p.Get("cublasCreate_v2")
			if err := w.run(d.Default(), 2); err != nil { // with what the graph had, after its last launch
				t.Fatal(err)
			}
			p.Set("mode", pretend.Random)
			if got := w.results(t, d); got[0] != 2*want[0] {
				t.Errorf("after the graph: %g, want %g", got[0], 2*want[0])
			}
			if n := p.Get("cublasCreate_v2"); n != made {
				t.Errorf("%d handles more were made, although the graph gave two back", n-made)
			}
		})
	}
}

// A capture cannot make what it needs; it says what to do.
func TestLibrariesInFirstCapture(t *testing.T) {
	_, d := withLibraries(t, 1)
	w := newLibraryWork(t, d)
	defer w.free()
	m := MatMul{Type: Float64, M: 8, N: 8, K: 8, A: w.x.At(0), B: w.x.At(0), C: w.out[0].At(0)}
	work := func(s *Stream) error { return w.l.MatMul(s, m) }
	var e *CaptureError
	if _, err := d.Capture(work); !errors.As(err, &e) || e.Call != "Libraries" {
		t.Errorf("got %v", err)
	}
	if err := work(d.Default()); err != nil {
		t.Fatal(err)
	}
	first, err := d.Capture(work)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Capture(work); !errors.Is(err, ErrCapture) {
		t.Errorf("a second graph without a handle: %v", err)
	}
	if err := work(d.Default()); err != nil {
		t.Fatal(err)
	}
	second, err := d.Capture(work)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Launch(d.Default()), second.Launch(w.side), first.Close(), second.Close(), d.Synchronize(background)); err != nil {
		t.Fatal(err)
	}
}

// Streams that are closed leave their handles and plans to others.
func TestLibrariesOfClosedStreams(t *testing.T) {
	p, d := withLibraries(t, 2)
	w := newLibraryWork(t, d)
	defer w.free()
	for range 5 {
		s, err := d.NewStream(0)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.waitFor(d.Default()), w.run(s, 1), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if n := p.Get("cufftCreate"); n != 2 {
		t.Errorf("%d plans were made, want 2: one for the streams and one for the other", n)
	}
	if err := d.Synchronize(background); err != nil {
		t.Fatal(err)
	}
}

// Two pieces of work in one workspace are noticed by the pretend libraries, which is what the tests
// above rely on.
func TestPretendNoticesSharedWorkspaces(t *testing.T) {
	seen := false
	for seed := range 10 {
		p := pretend.LookPath(t)
		p.Libraries(t)
		p.Set("seed", seed)
		p.Set("mode", pretend.Lazy)
		s := newSystem()
		d, err := s.device(0, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		w := newLibraryWork(t, d)
		m := MatMul{Type: Float64, M: 8, N: 8, K: 8, A: w.x.At(0), B: w.x.At(0), C: w.out[0].At(0)}
		var lost error
		for i := 0; i < 8 && lost == nil; i++ {
			from, to := d.Default(), w.side
			if i%2 == 1 {
				from, to = to, from
			}
			lost = w.l.MatMul(from, m)
			for at, tool := range w.l.bound { // the other stream takes the same tools, without waiting
				tool.used = false
				delete(w.l.bound, at)
				at.stream = to
				w.l.bound[at] = tool
			}
		}
		p.Set("mode", pretend.Random)
		seen = seen || errors.Is(errors.Join(lost, d.Synchronize(background)), ErrDeviceLost)
		w.side.Close()
		d.Close()
	}
	if !seen {
		t.Error("nothing was noticed")
	}
}

// A graph that takes a handle over from a stream works after that stream's last call, and a stream that
// takes it back after the graph's last launch, on whatever streams they are.
func TestHandlesChangeHandsInOrder(t *testing.T) {
	for seed := range 8 {
		t.Run("", func(t *testing.T) {
			p, d := withLibraries(t, seed)
			w := newLibraryWork(t, d)
			defer w.free()
			work := func(to int) func(*Stream) error {
				return func(s *Stream) error {
					return w.l.MatMul(s, MatMul{Type: Float64, M: 8, N: 8, K: 8, A: w.x.At(0), B: w.x.At(0), C: w.out[to].At(0)})
				}
			}
			if err := d.Synchronize(background); err != nil {
				t.Fatal(err)
			}
			p.Set("mode", pretend.Lazy)
			for range 4 {
				if err := work(0)(d.Default()); err != nil {
					t.Fatal(err)
				}
				g, err := d.Capture(work(1))
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(g.Launch(w.side), g.Close(), work(2)(d.Default())); err != nil {
					t.Fatal(err)
				}
			}
			p.Set("mode", pretend.Random)
			all := w.results(t, d)
			same(t, "the graph", all[64:128], all[:64])
			same(t, "the stream", all[128:192], all[:64])
		})
	}
}
