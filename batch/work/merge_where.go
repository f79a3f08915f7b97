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
	return fmt.Sprintf("right models would give up to %.0f by chance", math.Ceil(check.Level*float64(g.Status.Items-g.Status.Failed)))
}

// Problems lists what is wrong: failed items, bad verdicts, and a Finding that is bad news. It is empty if
// nothing is.
func (g *Merged) Problems() (bad []string) {
	if n := g.Status.Failed; n > 0 {
		bad = append(bad, fmt.Sprintf("%d of %d items failed", n, g.Status.Items))
	}
	switch n := g.Flagged; {
	case n == 1:
		bad = append(bad, fmt.Sprintf("the verdict about 1 item is bad (%s)", g.ByChance()))
	case n > 1:
		bad = append(bad, fmt.Sprintf("the verdicts about %d items are bad (%s)", n, g.ByChance()))
	}
	if !g.OK {
		bad = append(bad, g.Finding)
	}
	return bad
}

// Good reports whether no item failed, no verdict is bad and Finding is not bad news.
func (g *Merged) Good() bool { return len(g.Problems()) == 0 }

// Conclusion says in one line what there is to know about all items: the problems, then the Finding. It is
// never empty.
func (g *Merged) Conclusion() string {
	parts := g.Problems()
	if g.OK && g.Finding != "" {
		parts = append(parts, g.Finding)
	}
	if len(parts) > 0 {
		return strings.Join(parts, "; ")
	}
	if g.Flagged < 0 {
		return fmt.Sprintf("no item of %d failed", g.Status.Items)
	}
	return fmt.Sprintf("no item of %d failed, and no verdict is bad", g.Status.Items)
}
