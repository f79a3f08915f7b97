// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/internal/browser"
)

// A page in a browser says what is under the cursor, zooms, and fits a phone.
func TestReportInBrowser(t *testing.T) {
	trace, err := Trace(posterior(3, 200))
	if err != nil {
		t.Fatal(err)
	}
	image, err := Heat(rings(64))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	page := Report{Title: "Rings", Facts: []Fact{{Name: "points", Value: "60"}, {Name: "verdict", Value: "agrees", Verdict: Good}}, Sections: []Section{{Title: "Pictures", Figures: []*Figure{trace, image}}}}
	if err := os.WriteFile(file, []byte(page.HTML()), 0o644); err != nil {
		t.Fatal(err)
	}
	p := browser.Open(t, "file://"+file)
	p.Wait("document.readyState === 'complete' && document.querySelectorAll('figure svg[tabindex]').length === 2")
	var first string
	if p.Eval("document.querySelector('dl dt').textContent", &first); first != "verdict" {
		t.Errorf("the first fact is %s", first)
	}
	for k, want := range []string{"draw", "qx"} {
		var r struct{ Left, Top, Width, Height float64 }
		p.Eval(fmt.Sprintf("(() => { const s = document.querySelectorAll('figure svg')[%d]; s.scrollIntoView({behavior: 'instant', block: 'center'}); const b = s.getBoundingClientRect(), f = JSON.parse(s.closest('figure').dataset.frames)[0].f; return {Left: b.left + f[0] * b.width, Top: b.top + f[1] * b.height, Width: (f[2] - f[0]) * b.width, Height: (f[3] - f[1]) * b.height} })()", k), &r)
		p.Move(r.Left+r.Width/2, r.Top+r.Height/2)
		p.Wait(fmt.Sprintf("document.querySelectorAll('.cursor')[%d].textContent.includes(%q)", k, want))
		p.Drag(r.Left+0.2*r.Width, r.Top+0.2*r.Height, r.Left+0.5*r.Width, r.Top+0.6*r.Height)
		p.Wait(fmt.Sprintf("(() => { const s = document.querySelectorAll('figure svg')[%d]; return s.viewBox.baseVal.x > 0 })()", k))
		p.Eval(fmt.Sprintf("document.querySelectorAll('figure svg')[%d].focus()", k), nil)
		p.Key("0", "Digit0", 48, 0)
		p.Wait(fmt.Sprintf("document.querySelectorAll('figure svg')[%d].viewBox.baseVal.x === 0", k))
	}
	for _, width := range []int{400, 1280} {
		p.Resize(width, 800)
		var wide float64
		if p.Eval("document.documentElement.scrollWidth", &wide); wide > float64(width) {
			t.Errorf("at %d pixels the page is %g wide", width, wide)
		}
	}
	var ground string
	p.Dark(true)
	if p.Eval("getComputedStyle(document.querySelector('figure svg [style*=\"fill:#262B33\"]')).fill", &ground); ground == "" {
		t.Error("the picture has no letters")
	}
	var c color.NRGBA
	if _, err := fmt.Sscanf(ground, "rgb(%d, %d, %d)", &c.R, &c.G, &c.B); err != nil || contrast(c, rgb(0x1a, 0x1d, 0x22)) < 4.5 {
		t.Errorf("letters on a dark page are %s", ground)
	}
	if p.Eval("document.fonts.check('16px \"Euryale Sans\"') && [...document.fonts].length === 2 ? 'both' : 'none'", &ground); ground != "both" {
		t.Error("the page does not carry its letters")
	}
	for _, f := range p.Failures {
		t.Error(f)
	}
}
