package check

import "fmt"

// directionTest tests a departure that can be named.
func (w *residuals) directionTest(dir Direction) test {
	g := w.try(dir.Columns)
	t := test{kind: dir.Kind, of: dir.Of, p: g.p, columns: dir.Columns, gain: g, named: true}
	if dir.Holds != nil && !dir.Holds(g.coef) {
		t.p, t.columns = 1, nil
	}
	t.harmless = g.harmless()
	t.effect = g.share
	t.brief = func() string {
		text, _ := dir.Say(g.coef, g.sd)
		return text
	}
	t.say = func() Flag {
		text, remedy := dir.Say(g.coef, g.sd)
		where := ""
		if len(w.d.Axes) > 0 {
			where, _ = w.strongest(w.d.Axes[0])
		}
		return Flag{Where: where, Remedy: remedy, Text: fmt.Sprintf("%s; this explains %s of the scatter of the residuals%s", text, percent(g.share), w.moves(&g))}
	}
	return t
}
