// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
)

// Nodes that are nil are named.
func TestNilNodes(t *testing.T) {
	x := ad.Input("x")
	for want, f := range map[string]func() error{
		"optim.FromModel: the argument model is nil": func() error {
			_, err := optim.FromModel(nil, []*ad.Node{x}, optim.Observed{Y: []float64{1}})
			return err
		},
		"optim.FromModel: the argument params[1] is nil": func() error {
			_, err := optim.FromModel(x, []*ad.Node{x, nil}, optim.Observed{Y: []float64{1}})
			return err
		},
		"optim.FromGraph: the argument residual is nil":  func() error { _, err := optim.FromGraph(nil, []*ad.Node{x}); return err },
		"optim.FromGraph: the argument params[0] is nil": func() error { _, err := optim.FromGraph(x, []*ad.Node{nil}); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
