// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/optim"
)

// otherTerm is what to do where the data take a parameter beyond what it can be.
const otherTerm = "check the normalisation, the mask and the errors, or use another model, as the parameter can be no more or less"

// bounded drops the warnings of parameters on bounds where the curve has rounding errors only, and gives those on the bounds of what a parameter can be
// another remedy.
func (f *Fit) bounded() {
	const at = " is at its bound "
	if f.Cost <= f.Curve.rounding() {
		f.Warnings = slices.DeleteFunc(f.Warnings, func(text string) bool { return strings.Contains(text, at) })
	}
	for i, text := range f.Warnings {
		if name, _, ok := strings.Cut(text, at); ok && f.physical(name, f.X[f.Model.index(name)]) {
			f.Warnings[i] = strings.Replace(text, optim.WidenBound, otherTerm, 1)
		}
	}
}

// physical reports whether a bound of a parameter is that of what it can be.
func (f *Fit) physical(name string, bound float64) bool {
	i := f.Model.index(name)
	return i >= 0 && slices.Contains(f.Model.Params[i].ends, bound)
}
