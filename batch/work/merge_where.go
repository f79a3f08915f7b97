// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/infer/check"
)

// Where describes what an item stands for in terms that a person recognises: its file and bin, or the
// parameters of its point. It is empty for an item that has only a number.
func (g *Merged) Where(r *batch.Record) string {
	var parts []string
	numbers, texts := r.Numbers, r.Texts
	leading := true // texts after the first number are results
	for _, c := range g.Columns {
		if c.Kind == batch.Text {
			if c.Name == "file" || c.Name == "morphology" {
				parts = append(parts, texts[0])
			} else if leading {
				parts = append(parts, c.Name+" = "+texts[0])
			}
			texts = texts[1:]
			continue
		}
		if c.Name == "bin" || c.Name == "energy" {
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %g %s", c.Name, numbers[0], c.Unit)))
		}
		leading, numbers = false, numbers[1:]
	}
	return strings.Join(parts, ", ")
}

// ByChance says how many bad verdicts to expect if every model is right.
func (g *Merged) ByChance() string {
	return fmt.Sprintf("by chance alone there would be up to %.0f if every model is right", math.Ceil(check.Level*float64(g.Status.Items-g.Status.Failed)))
}
