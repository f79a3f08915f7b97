// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"fmt"
	"strings"
)

// DescribeBounds lists, for a help text, every model with its formula and the default bounds of
// its parameters.
func DescribeBounds() string {
	return describe(func(m Model) []Param { return m.Params }, Param.boundsInWords)
}

// DescribePriors lists, for a help text, every model with its formula and the default priors of the
// parameters that are sampled.
func DescribePriors() string {
	return describe(func(m Model) []Param {
		params, _ := m.sampledForm()
		return params
	}, Param.priorInWords)
}

// describe lists the models with a text about each of their parameters.
func describe(params func(Model) []Param, about func(Param) string) string {
	var b strings.Builder
	for _, m := range models {
		fmt.Fprintf(&b, "  %s: %s\n", m.Name, m.Formula)
		width := 0
		for _, p := range params(m) {
			width = max(width, len(p.Name))
		}
		for _, p := range params(m) {
			for i, line := range strings.Split(about(p), "\n") {
				name := p.Name
				if i > 0 {
					name = ""
				}
				fmt.Fprintf(&b, "    %-*s  %s\n", width, name, line)
			}
		}
	}
	return b.String()
}

func (p Param) boundsInWords() string {
	text := fmt.Sprintf("%g to %g", p.Lower, p.Upper)
	if p.Range != nil {
		if text = p.RangeText; text == "" {
			text = "computed from the data"
		}
	}
	if p.Unit != "" {
		text += ", in " + p.Unit
	}
	return text
}

// priorInWords describes the prior in the form that --prior takes, unless it depends on the data.
func (p Param) priorInWords() string {
	d := p.Prior
	if p.priorOf != nil {
		return p.PriorText
	}
	if p.PriorRange != nil {
		if p.Range != nil {
			if p.PriorText == "" {
				return "computed from the data"
			}
			return p.PriorText
		}
		d = p.PriorRange(p.Lower, p.Upper)
	}
	text := d.String()
	if p.Unit != "" {
		text += ", in " + p.Unit
	}
	return text
}
