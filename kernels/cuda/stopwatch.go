package cuda

import (
	"context"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Stopwatch times work of one stream by events of the device. It is not safe for concurrent use.
type Stopwatch struct {
	s        *Stream
	from, to drv.Event
}

// Stopwatch makes a stopwatch, which Close gives back.
func (s *Stream) Stopwatch() (*Stopwatch, error) {
	w := &Stopwatch{s: s}
	err := s.do(func() (err error) {
		if w.from, err = s.d.drv.EventCreate(true); err == nil {
			w.to, err = s.d.drv.EventCreate(true)
		}
		return s.d.check(err, s)
	})
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Close gives the events back.
func (w *Stopwatch) Close() {
	w.s.d.do(func() error {
		for _, e := range []drv.Event{w.from, w.to} {
			if e != 0 {
				w.s.d.drv.EventDestroy(e)
			}
		}
		w.from, w.to = 0, 0
		return nil
	})
}

// Time returns the milliseconds that the device spends on what f puts on the stream, and waits for it.
func (w *Stopwatch) Time(ctx context.Context, f func() error) (float64, error) {
	d := w.s.d
	record := func(e drv.Event) error {
		return w.s.do(func() error { return d.check(d.drv.EventRecord(e, w.s.handle), w.s) })
	}
	if err := record(w.from); err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	if err := record(w.to); err != nil {
		return 0, err
	}
	if err := w.s.wait(ctx); err != nil {
		return 0, err
	}
	var ms float64
	err := d.do(func() (err error) {
		ms, err = d.drv.EventElapsed(w.from, w.to)
		return d.check(err, w.s)
	})
	return ms, err
}
