// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Direction is an eigenvector of the Fisher information of all parameters, each in units of its
// error if all others are known.
type Direction struct {
	Eigenvalue float64   // eigenvalue relative to the largest
	Parts      []float64 // components in the order of Fit.Names, of length 1
	names      []string
}

// mostRatio is how many times larger the largest eigenvalue of the information may be before a direction is called flat.
const mostRatio = 1e6

// IsFlat reports whether the data hardly determine the combination.
func (d Direction) IsFlat() bool { return !(d.Eigenvalue*mostRatio >= 1) }

// String writes the direction as a combination of parameters, leaving out those of little weight.
func (d Direction) String() string {
	most := 0.0
	for _, v := range d.Parts {
		most = math.Max(most, math.Abs(v))
	}
	var b strings.Builder
	for i, v := range d.Parts {
		if math.Abs(v) < 0.1*most {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%+.2g %s", v, d.names[i])
	}
	return b.String()
}

// directions returns the eigenvectors of products of derivatives, the least certain first.
func directions(products *mat.SymDense, names []string) []Direction {
	s, _ := scaled(products, len(names))
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return nil
	}
	var v mat.Dense
	e.VectorsTo(&v)
	values := e.Values(nil)
	var out []Direction
	for i, value := range values {
		parts := mat.Col(nil, i, &v)
		largest := 0.0
		for _, x := range parts {
			if math.Abs(x) > math.Abs(largest) {
				largest = x
			}
		}
		for k := range parts { // the sign has no meaning
			parts[k] = math.Copysign(1, largest) * parts[k]
		}
		out = append(out, Direction{Eigenvalue: math.Max(0, value/values[len(values)-1]), Parts: parts, names: names})
	}
	return out
}
