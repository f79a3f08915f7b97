// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package errtext

import (
	"errors"
	"fmt"
	"testing"
)

func TestJoin(t *testing.T) {
	said, other := errors.New("said"), errors.New("disk full")
	for want, got := range map[string]string{
		"zarr: run.zarr: cannot be written: disk full: free some": Join("zarr", "run.zarr", "cannot be written", Cause(other, said), "free some"),
		"zarr: too long":  Join("zarr", "", "too long", Cause(said, other, said), Cause(nil)),
		"said: disk full": Cause(fmt.Errorf("%w: %w", said, other), said),
		"":                Join(),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
