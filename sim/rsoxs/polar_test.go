package rsoxs

import "testing"

// The map of circles is that of NRSS, and its means are the curves.
func TestPolar(t *testing.T) {
	want := npz(t, "scatter", "reduce", "reduce.npz")
	c := cases(t)[18]
	images := npz(t, "scatter", "cases", c.ID, "expected.npz")["images"]
	p := &Pattern{Energies: c.Config.Energies, QY: Frequencies(48, c.PhysSize), QX: Frequencies(48, c.PhysSize), Intensity: images}
	d, err := Reduction{}.NewReducer(p)
	if err != nil {
		t.Fatal(err)
	}
	polar, chi, err := d.Polar(p)
	if err != nil {
		t.Fatal(err)
	}
	n := len(chi) * d.n
	same(t, "polar", polar.Float64s()[:n], want["mask1_polar"].Float64s())
	same(t, "chi", chi, want["chi"].Float64s())
	same(t, "q", d.Q(0), want["q_perp"].Float64s())
}
