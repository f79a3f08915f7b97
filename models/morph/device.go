// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"context"
	"sync/atomic"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// faults is the context of a fit that ends when a GPU fails. Optimisers take an error of an evaluation for a
// point that cannot be simulated and try others, which is of no use then; a context that has ended makes them
// return what they have.
type faults struct {
	context.Context
	first atomic.Pointer[error]
}

// Err returns the first failure of a GPU, or the reason why the fit's own context ended.
func (w *faults) Err() error {
	if err := w.first.Load(); err != nil {
		return *err
	}
	return w.Context.Err()
}

// seen looks at the error of an evaluation and returns it.
func (w *faults) seen(err error) error {
	if err != nil && ad.IsDeviceFault(err) {
		w.first.CompareAndSwap(nil, &err)
	}
	return err
}

// failed returns the failure of the GPU, or nil.
func (w *faults) failed() error {
	if err := w.first.Load(); err != nil {
		return *err
	}
	return nil
}
