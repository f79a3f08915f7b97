// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/expr"
)

// Unranked is a derived quantity that a calibration leaves out because it is not defined everywhere.
type Unranked struct {
	Name string
	// NaN is the number of draws from the prior at which the quantity is NaN or infinite, of Draws in total. It is 0
	// for a quantity that is left out because it may be computed from another.
	NaN, Draws int
}

// String says what was left out and why.
func (u Unranked) String() string {
	if u.NaN == 0 {
		return u.Name + " gets no ranks: derived quantities are left out together where one may be computed from another that is not defined everywhere"
	}
	return fmt.Sprintf("%s gets no ranks: it is not finite at %d of %d draws from the prior", u.Name, u.NaN, u.Draws)
}

// Numbers of draws from the prior among which Calibrated looks for values that are not finite.
const fewestLooked, mostLooked = 1000, 100_000

// Calibrated returns the posterior of a problem for simulation-based calibration. Ranks among values that are not finite do not
// exist, and a fit counts only if all of its quantities have ranks. Therefore derived quantities that are NaN or infinite
// at some draws from the prior, such as pow(b/a, 1/n) where b may be negative, are left out.
func Calibrated(p *expr.Problem, on ad.Backend, fits int, seed uint64) (*infer.Posterior, []Unranked, error) {
	for name := range p.SigmaX {
		if p.Priors[name] != "" {
			return nil, nil, fmt.Errorf("simulation-based calibration draws new values of %s and none of %s, whose true values have a prior (sigma_x and priors): leave that prior out, so that they are drawn about what was measured", p.Observation(), name)
		}
	}
	post, err := compiled(p, on)
	if err != nil || len(p.Derived) == 0 {
		return post, nil, err
	}
	prior, err := post.Prior(min(max(fits, fewestLooked), mostLooked), seed)
	if err != nil {
		return nil, nil, err
	}
	var lost []Unranked
	for _, name := range slices.Sorted(maps.Keys(p.Derived)) {
		u := Unranked{Name: name, Draws: prior.Len()}
		for _, v := range prior.Values(name) {
			if slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
				u.NaN++
			}
		}
		if u.NaN > 0 {
			lost = append(lost, u)
		}
	}
	if len(lost) == 0 {
		return post, nil, nil
	}
	less := *p
	less.Derived = maps.Clone(p.Derived)
	for _, u := range lost {
		delete(less.Derived, u.Name)
	}
	post, err = compiled(&less, on)
	if err != nil { // another derived quantity is computed from one that was left out
		for _, name := range slices.Sorted(maps.Keys(less.Derived)) {
			lost = append(lost, Unranked{Name: name, Draws: prior.Len()})
		}
		less.Derived = nil
		post, err = compiled(&less, on)
	}
	return post, lost, err
}

func compiled(p *expr.Problem, on ad.Backend) (*infer.Posterior, error) {
	m, err := p.Model()
	if err != nil {
		return nil, err
	}
	return m.CompileOn(on)
}

var digits = regexp.MustCompile("[0-9]+")

// Reason is a reason for which fits of a calibration have no ranks.
type Reason struct {
	Text  string
	Count int
}

// Reasons counts why the fits of a calibration failed, the most frequent reason first. Texts that differ only
// in their numbers are counted together, under the first of them.
func Reasons(c *infer.Calibration) []Reason {
	var out []Reason
	var keys []string
	for _, err := range c.Failed {
		text, _, _ := strings.Cut(err.Error(), "\n")
		if head, rest, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(head, "fit ") {
			text = rest
		}
		text = strings.TrimPrefix(strings.TrimPrefix(text, "infer: "), "calibration: ")
		key := digits.ReplaceAllString(text, "#")
		i := slices.Index(keys, key)
		if i < 0 {
			i, keys, out = len(keys), append(keys, key), append(out, Reason{Text: text})
		}
		out[i].Count++
	}
	slices.SortStableFunc(out, func(a, b Reason) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// Told says how many fits of a calibration gave ranks, and why the others did not.
func Told(c *infer.Calibration) string {
	var b strings.Builder
	all := c.Fits + len(c.Failed)
	fmt.Fprintf(&b, "%d fits: %d gave ranks", all, c.Fits)
	if all == 1 {
		b.Reset()
		fmt.Fprintf(&b, "1 fit: %d gave ranks", c.Fits)
	}
	if c.Divergent > 0 {
		fmt.Fprintf(&b, " (%d of them with divergences)", c.Divergent)
	}
	reasons := Reasons(c)
	switch {
	case len(reasons) == 0:
		b.WriteString(", none failed")
	case len(reasons) == 1:
		fmt.Fprintf(&b, ", %d failed: %s", len(c.Failed), reasons[0].Text)
	default:
		fmt.Fprintf(&b, ", %d failed", len(c.Failed))
		for i, r := range reasons[:min(len(reasons), 5)] {
			fmt.Fprintf(&b, "%s %d: %s", map[bool]string{true: ":", false: ";"}[i == 0], r.Count, r.Text)
		}
		if n := len(reasons) - 5; n > 0 {
			fmt.Fprintf(&b, "; and %d more kinds", n)
		}
	}
	return b.String()
}
