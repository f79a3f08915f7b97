// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// What happened to the frames of a movie shows in a result file, and not in g2: a shutter that closed, or a q map that belongs
// to another place of the detector. Fits of such curves can look right.

// fewBlank is the share of frames without counts up to which their effect on g2 is small.
const fewBlank = 0.002

// flaws returns what a result file says about its frames that makes all of its curves wrong.
func flaws(r *nexus.Result) (all []check.Alteration) {
	if n, of := blank(r.Trace); float64(n) > fewBlank*float64(of) {
		all = append(all, check.Alteration{Kind: "blank frames", Count: n,
			Text:   fmt.Sprintf("%d of %s %s no counts, although the others have many: pairs with them make g2 wrong at all delays", n, errtext.Count(of, "frame"), errtext.Agree(n, "has", "have")),
			Remedy: "correlate the frames again without them (--first and --last, or a copy of the movie), and look for a closed shutter or a lost beam"})
	}
	if text := r.Attrs[nexus.AttrMisplaced]; text != "" {
		all = append(all, check.Alteration{Kind: "another geometry", Count: 1, Text: text, Remedy: "make the q map again with the geometry of the frames, and average or correlate with it"})
	}
	return all
}

// blank returns the number of frames without counts, and that of all, if no frame of such a movie would be without by chance: the
// intensities of the others scatter by less than a third and have more than ten different values, so they are more than ten counts each.
func blank(t *nexus.Trace) (n, of int) {
	if t == nil {
		return 0, 0
	}
	sum, square, lit := 0.0, 0.0, 0.0
	values := map[float64]bool{}
	for _, v := range t.Mean {
		if v == 0 {
			n++
		} else if !math.IsNaN(v) {
			sum, square, lit = sum+v, square+v*v, lit+1
			values[v] = true
		}
	}
	mean := sum / lit
	if n == 0 || len(values) <= 10 || !(math.Sqrt(max(square/lit-mean*mean, 0)) < 0.3*mean) {
		return 0, len(t.Mean)
	}
	return n, len(t.Mean)
}

// The significance, in standard deviations, and the change of the relaxation time from which the first frames are said to decay
// otherwise than all.
const (
	agedSignificance = 5
	agedChange       = 0.1
)

// ageing compares g2 of the first frames of a movie with that of all, where a result file has both, along the change that another relaxation
// time would make:
//
//	shift of ln tau = sum d t / sum t^2,  d = (part - all)/sigma,  t = -dg2/d(ln delay)/sigma
//
// The part is contained in the whole, so the variance of their difference is that of the part less that of the whole.
func ageing(m *nexus.Multitau, bin int, delays []float64) (check.Alteration, bool) {
	if len(m.Partial) < 2 || len(m.PartialErr) != len(m.Partial) || len(m.PartialFrames) != len(m.Partial) {
		return check.Alteration{}, false
	}
	last := len(m.Partial) - 1
	share := m.PartialFrames[0] / m.PartialFrames[last]
	if !(share > 0 && share < 1) {
		return check.Alteration{}, false
	}
	all, part, sd := m.G2.Column(bin-1), m.Partial[0].Column(bin-1), m.PartialErr[0].Column(bin-1)
	along, size := 0.0, 0.0
	for i := 1; i+1 < len(all); i++ {
		slope := -(all[i+1] - all[i-1]) / math.Log(delays[i+1]/delays[i-1])
		d, t := (part[i]-all[i])/sd[i], slope/sd[i]
		if v := d * t; math.IsNaN(v) || math.IsInf(v, 0) || !(sd[i] > 0) {
			continue
		}
		along, size = along+d*t, size+t*t
	}
	if !(size > 0) {
		return check.Alteration{}, false
	}
	shift, error := along/size, math.Sqrt((1-share)/size)
	if math.Abs(shift) < agedSignificance*error || math.Abs(shift) < agedChange {
		return check.Alteration{}, false
	}
	how := "slower"
	if shift < 0 {
		how = "faster"
	}
	return check.Alteration{Kind: "ageing", Count: 1, Text: fmt.Sprintf("the first %.0f %% of the frames decay %s than all of them: their relaxation time differs by a factor of about %.2g, so the sample changes while it is measured, and g2 of the whole movie has no single decay", 100*share, how, math.Exp(shift)),
		Remedy: "follow the relaxation time with reduce ages or fit twotime, or correlate a shorter range of frames"}, true
}
