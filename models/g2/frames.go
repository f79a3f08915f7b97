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
	if c, ok := r.Trace.Change(); ok {
		text, remedy := nexus.DescribeIntensity(r.Trace)
		kind, note := "changing intensity", !c.Large()
		if c.Step && !note { // what it does to g2 of a bin is tested there
			kind, note = KindStep, true
		}
		all = append(all, check.Alteration{Kind: kind, Count: 1, Note: note, Text: text, Remedy: remedy})
	}
	if n, of := blank(r.Trace); float64(n) > fewBlank*float64(of) {
		all = append(all, check.Alteration{Kind: "blank frames", Count: n,
			Text:   fmt.Sprintf("%d of %s %s no counts, although the others have many: pairs with them make g2 wrong at all delays", n, errtext.Count(of, "frame"), errtext.Agree(n, "has", "have")),
			Remedy: "correlate the frames again without them (--first and --last, or a copy of the movie), and look for a closed shutter or a lost beam"})
	}
	if text := r.Attrs[nexus.AttrBadFrames]; text != "" {
		all = append(all, check.Alteration{Kind: "bad frames", Count: 1, Text: text, Remedy: "correlate again without the frame (correlate --skip)"})
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
