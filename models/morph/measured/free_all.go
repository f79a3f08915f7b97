// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/models/morph"
)

// leastOwn is the share of the information of a parameter that no parameter before it explains, from which on it is freed.
const leastOwn = 1e-4

// freeAll frees the parameters of the measurement that the data can have. Those that the others explain at the start, and those that an
// effect needs which the data cannot show, are held, which Read tells.
func (t *Task) freeAll(p *morph.Problem, d *Data) error {
	names := []string{"log_scale", "centre_x", "centre_y", "resolution", "background", "background_q4"}
	if t.Model.Matrix != nil && len(t.energies()) > 1 {
		names = append(names, "thickness")
	}
	for e := range t.energies() {
		if e > 0 {
			names = append(names, fmt.Sprintf("scale_%d", e+1))
		}
	}
	if t.anisotropic() {
		names = append(names, "purity")
	}
	if t.tabulated() {
		names = append(names, "energy_shift")
	}
	for e := range t.energies() {
		names = append(names, fmt.Sprintf("fluorescence_%d", e+1))
	}
	names = slices.DeleteFunc(names, func(n string) bool { return t.has(n) || t.lacks(n) != "" })
	known := len(t.Params)
	for _, n := range names {
		if err := t.parametersOf(p, map[string]morph.ProblemParam{n: {}}, "", d, false); err != nil {
			return err
		}
	}
	if i := slices.IndexFunc(t.Params, func(q Param) bool { return q.Name == "log_scale" }); i >= 0 && !t.Params[i].given {
		if err := t.regress(i, 0); err != nil {
			return err
		}
	}
	held, err := t.explained(known)
	if err != nil {
		return err
	}
	t.Params = slices.DeleteFunc(t.Params, func(q Param) bool { return slices.Contains(held, q.Name) })
	t.mean = nil
	t.Read = append(t.Read, "freed: "+strings.Join(t.Names(), ", "))
	if len(held) > 0 {
		t.Read = append(t.Read, "held, as the data do not tell them from the others: "+strings.Join(held, ", "))
	}
	return nil
}

// explained returns the parameters from a number on that those before them explain, by a Cholesky factorisation of the information at the
// start that leaves them out.
func (t *Task) explained(known int) (held []string, err error) {
	if err := t.prepare(); err != nil {
		return nil, err
	}
	x := make([]float64, len(t.Params))
	for i, p := range t.Params {
		x[i] = p.Start
	}
	a, err := t.information(x, t.scales())
	if err != nil {
		return nil, err
	}
	t.addPriors(a, x)
	n := len(x)
	var rows [][]float64 // of the factor, for the parameters that are kept
	var kept []int
	for i := range n {
		row, rest := []float64(nil), a[i*n+i]
		for k, j := range kept {
			v := a[i*n+j]
			for m := range k {
				v -= row[m] * rows[k][m]
			}
			v /= rows[k][k]
			row, rest = append(row, v), rest-v*v
		}
		if i >= known && !(rest > leastOwn*a[i*n+i]) {
			held = append(held, t.Params[i].Name)
			continue
		}
		rows, kept = append(rows, append(row, math.Sqrt(max(rest, 1e-12*a[i*n+i]+1e-300)))), append(kept, i)
	}
	return held, nil
}
