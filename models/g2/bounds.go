// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer/check"
)

// beyondChance is the number of standard errors by which the data have to take a parameter beyond its bound to warn of it: where the truth is at the
// bound, half of all fits end there.
const beyondChance = 3

// otherTerm is what to do where the data take a parameter beyond what it can be.
const otherTerm = "check the normalisation, the mask and the errors, or use another model, as the parameter can be no more or less"

// bounded drops warnings of parameters on bounds that chance or rounding explains, and that the data do not determine, of which others tell, and gives those on the
// bounds of what a parameter can be another remedy.
func (f *Fit) bounded(d *check.Data) {
	f.Warnings = slices.DeleteFunc(f.Warnings, func(text string) bool {
		name, rest, ok := strings.Cut(text, " is at its bound ")
		if !ok || !strings.Contains(rest, "the data pull beyond it") {
			return false
		}
		i := slices.IndexFunc(d.Bounds, func(b check.Bound) bool { return b.Name == name })
		return f.Cost <= f.Curve.rounding() || i >= 0 && d.Bounds[i].Pull < beyondChance || i < 0 && slices.Contains(d.Unknown, name)
	})
	for i, text := range f.Warnings {
		name, _, ok := strings.Cut(text, " is at its bound ")
		if k := slices.IndexFunc(d.Bounds, func(b check.Bound) bool { return b.Name == name }); ok && k >= 0 && f.physical(name, d.Bounds[k].Value) {
			f.Warnings[i] = fmt.Sprintf("%s is at its bound %.6g, and the data would take it %.2g standard deviations beyond it: %s", name, d.Bounds[k].Value, d.Bounds[k].Pull, otherTerm)
		}
	}
}

// physical reports whether a bound of a parameter is that of what it can be.
func (f *Fit) physical(name string, bound float64) bool {
	i := f.Model.index(name)
	return i >= 0 && slices.Contains(f.Model.Params[i].ends, bound)
}
