// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"fmt"
	"sync/atomic"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim/internal/batch"
)

// devices returns what fits the rows on GPUs, one for each; nil where the backend means the processor.
func (w *work) devices(backend ad.Backend) (parts []part, err error) {
	if backend == nil || w.data.Count == 0 {
		return nil, nil
	}
	all := ad.Spread(backend)
	share := (w.data.Count + len(all) - 1) / len(all)
	weighted, robust := w.variant.weighted, w.plain != nil
	least := batch.PlanFor(&w.b.model, 1, weighted, robust, 0)
	most := batch.PlanFor(&w.b.model, share, weighted, robust, 0)
	for _, one := range all {
		d, err := ad.DeviceFor(one, ad.Need{Name: fmt.Sprintf("%d fits of %d residuals and %d parameters", w.data.Count, w.b.model.M, w.b.model.N), Work: most.Bytes, Least: least.Bytes})
		if err != nil {
			return nil, err
		}
		if d == nil {
			return nil, nil
		}
		room, err := d.Room()
		if err != nil {
			return nil, err
		}
		p := batch.PlanFor(&w.b.model, share, weighted, robust, max(1, int(room))) // 0 would be no bound
		prog, err := w.b.program(w.variant, d, p.Lanes)
		if err != nil {
			return nil, err
		}
		w.res.Devices = append(w.res.Devices, d.String())
		parts = append(parts, func(ctx context.Context, next *atomic.Int64, tell func(int)) error {
			v, err := batch.NewDevice(d, &w.b.model, prog, w.prog, w.plain, &w.data, &w.limits, w.fits, p, max(1, w.s.Threads/len(all)))
			if err != nil {
				return err
			}
			defer v.Close()
			err = v.Work(ctx, next, tell)
			w.res.lock.Lock()
			w.res.Left += v.Left()
			w.res.lock.Unlock()
			return err
		})
	}
	return parts, nil
}
