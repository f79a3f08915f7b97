// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook

import (
	"errors"
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Compare ranks posteriors of the same data by how well they would predict new data, using
// leave-one-out cross-validation. The result displays itself as a table.
func Compare(list ...*Posterior) diag.Comparison {
	ctx, end := interruptible()
	defer end()
	var names []string
	var all []diag.ELPD
	for _, p := range list {
		if p == nil {
			must("Compare", fmt.Errorf("posterior %d is nil: sample it first", len(names)+1))
		}
		if ctx.Err() != nil {
			must("Compare", errors.New("the comparison was interrupted: run the cell again"))
		}
		if n := p.shortest(); n < 10 {
			must("Compare "+p.Name, fmt.Errorf("the shortest chain has %s: want at least some hundreds; draw more with Continue", errtext.Count(n, "draw")))
		}
		if len(all) > 0 {
			must("Compare", sameData(list[0], p))
		}
		e, err := p.Fit.LOO("", diag.LOOSettings{})
		must("Compare "+p.Name, err)
		names, all = append(names, p.Name), append(all, e)
	}
	c, err := diag.Compare(names, all, diag.CompareSettings{})
	must("Compare", err)
	return c
}

// sameData is an error if two posteriors are of different data: what they predict of these cannot be
// compared.
func sameData(a, b *Posterior) error {
	x, err := a.Fit.Observed()
	if err != nil {
		return err
	}
	y, err := b.Fit.Observed()
	if err != nil {
		return err
	}
	if !slices.Equal(sorted(x), sorted(y)) {
		return fmt.Errorf("%s and %s are posteriors of different data, which cannot be compared: fit both models to the same data", a.Name, b.Name)
	}
	return nil
}

// sorted returns all observed values in one order, whatever the observations are called and however
// they are parted.
func sorted(observed map[string][]float64) []float64 {
	var all []float64
	for _, v := range observed {
		all = append(all, v...)
	}
	slices.Sort(all)
	return all
}
