// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/penalty"
)

// KindPriors is the note that a point fit is the most probable point given priors.
const KindPriors = "priors as penalties"

// penalised returns settings whose priors are penalties and bounds of point fits.
func (s Settings) penalised(model Model) (Settings, error) {
	if len(s.Priors) == 0 {
		return s, nil
	}
	if err := s.checkPriors(model.Params); err != nil {
		return s, err
	}
	s.support = map[string][2]float64{}
	for _, name := range slices.Sorted(maps.Keys(s.Priors)) {
		if model.index(name) < 0 {
			return s, fmt.Errorf("g2: the prior of %s is none of a fit: model %s has the parameters %s; others have priors only where the posterior is sampled", name, model.Name, strings.Join(model.names(), ", "))
		}
		p, within, err := penalty.Of(name, s.Priors[name])
		if err != nil {
			return s, fmt.Errorf("g2: %w", err)
		}
		if s.support[name] = within; p != nil {
			s.penalties = append(s.penalties, *p)
		}
	}
	return s, nil
}

// weighable returns an error if nothing says how much priors weigh against the data of a curve.
func (s Settings) weighable(c Curve) error {
	if len(s.penalties) == 0 || !c.unknown() {
		return nil
	}
	return fmt.Errorf("g2: bin %d has no errors, so how much priors weigh against its data is not known: give the errors, or sample the posterior, which finds them", c.Bin)
}

// tellPriors notes in the verdict that the fit is the most probable point given priors.
func (f *Fit) tellPriors(s Settings) {
	if text := penalty.Told(s.Priors); text != "" {
		f.Check.Notes = append(f.Check.Notes, check.Flag{Kind: KindPriors, Note: true, Text: text})
	}
}
