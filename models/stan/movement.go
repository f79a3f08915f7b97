// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

import (
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/stan/internal/stage"
)

var _ infer.Movable = (*Posterior)(nil)

// Movement describes the log density to samplers that choose their coordinates: parameters whose distribution statement has a location and a scale that
// are not known, and positive numbers.
func (p *Posterior) Movement() *infer.Movement {
	if len(p.inputs) == 0 {
		return nil
	}
	m := &infer.Movement{LogProb: p.lp, Inputs: p.inputs, Backend: p.backend}
	priors := map[string]stage.Prior{}
	for _, s := range p.machine.Priors() {
		priors[s.Param] = s
	}
	for _, q := range p.params {
		if q.Free == 0 {
			continue
		}
		i := len(m.Names)
		m.Names = append(m.Names, q.Decl.Name)
		bounded := q.Type.Lower != nil || q.Type.Upper != nil || q.Type.Offset != nil || q.Type.Multiplier != nil
		plain := q.Free == q.Size() && (q.Type.Word == "real" || q.Type.Word == "vector" || q.Type.Word == "row_vector")
		positive := plain && q.Type.Lower != nil && q.Type.Upper == nil && q.Type.Offset == nil && q.Type.Multiplier == nil
		if positive && q.Free == 1 {
			m.Positive = append(m.Positive, i)
		}
		s, ok := priors[q.Decl.Name]
		if ok && plain && !bounded && s.Heavy {
			m.Heavy = append(m.Heavy, i)
		}
		switch {
		case !ok || !plain:
		case s.Factor != nil && !bounded:
			m.Located = append(m.Located, infer.Located{Input: i, Loc: s.Loc, Factor: s.Factor})
		case s.Factor == nil && (s.Loc.Size() == 1 || s.Loc.Size() == q.Free) && (s.Scale.Size() == 1 || s.Scale.Size() == q.Free) && (!bounded && !s.Log || positive && s.Log && p.machine.ZeroBound(q)):
			m.Located = append(m.Located, infer.Located{Input: i, Loc: s.Loc, Scale: s.Scale})
		}
	}
	return m
}
