// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// LogMix returns log(theta exp(lp1) + (1-theta) exp(lp2)), the log density of a mixture
// of two components, for theta in [0, 1]. It works element by element. Where both terms are 0, it is -Inf
// with a gradient of 0.
func LogMix(theta any, lp1, lp2 *ad.Node) *ad.Node {
	t := ad.Of(theta)
	return weighted([]*ad.Node{t, ad.Sub(one, t)}, []*ad.Node{lp1, lp2})
}

// LogMixture returns log sum_k weights_k exp(lp_k). The last axis of weights lies on the
// simplex and has one weight for each lp.
func LogMixture(weights any, lp ...*ad.Node) *ad.Node {
	w := ad.Of(weights)
	if w.Err() != nil {
		return w
	}
	if len(lp) == 0 || last(w) != len(lp) {
		return failed(w, fmt.Errorf("dist: log mixture: the weights have shape %v for %d log densities: give one weight for each, in the last axis", w.Shape(), len(lp)))
	}
	return weighted(indexed(w, len(lp)), lp)
}
