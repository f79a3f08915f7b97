// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer/check"
)

// Held says how far the answers of a fit hang on a value that it takes for known.
type Held struct {
	Name  string  // parameter that would search for the value
	Value float64 // value that is held
	// Error is how far the value could be off: as far as is usual, or as far as the residuals would not show.
	Error float64
	// Seen is the error from which on the residuals would show it, since no other parameters can make up for it; infinite for never.
	Seen float64
	// Moves are the changes of the estimates, in their standard deviations, if the value is higher by Error.
	Moves map[string]float64
}

// KindHeld is the note on held values.
const KindHeld = "held values"

const (
	// usualShare is how far values are off about which nothing else is known, and usualTurn that of angles in degrees.
	usualShare, usualTurn = 0.1, 2.0
	// usualScale is how far the logarithm of an absolute intensity is off.
	usualScale = 0.05
	// toldMove is the change of a parameter of the sample in standard deviations from which on a verdict tells of a held value, and
	// mostTold the number of values that are told.
	toldMove, mostTold = 2.0, 3
)

// most returns the parameter of a list that moves by the most standard deviations.
func (h *Held) most(of []string) (name string, by float64) {
	for _, n := range of {
		if x := h.Moves[n]; math.Abs(x) > math.Abs(by) {
			name, by = n, x
		}
	}
	return name, by
}

// Held returns how the answers of a fit hang on the values that it holds: those of the problem, the edges, the place of the detector, the
// polarisation, the photon energies and the optical constants. With the derivatives J of the expectations by the parameters, c by a held value,
// the weights W of the numbers and the information P of the priors, the estimates change with the value by
//
//	-(J'WJ + P)^-1 J'Wc,
//
// and what is left of c once the parameters have made up for it, c'Wc - c'WJ (J'WJ + P)^-1 J'Wc, is the information by which the residuals
// show an error of it. The values on which a parameter of the sample hangs most come first.
func (t *Task) Held(s *Solution) ([]Held, error) {
	list := t.suppositions()
	all := *t
	all.mean, all.Params, all.cuts = nil, slices.Clone(t.Params), nil
	all.StartAt(s.X)
	for _, h := range list {
		all.Params = append(all.Params, Param{Name: h.Name, Start: h.Value})
	}
	if err := all.prepare(); err != nil {
		return nil, err
	}
	at, err := all.sensitivity(all.starts(), all.scalesOf(s), len(t.Params))
	if err != nil {
		return nil, err
	}
	n, wide := len(t.Params), len(all.Params)
	joint, own := make([]float64, wide*wide), make([]float64, n*n)
	at.information(joint, func(int) bool { return true })
	all.addPriors(joint, all.starts())
	for i := range n {
		copy(own[i*n:(i+1)*n], joint[i*wide:i*wide+n])
	}
	cov := inverse(own, n)
	for k := range list {
		list[k].fill(t.Names(), joint, cov, n+k, wide)
	}
	slices.SortStableFunc(list, func(a, b Held) int {
		_, x := a.most(t.sample())
		_, y := b.most(t.sample())
		return cmp.Compare(math.Abs(y), math.Abs(x))
	})
	return list, nil
}

// fill finds how far the value with a column of the joint information could be off, and the moves, given the covariance of the parameters.
func (h *Held) fill(names []string, joint, cov []float64, column, wide int) {
	n := len(names)
	slope, left := make([]float64, n), joint[column*wide+column]
	for i := range n {
		for k := range n {
			if c := cov[i*n+k]; !math.IsInf(c, 0) {
				slope[i] -= c * joint[k*wide+column]
			}
		}
		left += slope[i] * joint[i*wide+column]
	}
	h.Seen = math.Inf(1)
	if least := 1e-12 * joint[column*wide+column]; left > least {
		h.Seen = math.Sqrt(decisive / left)
	}
	h.Error, h.Moves = min(h.Error, h.Seen), map[string]float64{}
	for i, name := range names {
		if sd := math.Sqrt(cov[i*n+i]); sd > 0 && !math.IsInf(sd, 0) {
			h.Moves[name] = slope[i] * h.Error / sd
		}
	}
}

// sample returns the names of the parameters of the sample that are searched for.
func (t *Task) sample() []string {
	return slices.DeleteFunc(t.Names(), func(n string) bool { return !slices.Contains(t.Model.Morphology, t.bare(n)) })
}

// suppositions are the values that are held, with the errors that such values usually have.
func (t *Task) suppositions() (list []Held) {
	add := func(name string, value float64) {
		h := Held{Name: name, Value: value, Error: t.usualError(name, value)}
		if h.Error > 0 && !slices.Contains(t.Names(), name) { // a parameter may be among the values that are held, too, and is searched for
			list = append(list, h)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Fixed)) {
		add(name, t.Fixed[name])
	}
	var more []string
	if t.knows("width") {
		more = append(more, "width")
	}
	if alone(t) {
		more = append(more, "distance", "centre_x", "centre_y")
	}
	if t.anisotropic() {
		more = append(more, "purity")
	}
	if t.tabulated() {
		more = append(more, "energy_shift")
	}
	for m := range len(t.Model.Tables) + len(matrixOf(t.Model)) {
		for e := range t.energies() {
			more = append(more, constantName("delta", m, e), constantName("beta", m, e))
		}
	}
	for _, name := range t.expanded(more) {
		if _, held := t.Fixed[name]; !held {
			add(name, t.off(name))
		}
	}
	return list
}

// usualError is how far a value that is held usually is off: the width of the weak prior that it would have, or a share of the value.
func (t *Task) usualError(name string, value float64) float64 {
	bare := t.bare(name)
	n, energy, ok := nuisanceOf(bare, len(t.energies()), len(t.Model.Tables)+len(matrixOf(t.Model)))
	if ok {
		g := &guess{Data: t.Model.Data, numbering: t.energies(), foot: &[2]float64{}}
		if sd := n.usual(g, energy).SD; sd > 0 {
			return sd
		}
	}
	switch {
	case bare == "log_scale":
		return usualScale
	case strings.HasSuffix(bare, "_deg"):
		return usualTurn
	}
	return usualShare * math.Abs(value)
}

// hanging notes the held values on which parameters of the sample hang most; nil for none.
func (t *Task) hanging(s *Solution) (*check.Flag, error) {
	list, err := t.Held(s)
	if err != nil {
		return nil, err
	}
	var parts []string
	remedy := ""
	for _, h := range list {
		name, by := h.most(t.sample())
		if len(parts) == mostTold || !(math.Abs(by) > toldMove) {
			break
		}
		parts = append(parts, fmt.Sprintf("%s moves by %s standard deviations if %s", name, check.Rough(by), t.higher(&h)))
		if remedy == "" {
			remedy = "search for what is not known that well: " + moved{Task: t}.free(h.Name, t.priorOf(&h))
		}
	}
	if parts == nil {
		return nil, nil
	}
	return &check.Flag{Kind: KindHeld, Remedy: remedy, Note: true,
		Text: "the answers hang on values that are held, whose errors the residuals would not show: " + strings.Join(parts, "; ")}, nil
}

// priorOf is the prior about a held value that is proposed.
func (t *Task) priorOf(h *Held) string {
	sd := t.usualError(h.Name, h.Value)
	if slices.Contains(t.Model.Morphology, t.bare(h.Name)) {
		return fmt.Sprintf(`{"start": %.6g, "prior": "normal(%.6g, %.2g)"}`, h.Value, h.Value, sd)
	}
	return fmt.Sprintf(`{"prior": "normal(%.6g, %.2g)"}`, h.Value, sd)
}

// higher says in words that a held value is higher by its error.
func (t *Task) higher(h *Held) string {
	bare := t.bare(h.Name)
	for m := range len(t.Model.Tables) + len(matrixOf(t.Model)) {
		for e, energy := range t.energies() {
			for _, which := range []string{"delta", "beta"} {
				if bare == constantName(which, m, e) {
					return fmt.Sprintf("%s of %s at %.6g eV is higher by %.2g %%", which, t.Model.material(m), energy, 100*h.Error)
				}
			}
		}
	}
	unit := t.unit(h.Name)
	return fmt.Sprintf("%s, held at %.4g%s, is higher by %.2g%s", h.Name, h.Value, unit, h.Error, unit)
}

// unit is that of a parameter after a space; empty for none.
func (t *Task) unit(name string) string {
	bare := t.bare(name)
	switch n, _, ok := nuisanceOf(bare, len(t.energies()), len(t.Model.Tables)+len(matrixOf(t.Model))); {
	case ok && n.Unit != "":
		return " " + t.binned(n.Unit)
	case strings.HasSuffix(bare, "_deg"):
		return " degrees"
	case bare == "width" || slices.Contains(t.Model.Lengths, bare):
		return " nm"
	}
	return ""
}
