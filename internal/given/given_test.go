// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package given

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestArgs(t *testing.T) {
	var none *int
	var f func()
	var ctx context.Context
	for want, named := range map[string][]any{
		"":                              {"n", 0, "list", []int(nil), "ctx", context.Background()},
		"p.F: the argument ctx is nil":  {"n", 1, "ctx", ctx},
		"p.F: the argument none is nil": {"none", none, "f", f},
		"p.F: the argument f is nil":    {"f", f},
	} {
		got := ""
		if err := Args("p.F", named...); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCaughtAs(t *testing.T) {
	fails := func(what any) (err error) {
		defer CaughtAs(&err, func(err error) error { return fmt.Errorf("chain 3: %w", err) })
		if what != nil {
			panic(what)
		}
		return nil
	}
	var p *PanicError
	if err := fails("oh"); !errors.As(err, &p) || p.Value != "oh" || p.Stack == "" || err.Error()[:8] != "chain 3:" {
		t.Error(err)
	}
	if err := fails(nil); err != nil {
		t.Error(err)
	}
}
