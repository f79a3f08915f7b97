// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"slices"
)

// Sound returns the first mistake in what a fit takes beside the data: priors, the covariance and derived quantities. It needs no starts, and so comes before anything is computed.
func (p *Problem) Sound() error {
	model, err := p.formula()
	if err != nil {
		return fmt.Errorf("expr: %w", err)
	}
	if _, column := p.Data[p.Sigma]; p.Sigma != "" && !column {
		return nil // a problem for sampling, of which the fit says so
	}
	own := *p
	own.Start = map[string]Values{}
	var names []string
	for _, name := range model.Names() {
		if _, column := p.Data[name]; !column {
			names, own.Start[name] = append(names, name), Values{1}
		}
	}
	slices.SortFunc(names, natural)
	vectors, err := p.vectors(model)
	if err == nil {
		_, err = p.penalties(names, vectors)
	}
	var y []float64
	if err == nil {
		y, err = p.Observed()
	}
	switch {
	case err != nil:
		return fmt.Errorf("expr: %w", err)
	case p.Cov != nil && len(p.Cov) != len(y):
		return fmt.Errorf("expr: cov: the covariance has %d rows, but the data have %d: want one for each", len(p.Cov), len(y))
	}
	_, err = own.Quantities()
	return err
}
