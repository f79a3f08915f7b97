// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import "fmt"

// directionTest tests a departure that can be named.
func (w *residuals) directionTest(dir *Direction, say func(*test) Flag) test {
	g := w.try(dir.Columns)
	t := test{kind: dir.Kind, of: dir.Of, p: g.p, columns: dir.Columns, gain: g, effect: g.share, harmless: g.harmless(), named: dir, say: say}
	if dir.Holds != nil && !dir.Holds(g.coef) {
		t.p, t.columns = 1, nil
	}
	return t
}

func (w *residuals) sayDirection(t *test) Flag {
	text, remedy := t.named.Say(t.gain.coef, t.gain.sd)
	where := ""
	if len(w.d.Axes) > 0 {
		where, _ = w.strongest(w.d.Axes[0])
	}
	return Flag{Where: where, Remedy: remedy, Text: fmt.Sprintf("%s; this explains %s of the scatter of the residuals%s", text, percent(t.gain.share), w.moves(&t.gain))}
}
