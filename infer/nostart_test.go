// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

// A model without a place to start is one error, however many chains there are.
func TestNoStartIsSaidOnce(t *testing.T) {
	m := infer.NewModel("negative")
	a := m.Param("a", dist.Normal(0, 1))
	m.Observe("y", dist.Normal(a, ad.Neg(ad.Exp(a))), []float64{1, 2}) // a standard deviation below 0
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	_, err = infer.Sample(context.Background(), post, infer.Settings{Seed: 1})
	var start *infer.InitError
	if !errors.As(err, &start) || strings.Count(err.Error(), "found no start") != 1 {
		t.Errorf("%v", err)
	}
}
