// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
)

// numbersOf lists the distributions whose parameters and values are numbers, and distributions made
// of them.
func numbersOf() (out []dist.Family) {
	out = combined()
	for _, l := range dist.All() {
		if l.Shapes == nil && l.Value == nil {
			out = append(out, l)
		}
	}
	return out
}

// inTurn are the families of numbers, in the quick tier each with one of its parameters, which families take in turn.
func inTurn() (out []dist.Family) {
	out = numbersOf()
	for i, l := range out {
		if !tier.Slow {
			out[i].At = l.At[i%len(l.At):][:1]
		}
	}
	return out
}

func logProb(d dist.Dist, x *ad.Node) *ad.Node { return d.LogProb(x) }
func logCDF(d dist.Dist, x *ad.Node) *ad.Node  { return d.LogCDF(x) }
func logCCDF(d dist.Dist, x *ad.Node) *ad.Node { return d.LogCCDF(x) }
