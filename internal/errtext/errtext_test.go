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

func TestCount(t *testing.T) {
	for want, got := range map[string]string{"0 points": Count(0, "point"), "1 point": Count(1, "point"), "2 points": Count(2, "point"),
		"was": Agree(1, "was", "were"), "were": Agree(0, "was", "were"),
		"its only bin is 3": Choose(1, "bin", 3, 3), "choose one of its 2 bins, from 1 to 4": Choose(2, "bin", 1, 4)} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWithout(t *testing.T) {
	cause := errors.New("disk full")
	err := fmt.Errorf("dist: %w", cause)
	if got := Without("dist: ", err); got.Error() != "disk full" || !errors.Is(got, cause) || !errors.Is(got, err) {
		t.Error(got)
	}
	if Without("g2: ", err) != err || Without("g2: ", nil) != nil {
		t.Error("an error without the prefix has changed")
	}
}
