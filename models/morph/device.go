package morph

import (
	"context"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// faults ends a fit when a GPU fails. Optimisers take an error of an evaluation for a point that cannot be
// simulated and try others, which is of no use then; a cancelled context makes them return what they have.
type faults struct {
	stop  context.CancelCauseFunc
	first error
}

// watch returns a context that ends with the first failure of a GPU.
func watch(ctx context.Context) (context.Context, *faults) {
	w := &faults{}
	ctx, w.stop = context.WithCancelCause(ctx)
	return ctx, w
}

// seen looks at the error of an evaluation and returns it.
func (w *faults) seen(err error) error {
	if err != nil && w.first == nil && ad.IsDeviceFault(err) {
		w.first = err
		w.stop(err)
	}
	return err
}

// cause returns the failure of the GPU if there was one, and else what the optimiser returned.
func (w *faults) cause(err error) error {
	if w.first != nil {
		return w.first
	}
	return err
}
