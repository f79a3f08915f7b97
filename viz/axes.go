// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// axis is one side of a panel. include widens its range, and settle computes its ticks.
type axis struct {
	label  string // label as "name (unit)"
	of     string // name of the quantity of draws that the axis shows; empty for others
	log    bool
	lo, hi float64
	pad    float64 // padding on both sides, as a fraction of the range
	bare   bool    // whether labels are left out, as on the inner panels of shared axes
	over   bool    // whether labels may extend into the space below, which is empty
	whole  bool    // whether ticks are at whole numbers only
	down   bool    // whether values are negative and labels leave out their sign, so that numbers grow downwards
	none   bool    // whether the axis is not drawn at all
	fixed  []tick  // ticks to use instead of computed ones

	set           bool
	ticks         []tick
	offset, power string // number and power of ten that the tick labels leave out
}

type tick struct {
	at    float64
	label string // text of the label; empty for a minor tick
}

// label returns a name with its unit.
func label(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + " (" + unit + ")"
}

// can reports whether a value can be placed on the axis.
func (a *axis) can(v float64) bool { return linalg.Finite(v) && (!a.log || v > 0) }

// include widens the range; values that cannot be placed do not count.
func (a *axis) include(values ...float64) {
	for _, v := range values {
		if !a.can(v) {
			continue
		}
		if !a.set {
			a.lo, a.hi, a.set = v, v, true
		}
		a.lo, a.hi = min(a.lo, v), max(a.hi, v)
	}
}

// limits sets the range exactly, without padding.
func (a *axis) limits(lo, hi float64) { a.lo, a.hi, a.pad, a.set = lo, hi, 0, true }

// at returns the position of v as a fraction of the axis. It halves first, so that no difference
// overflows.
func (a *axis) at(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.log {
		return (math.Log(v) - math.Log(lo)) / (math.Log(hi) - math.Log(lo))
	}
	return (v/2 - lo/2) / (hi/2 - lo/2)
}

// settle pads the range and computes ticks for an axis of a given length, given the size of its
// labels. It may be called again with another length.
func (a *axis) settle(length vg.Length, horizontal bool) {
	a.widen()
	a.offset, a.power = "", ""
	switch {
	case a.fixed != nil:
		a.ticks = a.fixed
	case a.log && a.hi/a.lo > 4:
		a.ticks = logTicks(a.lo, a.hi, length, horizontal)
	default:
		a.linear(length, horizontal)
	}
	if a.down {
		for i := range a.ticks {
			a.ticks[i].label = strings.TrimLeft(a.ticks[i].label, "-−")
		}
	}
}

func (a *axis) widen() {
	if !a.set {
		a.lo, a.hi, a.set = 0, 1, true
		if a.log {
			a.lo, a.hi = 0.1, 1
		}
	}
	switch {
	case a.log && !(a.hi/a.lo > 1+1e-9):
		a.lo, a.hi = a.lo/2, a.hi*2
	case a.log:
		f := math.Pow(a.hi/a.lo, a.pad)
		if math.IsInf(f, 0) {
			f = 1
		}
		a.lo, a.hi = a.lo/f, a.hi*f
	case !(a.hi/2-a.lo/2 > 1e-13*max(math.Abs(a.lo), math.Abs(a.hi))):
		d := 0.5 * math.Abs(a.lo)
		if d == 0 {
			d = 1
		}
		a.lo, a.hi = a.lo-d, a.hi+d
	default:
		d := 2 * a.pad * (a.hi/2 - a.lo/2)
		a.lo, a.hi = a.lo-d, a.hi+d
	}
	a.pad = 0
	a.lo, a.hi = max(a.lo, -math.MaxFloat64), min(a.hi, math.MaxFloat64)
	if a.log {
		a.lo = max(a.lo, math.SmallestNonzeroFloat64)
	}
}

// linear chooses as many labelled ticks as have room, and moves a common power of ten and common
// leading digits to the label of the axis.
func (a *axis) linear(length vg.Length, horizontal bool) {
	offset, power := a.common()
	unit := math.Pow(10, float64(power))
	if unit == 0 || math.IsInf(unit, 0) {
		unit, power = 1, 0
	}
	a.choose(offset, unit, length, horizontal)
	if power != 0 {
		a.power = "×10^{" + signed(power) + "}"
	}
	if offset > 0 {
		a.offset = " − " + written(offset)
	} else if offset < 0 {
		a.offset = " + " + written(-offset)
	}
}

// common finds what all tick labels share: the roundest number in the range, if the range is narrow,
// and a power of ten.
func (a *axis) common() (offset float64, power int) {
	span := 2 * (a.hi/2 - a.lo/2)
	size := max(math.Abs(a.lo), math.Abs(a.hi))
	if span < 1e-4*size {
		offset = roundest(a.lo, a.hi)
		size = max(math.Abs(a.lo-offset), math.Abs(a.hi-offset))
	}
	if e := int(math.Floor(math.Log10(size))); e < -2 || e > 4 {
		power = e
	}
	return offset, power
}

// roundest returns the number between lo and hi with the fewest digits, or 0 if it finds none.
func roundest(lo, hi float64) float64 {
	top := int(math.Floor(math.Log10(max(math.Abs(lo), math.Abs(hi)))))
	for digits := 1; digits <= 15; digits++ {
		unit := math.Pow(10, float64(top+1-digits))
		text := strconv.FormatFloat(math.Round((lo/2+hi/2)/unit)*unit, 'g', digits, 64)
		if v, _ := strconv.ParseFloat(text, 64); lo <= v && v <= hi && linalg.Finite(v) {
			return v
		}
	}
	return 0
}

// written formats a positive number, without an exponent if that is short.
func written(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if len(s) <= 12 {
		return s
	}
	m, e, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	n, _ := strconv.Atoi(e)
	return m + "·10^{" + signed(n) + "}"
}

// choose takes the finest ticks whose labels have room.
func (a *axis) choose(offset, unit float64, length vg.Length, horizontal bool) {
	span := 2 * (a.hi/unit/2 - a.lo/unit/2)
	p := math.Pow(10, math.Floor(math.Log10(span/10)))
	a.ticks = nil
	for _, m := range []float64{1, 2, 5, 10, 20, 50, 100} {
		if a.whole && m*p*unit < 1 {
			continue
		}
		ticks := linearTicks(a.lo, a.hi, offset, unit, m*p)
		n := len(ticks)
		if n < 2 && len(a.ticks) > 1 {
			if horizontal && a.crowded(length) { // wider steps leave one tick, so every other label goes
				for i := 1; i < len(a.ticks); i += 2 {
					a.ticks[i].label = ""
				}
			}
			return
		}
		a.ticks = ticks
		if n <= 8 && vg.Length(n-1)*1.9*tickSize <= length && !(horizontal && a.crowded(length)) {
			return
		}
	}
}

// crowded reports whether neighbouring tick labels are too close together.
func (a *axis) crowded(length vg.Length) bool {
	end := vg.Length(math.Inf(-1))
	for _, t := range a.ticks {
		if t.label == "" {
			continue
		}
		x, w := vg.Length(a.at(t.at))*length, tickText.width(t.label)
		if x-w/2 < end+0.8*tickSize {
			return true
		}
		end = x + w/2
	}
	return false
}

// linearTicks returns the multiples of a step of (value - offset) / unit.
func linearTicks(lo, hi, offset, unit, step float64) (out []tick) {
	u, v := (lo-offset)/unit, (hi-offset)/unit
	if !(step > 0) || math.IsInf(step, 0) {
		return nil
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	for k := math.Ceil(u/step - 1e-9); k*step <= v+1e-9*step && len(out) < 50; k++ {
		text := strconv.FormatFloat(k*step, 'f', min(decimals, 12), 64)
		if strings.Trim(text, "-0.") == "" {
			text = "0"
		}
		out = append(out, tick{k*step*unit + offset, minus(text)})
	}
	return out
}

// logTicks labels powers of ten as far as there is room, and 2 and 5 between
// them when there are few.
func logTicks(lo, hi float64, length vg.Length, horizontal bool) (out []tick) {
	first, last := int(math.Ceil(math.Log10(lo)-1e-9)), int(math.Floor(math.Log10(hi)+1e-9))
	room := 2 * tickSize
	if horizontal {
		room = 3.4 * tickSize
	}
	decades := math.Log10(hi) - math.Log10(lo)
	each := length / vg.Length(decades)
	every := max(1, int(math.Ceil(float64(room/each))))
	short := first >= -3 && last <= 3
	for e := first - 1; e <= last; e++ {
		for m := 1; m <= 9; m++ {
			v := float64(m) * math.Pow(10, float64(e))
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) || v == 0 {
				continue
			}
			t := tick{at: v}
			between := (m == 2 || m == 5) && each > 4.5*room && decades < 2.3
			if m == 1 && mod(e, every) == 0 || between {
				t.label = decade(m, e, short)
			}
			if t.label != "" || every == 1 && each > 2*tickSize || m == 1 && each > 3 {
				out = append(out, t)
			}
		}
	}
	return out
}

func mod(a, b int) int { return ((a % b) + b) % b }

func decade(m, e int, short bool) string {
	switch {
	case short:
		return strconv.FormatFloat(float64(m)*math.Pow(10, float64(e)), 'f', max(0, -e), 64)
	case m == 1:
		return "10^{" + signed(e) + "}"
	}
	return strconv.Itoa(m) + "·10^{" + signed(e) + "}"
}

func signed(n int) string { return minus(strconv.Itoa(n)) }

// minus writes negative numbers with a minus sign in place of a hyphen.
func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// title returns the label together with what the ticks leave out: "tau − 12.5 (×10⁻³ s)".
func (a *axis) title() string {
	if a.bare || a.label == "" || a.offset+a.power == "" {
		return a.label
	}
	name, unit := a.label, ""
	if i := strings.LastIndex(a.label, " ("); i >= 0 && strings.HasSuffix(a.label, ")") {
		name, unit = a.label[:i], a.label[i+2:len(a.label)-1]
	}
	return label(name+a.offset, strings.TrimSpace(a.power+" "+unit))
}
