// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/nexus"
)

// sample makes matrices of two rings of q, the second of which lacks an azimuth, so that a cell of the grid is empty.
func sample(frames int) *Correlation {
	c := &Correlation{Q: 0.0054, First: 1, Last: frames, Step: 0.1}
	for _, b := range []Bin{{Q: 0.0031, Phi: 0}, {Q: 0.0031, Phi: 90}, {Q: 0.0054, Phi: 0}, {Q: 0.0054, Phi: 45}, {Q: 0.0054, Phi: 90}, {Q: 0.0054, Phi: -170}} {
		k := len(c.Bins)
		m := make([]float64, frames*frames)
		for i := range frames {
			for j := range frames {
				m[i*frames+j] = 1 + 0.2*math.Exp(-0.1*math.Abs(float64(i-j))*float64(k+1)) + 0.001*float64(i+j)
			}
			m[i*frames+i] = 1.9 // shot noise
		}
		c.Bins, c.Phi, c.C2 = append(c.Bins, b), append(c.Phi, b.Phi), append(c.C2, m)
	}
	return c
}

func write(t *testing.T, layout Layout, c *Correlation) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "data.hdf")
	if layout == NPZ {
		name = filepath.Join(t.TempDir(), "data.npz")
	}
	if err := Write(name, layout, c); err != nil {
		t.Fatal(err)
	}
	return name
}

func open(t *testing.T, name string) *File {
	t.Helper()
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// What is written in each layout is read again, at one q, in any window of frames.
func TestLayouts(t *testing.T) {
	for _, layout := range []Layout{APSOld, APSU, NPZ} {
		from := sample(20)
		f := open(t, write(t, layout, from))
		if f.Layout != layout || f.Frames != 20 || len(f.Bins) != 6 || math.Abs(f.Step-0.1) > 1e-12 {
			t.Fatal(layout, f.Layout, f.Frames, f.Bins, f.Step)
		}
		for _, window := range [][2]int{{0, -1}, {1, 20}, {5, 12}, {18, 0}} {
			c, err := f.Read(Selection{Q: 0.0054, First: window[0], Last: window[1]})
			if err != nil {
				t.Fatal(layout, err)
			}
			if c.Q != 0.0054 || len(c.C2) != 4 || c.First != max(window[0], 1) || c.Frames() != len(Clock{}.Times(c.First, c.Last, 1)) {
				t.Fatal(layout, window, c.Q, len(c.C2), c.First, c.Last)
			}
			for k, m := range c.C2 {
				source := slices.IndexFunc(from.Bins, func(b Bin) bool { return b.Q == 0.0054 && b.Phi == c.Phi[k] })
				for i := c.First; i <= c.Last; i++ {
					for j := c.First; j <= c.Last; j++ {
						got, want := m[(i-c.First)*c.Frames()+j-c.First], from.C2[source][(i-1)*20+j-1]
						if math.Abs(got-want) > 1e-7 {
							t.Fatalf("%s: angle %g, frames %d and %d: %g, want %g", layout, c.Phi[k], i, j, got, want)
						}
					}
				}
			}
			if c.Missing[0] != 0 || c.Step != f.Step {
				t.Error(layout, c.Missing, c.Step)
			}
		}
	}
}

// Cells without pixels have no number: bin 4 of the q map is in cell 5 of the grid.
func TestEmptyCells(t *testing.T) {
	f := open(t, write(t, APSU, sample(8)))
	var got []string
	for _, b := range f.Bins {
		got = append(got, fmt.Sprint(b.Number, b.Q, b.Phi))
	}
	want := []string{"1 0.0031 0", "2 0.0031 90", "3 0.0054 -170", "4 0.0054 0", "5 0.0054 45", "6 0.0054 90"}
	if !slices.Equal(got, want) {
		t.Error(got)
	}
}

// Result files of our correlator are of the APS-U layout, and the other way round.
func TestOwnResults(t *testing.T) {
	const n = 6
	name := filepath.Join(t.TempDir(), "own_results.hdf")
	r := &nexus.Result{FrameTime: 0.01, QMap: &nexus.QMap{Dynamic: nexus.Partition{Axis0: []float64{0.01, 0.02}, Axis1: []float64{0, 60, 120}, Cells: []int{0, 2, 3, 4, 5}},
		Static: nexus.Partition{Axis0: []float64{0.01, 0.02}, Axis1: []float64{0, 60, 120}, Cells: []int{0, 2, 3, 4, 5}}},
		Twotime: &nexus.Twotime{Bins: []int{2, 3, 5}, Stride: 2, Average: 3}}
	w, err := nexus.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for k := range r.Twotime.Bins {
		half := make([]float32, n*n)
		for i := range n {
			for j := i; j < n; j++ {
				half[i*n+j] = float32(1 + k + i*j)
			}
		}
		if err := w.AddMap(half, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(r); err != nil {
		t.Fatal(err)
	}
	c, err := open(t, name).Read(Selection{Q: 0.02})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Phi, []float64{0, 120}) || c.C2[1][2*n+1] != 5 || c.C2[1][n+2] != 5 || math.Abs(c.Step-0.06) > 1e-12 {
		t.Error(c.Phi, c.C2, c.Step)
	}
	if r, err = nexus.Open(write(t, APSU, sample(6))); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if m, err := r.ReadC2(3, 0, true); err != nil || r.QMap.Phi(4) != 0 || m.Step != 0.1 || m.At(0, 0) != float64(float32(1.9)) {
		t.Error(m, err)
	}
}

func TestNaturalOrder(t *testing.T) {
	names := []string{"c2_10", "c2_9", "c2_0011", "c2_", "c2_1x", "c2_1", "b9"}
	slices.SortFunc(names, natural)
	if want := []string{"b9", "c2_", "c2_1", "c2_1x", "c2_9", "c2_10", "c2_0011"}; !slices.Equal(names, want) {
		t.Error(names)
	}
}

// Matrices that are complete stay, triangles of either side are completed, and others are an error.
func TestFold(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		in, want []float64
		whole    bool
		fault    string
	}{
		{[]float64{1, 2, 3, 0, 4, 5, 0, 0, 6}, []float64{1, 2, 3, 2, 4, 5, 3, 5, 6}, false, ""},
		{[]float64{1, 0, 0, 2, 4, 0, 3, 5, 6}, []float64{1, 2, 3, 2, 4, 5, 3, 5, 6}, false, ""},
		{[]float64{1, 2, 3, nan, 4, 5, nan, nan, 6}, []float64{1, 2, 3, 2, 4, 5, 3, 5, 6}, false, ""},
		{[]float64{1, 2, 3, 2, 4, 5, 3, 5, 6}, []float64{1, 2, 3, 2, 4, 5, 3, 5, 6}, true, ""},
		{[]float64{1, nan, 3, nan, 4, 5, 3, 5, 6}, []float64{1, nan, 3, nan, 4, 5, 3, 5, 6}, true, ""},
		{[]float64{1, nan, 3, 0, 4, 5, 0, 0, 6}, []float64{1, nan, 3, nan, 4, 5, 3, 5, 6}, false, ""},
		{[]float64{1, 2, 3, 9, 4, 5, 3, 5, 6}, nil, false, "frames 1 and 2 have 2, but 9 the other way round"},
	} {
		m := slices.Clone(c.in)
		whole, err := fold(m, 3)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Error(err)
			}
			continue
		}
		if err != nil || whole != c.whole || fmt.Sprint(m) != fmt.Sprint(c.want) {
			t.Error(c.in, m, whole, err)
		}
	}
}

// Only bins of one q are taken, and never those of another because there are few.
func TestOneQ(t *testing.T) {
	c := sample(5)
	for k := range c.Bins {
		c.Bins[k].Q *= 1 + 1e-4*float64(k) // as measured means are
	}
	f := open(t, write(t, APSOld, c))
	for _, s := range []struct {
		q, tolerance float64
		bins         int
		fault, note  string
	}{
		{0.0054, 0, 4, "", "4 bins at q from 0.00540108 to"}, {0.0031, 0, 2, "", "the next q is 0.00540108"},
		{0.0053, 0, 4, "", "q = 0.0053 1/angstrom was asked for, the nearest bins have 0.0054"},
		{0.0042, 0, 0, "no bin is near q = 0.0042", ""}, {0, 0, 0, "has bins of several q", ""}, {0.0054, 0.2, 0, "the tolerance of q is 0.2", ""},
		{-1, 0, 0, "q is -1", ""}, {math.NaN(), 0, 0, "q is NaN", ""},
	} {
		got, err := f.Read(Selection{Q: s.q, Tolerance: s.tolerance})
		switch {
		case s.fault != "":
			if err == nil || !strings.Contains(err.Error(), s.fault) {
				t.Errorf("q %g: %v, want %q", s.q, err, s.fault)
			}
		case err != nil:
			t.Error(err)
		case len(got.C2) != s.bins || !strings.Contains(strings.Join(got.Notes, "\n"), s.note):
			t.Errorf("q %g: %d bins, %q", s.q, len(got.C2), got.Notes)
		}
	}
	c.Bins[0].Q, c.Bins[1].Q, c.Bins[2].Q = 0.0052, 0.0052, 0.0054
	f = open(t, write(t, APSOld, c))
	if _, err := f.Read(Selection{Q: 0.0054, Tolerance: 0.1}); err == nil || !strings.Contains(err.Error(), "these are different q: use a tolerance below 0.0") {
		t.Error(err)
	}
}

func TestAngles(t *testing.T) {
	f := open(t, write(t, APSU, sample(5)))
	for _, c := range []struct {
		filter AngleFilter
		want   string
	}{
		{AngleFilter{}, "[-170 0 45 90]"}, {AngleFilter{Ranges: [][2]float64{{-10, 10}, {85, 95}}}, "[0 90]"},
		{AngleFilter{Ranges: [][2]float64{{170, -170}}}, "[-170]"}, {AngleFilter{Ranges: [][2]float64{{180, 200}}}, "[-170]"}, {AngleFilter{Ranges: [][2]float64{{45, 45}}}, "[45]"},
		{AngleFilter{Ranges: [][2]float64{{46, 47}}, All: true}, "[-170 0 45 90]"}, {AngleFilter{Ranges: [][2]float64{{46, 47}}}, "no angle is within 46..47 degrees: the angles are -170, 0, 45, 90"},
	} {
		got, err := f.Read(Selection{Q: 0.0054, Angles: c.filter})
		text := fmt.Sprint(err)
		if err == nil {
			text = fmt.Sprint(got.Phi)
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%v: %s, want %s", c.filter, text, c.want)
		}
	}
	name := filepath.Join(t.TempDir(), "phi.txt")
	for text, want := range map[string]string{"# degrees\n0\n-45.5, 90 # three\n": "[0 -45.5 90] <nil>", "0\n\nx\n": "line 3: \"x\" is not a number", "# none\n": "has no angles", "1\nNaN": "line 2"} {
		os.WriteFile(name, []byte(text), 0o600)
		if phi, err := ReadAngles(name); !strings.Contains(fmt.Sprint(phi, err), want) {
			t.Errorf("%q: %v %v", text, phi, err)
		}
	}
}

func TestFramesAndStep(t *testing.T) {
	c := sample(10)
	c.Step = math.NaN()
	name := filepath.Join(t.TempDir(), "old.hdf")
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w.Write("/exchange/C2T_all/g2_1", half(c.C2[0], 10), hdf5.Layout{Shape: []int{1, 10, 10}})
	w.Write("/xpcs/dqlist", []float64{0.01}, hdf5.Layout{Shape: []int{1, 1}})
	w.Write("/xpcs/dphilist", []float64{30}, hdf5.Layout{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f := open(t, name)
	for want, s := range map[string]Selection{
		"give dt": {}, "dt is -1": {Step: -1}, "frames 5 to 4": {Step: 1, First: 5, Last: 4}, "frame 11 was asked for, but the last one is 10": {Step: 1, First: 11},
		"want at least 3": {Step: 1, First: 9}, "frames 1 to -2": {Step: 1, Last: -2, First: 1},
	} {
		if _, err := f.Read(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", s, err, want)
		}
	}
	got, err := f.Read(Selection{Step: 2, Last: 99})
	if err != nil || got.Last != 10 || !strings.Contains(strings.Join(got.Notes, "\n"), "frame 99 was asked for, but the last one is 10") || got.Step != 2 {
		t.Error(got, err)
	}
	f = open(t, write(t, APSU, sample(10)))
	if got, err = f.Read(Selection{Q: 0.0054, Step: 0.2}); err != nil || !strings.Contains(strings.Join(got.Notes, "\n"), "dt = 0.2 s is used, the file says 0.1 s") {
		t.Error(got, err)
	}
}

// Angles that may be in radians are noted, and those in degrees are not.
func TestAnglesInRadians(t *testing.T) {
	for _, c := range []struct {
		phi  [4]float64
		told bool
	}{{[4]float64{0, 0.7, math.Pi / 2, 0.3}, true}, {[4]float64{0, 45, 90, 0.3}, false}, {[4]float64{0, 0.7, math.Pi / 2, -170}, false}} {
		s := sample(6)
		for i, phi := range c.phi {
			s.Bins[2+i].Phi, s.Phi[2+i] = phi, phi
		}
		got, err := open(t, write(t, APSU, s)).Read(Selection{Q: 0.0054, Step: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(strings.Join(got.Notes, "\n"), "all angles lie within 0 to 1.571: are they in radians? They are taken as degrees"); told != c.told {
			t.Errorf("angles %v: %q", c.phi, got.Notes)
		}
	}
}

func TestClock(t *testing.T) {
	start := 0.25
	for _, c := range []struct {
		clock Clock
		want  string
	}{{Clock{}, "[0.9 1.1 1.3]"}, {Clock{Origin: 10}, "[10.9 11.1 11.3]"}, {Clock{Window: true}, "[0 0.2 0.4]"}, {Clock{Start: &start}, "[0.25 0.45 0.65]"}} {
		got := c.clock.Times(5, 7, 0.2)
		for i := range got {
			got[i] = math.Round(got[i]*1e9) / 1e9
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%+v: %v, want %s", c.clock, got, c.want)
		}
	}
}

// Numbers that are not finite are counted, and have no part in a mean.
func TestMissing(t *testing.T) {
	c := sample(6)
	c.C2[2][1], c.C2[2][6] = math.NaN(), math.NaN() // frames 1 and 2 at q 0.0054, 0 degrees
	c.C2[3][2] = math.Inf(1)
	f := open(t, write(t, APSU, c))
	got, err := f.Read(Selection{Q: 0.0054})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Missing, []int{0, 1, 1, 0}) || !strings.Contains(strings.Join(got.Notes, "\n"), "2 of 60 pairs") {
		t.Error(got.Missing, got.Notes)
	}
	for i := range 6 { // the third frame
		c.C2[2][2*6+i], c.C2[2][6*i+2] = math.NaN(), math.NaN()
	}
	f = open(t, write(t, APSU, c))
	if lost, err := f.Read(Selection{Q: 0.0054}); err != nil || !strings.Contains(strings.Join(lost.Notes, "\n"), "(all of frame 3)") {
		t.Error(lost, err)
	}
	m := got.Mean()
	if want := (got.C2[0][1] + got.C2[2][1] + got.C2[3][1]) / 3; math.Abs(m.C2[0][1]-want) > 1e-12 || m.Missing[0] != 0 || len(m.Phi) != 1 {
		t.Error(m.C2[0][1], want, m.Missing)
	}
	for i := range c.C2[4] {
		c.C2[4][i] = math.NaN()
	}
	if _, err = open(t, write(t, APSU, c)).Read(Selection{Q: 0.0054}); err == nil || !strings.Contains(err.Error(), "c2_00006: none of the 15 pairs of frames has a finite number") {
		t.Error(err)
	}
}

// A cache is refused if q, frames or its source changed, and serves any window within it.
func TestCache(t *testing.T) {
	c := sample(12)
	c.Bins, c.Phi, c.C2 = c.Bins[2:], c.Phi[2:], c.C2[2:]
	c.First, c.Last = 101, 112
	source := filepath.Join(t.TempDir(), "raw.hdf")
	if err := os.WriteFile(source, []byte("frames"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.File = source
	name := write(t, NPZ, c)
	f := open(t, name)
	for want, s := range map[string]Selection{
		"made for q = 0.0054 1/angstrom, not 0.0055": {Q: 0.0055}, "has the frames 101 to 112, not 100 to 112": {First: 100, Last: 112}, "has the frames 101 to 112, not 101 to 113": {First: 101, Last: 113},
		"has the frames 101 to 112, not 1 to -1": {First: 1, Last: -1},
	} {
		if _, err := f.Read(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
	got, err := f.Read(Selection{First: 104, Last: 108, Q: 0.0054})
	if err != nil || got.C2[0][1] != c.C2[0][3*12+4] || got.First != 104 {
		t.Error(got, err)
	}
	if err := os.WriteFile(source, []byte("other frames"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(name); err == nil || !strings.Contains(err.Error(), "raw.hdf now has 12 bytes") {
		t.Error(err)
	}
	os.Remove(source)
	if f := open(t, name); !strings.Contains(strings.Join(f.Notes, "\n"), "no longer there") {
		t.Error(f.Notes)
	}
}
