// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

func init() { register(departureStage, (*residuals).directionTests) }

// directionTests tests the named departures, except those whose size is known from elsewhere.
func (w *residuals) directionTests(_ *round, all []test) []test {
	say := w.sayDirection
	for i := range w.d.Directions {
		if !w.d.Directions[i].Known {
			all = append(all, w.directionTest(&w.d.Directions[i], say))
		}
	}
	return all
}

// directionTest tests a departure that can be named.
func (w *residuals) directionTest(dir *Direction, say func(*test) Flag) test {
	g := w.try(dir.Columns)
	t := test{kind: dir.Kind, of: dir.Of, p: min(1, g.p*float64(max(1, dir.Tried))), columns: dir.Columns, gain: g, effect: g.share, harmless: g.harmless(), named: dir, say: say}
	if dir.Holds != nil && !dir.Holds(g.coef) {
		t.p, t.columns = 1, nil
	}
	return t
}

func (w *residuals) sayDirection(t *test) Flag {
	text, remedy := t.named.Say(t.gain.coef, t.gain.sd)
	where := ""
	if len(w.d.Axes) > 0 {
		where, _ = w.strongest(w.d.Axes[0])
	}
	return Flag{Where: where, Remedy: remedy, Text: fmt.Sprintf("%s; this explains %s of the scatter of the residuals%s%s", text, percent(t.gain.share), w.moves(&t.gain), w.bounded())}
}

// littleMoved is the shift in standard deviations up to which a departure whose size is known is only noted.
const littleMoved = 0.3

// known reports the departures whose size is known from elsewhere, by what they do to the parameters.
func (w *residuals) known(v *Verdict) {
	for i := range w.d.Directions {
		dir := &w.d.Directions[i]
		if !dir.Known {
			continue
		}
		along := make([]float64, len(w.kept))
		for j := range along {
			along[j] = -dot(w.base.q[j], dir.Columns[0])
		}
		g := gain{shift: make([]float64, len(w.d.Names))}
		move, scale := backward(w.r, 0, along), w.scale()
		for j, k := range w.kept {
			if k >= 0 && scale > 0 {
				g.shift[k] = move[j] / (scale * math.Sqrt(inverseRow(w.r, 0, j)))
			}
		}
		_, most := g.moved(w.d.Names)
		text, remedy := dir.Say([]float64{1}, []float64{0})
		v.add(Flag{Kind: dir.Kind, Where: dir.Of, Text: text + w.moves(&g), Remedy: remedy}, math.Abs(most) < littleMoved)
	}
}

// bounded says that parameters on their bounds can be the cause by themselves.
func (w *residuals) bounded() string {
	var names []string
	for _, b := range w.d.Bounds {
		if b.Pull > 2 && !slices.Contains(names, b.Name) {
			names = append(names, b.Name)
		}
	}
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return "; " + names[0] + " lies on its bound, which can be the cause by itself"
	default:
		return "; " + listed(names) + " lie on their bounds, which can be the cause by itself"
	}
}

// Rough writes a signed estimate with two digits, without an exponent where the number is of a usual
// size. The coefficients of a departure are rough estimates: they are those of a linear model, and
// their standard deviations say nothing of the terms that this leaves out.
func Rough(v float64) string {
	if size := math.Abs(v); size == 0 || !(size >= 1e-4 && size < 1e6) {
		return fmt.Sprintf("%+.2g", v)
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-1)
	if unit < 1 {
		two, _ := strconv.ParseFloat(fmt.Sprintf("%.2g", v), 64)
		return fmt.Sprintf("%+g", two)
	}
	return fmt.Sprintf("%+.0f", math.Round(v/unit)*unit)
}

// size writes a number without its sign as Rough does.
func size(v float64) string { return strings.TrimPrefix(Rough(math.Abs(v)), "+") }
