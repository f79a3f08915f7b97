// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

var plain = Geometry{Height: 30, Width: 40, CenterRow: 12, CenterCol: 20, PixelSize: 75e-6, Distance: 5, Energy: 10}

// TestGeometryTellsAllThatIsWrong lists everything in one error.
func TestGeometryTellsAllThatIsWrong(t *testing.T) {
	_, err := Geometry{CenterRow: math.NaN(), Convention: "exakt"}.QMap()
	if err == nil {
		t.Fatal("an empty geometry was accepted")
	}
	for _, want := range []string{"shape", "Energy", "PixelSize", "Distance", "CenterRow", "did you mean exact"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: does not tell of %s", err, want)
		}
	}
	if _, err := plain.QMap("Q"); err == nil || !strings.Contains(err.Error(), "did you mean q") {
		t.Errorf("channel Q: %v", err)
	}
	both := plain
	both.Reflection, both.SwingVertical = true, 0.1
	if _, err := both.QMap(); err == nil {
		t.Error("a reflection with swing angles was accepted")
	}
}

// TestCentre checks the pixel of the beam: q is 0, every derivative finite.
func TestCentre(t *testing.T) {
	m, err := plain.QMap()
	if err != nil {
		t.Fatal(err)
	}
	at := 12*40 + 20
	for i, c := range m.Channels {
		if v := m.Values[i][at]; c.Name != "x" && c.Name != "y" && v != 0 {
			t.Errorf("%s is %v at the centre", c.Name, v)
		}
	}
	phi, _ := m.Channel("phi")
	if phi[at-1] != -180 {
		t.Errorf("left of the centre phi is %v", phi[at-1])
	}
	row, col := ad.Input("row"), ad.Input("col")
	for _, c := range plain.Channels() {
		n := plain.Node(c.Name, ad.Scalar(12), ad.Scalar(20), Parameters{CenterRow: row, CenterCol: col})
		prog, err := ad.Compile(ad.Grad(n, row, col), ad.Settings{Inputs: []*ad.Node{row, col}})
		if err != nil {
			t.Fatal(err)
		}
		st := prog.NewState()
		st.Input(0)[0], st.Input(1)[0] = 12, 20
		if err := st.Run(); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if v := st.Output(i)[0]; math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("the derivative of %s at the centre is %v", c.Name, v)
			}
		}
	}
}

// TestMapperFollowsParameters compares a map made again with a new one.
func TestMapperFollowsParameters(t *testing.T) {
	m, err := NewMapper(plain, ad.Settings{}, "q", "phi")
	if err != nil {
		t.Fatal(err)
	}
	g := plain
	g.CenterRow, g.Distance, g.Energy = 3.25, 4, 8
	again, err := m.Map(g)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := g.QMap("q", "phi")
	if err != nil {
		t.Fatal(err)
	}
	for c := range fresh.Values {
		for i, w := range fresh.Values[c] {
			if again.Values[c][i] != w {
				t.Fatalf("channel %d, pixel %d: %v, want %v", c, i, again.Values[c][i], w)
			}
		}
	}
	g.Width++
	if _, err := m.Map(g); err == nil {
		t.Error("a map of another shape was made")
	}
	g.Width, g.SwingVertical = g.Width-1, 0.1
	if _, err := m.Map(g); err == nil {
		t.Error("a Mapper for a fixed detector turned it")
	}
}

// TestSwingKeepsLengths checks that turning the detector changes no distance from the sample, and that q of its
// centre is that of the angle.
func TestSwingKeepsLengths(t *testing.T) {
	g := plain
	g.SwingHorizontal = 0.2
	m, err := g.QMap("q", "TTH")
	if err != nil {
		t.Fatal(err)
	}
	at := 12*40 + 20
	if want := 2 * g.K0() * math.Sin(0.1); math.Abs(m.Values[0][at]/want-1) > 1e-14 || math.Abs(m.Values[1][at]-0.2*180/math.Pi) > 1e-13 {
		t.Errorf("q %v and angle %v of the centre, want %v and 0.2 rad", m.Values[0][at], m.Values[1][at], want)
	}
}

func BenchmarkQMap(b *testing.B) {
	g := plain
	g.Height, g.Width = 2048, 2048
	for _, reflected := range []bool{false, true} {
		g.Reflection = reflected
		m, err := NewMapper(g, ad.Settings{Backend: ad.CPU{Threads: 1}})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(map[bool]string{false: "transmission", true: "reflection"}[reflected]+"/2048", func(b *testing.B) {
			for b.Loop() {
				if _, err := m.Map(g); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestScatteringAngle checks that TTH is in degrees, as its unit says, and that q has hc = 12.39841984 keV angstrom, not the viewer's 12.398.
func TestScatteringAngle(t *testing.T) {
	g := Geometry{Height: 40, Width: 50, CenterRow: 3, CenterCol: 4, PixelSize: 1e-3, Distance: 0.1, Energy: 12}
	m, err := g.QMap("TTH", "q")
	if err != nil {
		t.Fatal(err)
	}
	i := 30*50 + 40 // 27 and 36 pixels from the beam: 45 mm
	angle := math.Atan(0.45)
	if got := m.Values[0][i]; math.Abs(got-angle*180/math.Pi) > 1e-12 || g.Unit("TTH") != "deg" {
		t.Errorf("2 theta is %g %s, want %g degrees", got, g.Unit("TTH"), angle*180/math.Pi)
	}
	if got, want := m.Values[1][i], 4*math.Pi*12/12.39841984*math.Sin(angle/2); math.Abs(got-want) > 1e-12 {
		t.Errorf("q is %.15g, want %.15g 1/angstrom", got, want)
	}
}
