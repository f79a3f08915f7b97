// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/models/g2"
)

// loadCurves reads the bins of a result file (HDF5) or of a table (CSV).
func loadCurves(path string) ([]g2.Curve, error) {
	curves, err := g2.OpenCurves(path)
	return curves, exit.Input(err)
}

// pickBins selects the bins of a file named by a list such as "3,5-7"; "all" selects
// every bin, and a bin named twice is selected once.
func pickBins(file string, curves []g2.Curve, list string) ([]g2.Curve, error) {
	if list == "" || list == "all" {
		return curves, nil
	}
	var want []int
	seen := map[int]bool{}
	for _, part := range strings.Split(list, ",") {
		lo, hi, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.Atoi(lo)
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(hi)
		}
		if err != nil || a < 1 || b < a || b-a > 1e6 {
			return nil, exit.Usage("bins %q: want numbers from 1 and ranges, such as 3,5-7, or all", list)
		}
		for k := a; k <= b; k++ {
			if !seen[k] {
				want = append(want, k)
			}
			seen[k] = true
		}
	}
	var out []g2.Curve
	for _, k := range want {
		i := slices.IndexFunc(curves, func(c g2.Curve) bool { return c.Bin == k })
		if i < 0 {
			return nil, exit.With(exit.Data, fmt.Errorf("%s has no bin %d: %s", file, k, choices(curves)))
		}
		out = append(out, curves[i])
	}
	return out, nil
}

// choices says which bins there are.
func choices(curves []g2.Curve) string {
	return errtext.Choose(len(curves), "bin", curves[0].Bin, curves[len(curves)-1].Bin)
}
