// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package parallel_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/parallel"
)

// A panic in a worker can be caught where the work was asked for, and tells where it began.
func TestPanicReachesCaller(t *testing.T) {
	work := func() (err error) {
		defer given.Caught(&err)
		parallel.Do(3, 1000, func(_, i int) {
			if i == 17 {
				panic("no item 17")
			}
		})
		return nil
	}
	var p *given.PanicError
	if err := work(); !errors.As(err, &p) || p.Value != "no item 17" || !strings.Contains(err.Error(), "panic_test.go:2") {
		t.Error(err)
	}
}
