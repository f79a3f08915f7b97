// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"strings"
	"testing"
)

// A profile counts every part of every step, and changes nothing.
func TestProfile(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		make := func() *Brain {
			b := New(Settings{P: 0.05, Seed: 1})
			check(t, b.AddStimulus("S", 50))
			check(t, b.AddArea(Area{Name: "A", N: 2000, K: 50, Beta: 0.1, Lazy: lazy}))
			return b
		}
		a, b := make(), make()
		p := a.Profile()
		must(t)(a.Form("S", "A", 5))
		must(t)(b.Form("S", "A", 5))
		if x, y := winners(t, a, "A"), winners(t, b, "A"); Overlap(x, y, 50) != 1 {
			t.Error("a profile changes what fires")
		}
		parts := map[string]Usage{}
		for _, u := range p.Usage() {
			parts[u.Operation] = u
		}
		for _, name := range []string{"gather", "choose", "learn"} {
			if u := parts[name]; u.Calls != 5 || u.Time <= 0 || u.Bytes <= 0 {
				t.Errorf("lazy %v, %s: %+v", lazy, name, u)
			}
		}
		if r := parts["recruit"]; lazy && r.Bytes <= 0 {
			t.Errorf("recruit: %+v", r)
		}
		if p.Peak < 10000 || !strings.Contains(p.String(), "gather") {
			t.Errorf("peak %d\n%s", p.Peak, p)
		}
	}
}
