// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"time"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Elapsed returns the time that the work which a function puts on the stream takes, measured by
// events of the device before and after it. If the stream was idle, the host's time until the first
// launch is included, so put much work on it at once if a single piece takes microseconds.
func (s *Stream) Elapsed(ctx context.Context, work func() error) (time.Duration, error) {
	d := s.d
	if err := d.refuse("Stream.Elapsed", "the work runs only when the graph is launched: time the launch instead"); err != nil {
		return 0, err
	}
	var at [2]drv.Event
	defer d.do(func() error {
		for _, e := range at {
			if e != 0 {
				d.drv.EventDestroy(e)
			}
		}
		return nil
	})
	mark := func(i int) error {
		return s.do(func() (err error) {
			if at[i], err = d.drv.EventCreate(true); err == nil {
				err = d.drv.EventRecord(at[i], s.handle)
			}
			return d.check(err, s)
		})
	}
	if err := mark(0); err != nil {
		return 0, err
	}
	if err := work(); err != nil {
		return 0, err
	}
	if err := mark(1); err != nil {
		return 0, err
	}
	if err := s.Synchronize(ctx); err != nil {
		return 0, err
	}
	var ms float64
	err := d.do(func() (err error) {
		ms, err = d.drv.EventElapsed(at[0], at[1])
		return d.check(err, s)
	})
	return time.Duration(ms * float64(time.Millisecond)), err
}
