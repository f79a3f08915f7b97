// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/data/scatter"
)

// scan is a small file of images.
type scan struct {
	rows, columns int
	energies      []float64
	pixels        []int32 // of all images; nil for 5 everywhere
	attrs         map[string]any
	units         map[string]string // of lists
	lists         map[string][]float64
}

// write writes the scan as HDF5 and returns its name.
func (s scan) write(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "scan.h5")
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	pixels := s.pixels
	if pixels == nil {
		pixels = slices.Repeat([]int32{5}, len(s.energies)*s.rows*s.columns)
	}
	w.Write("/I", pixels, hdf5.Layout{Shape: []int{len(s.energies), s.rows, s.columns}})
	w.Write("/energy", s.energies, hdf5.Layout{})
	for k, x := range s.lists {
		w.Write("/"+k, x, hdf5.Layout{})
		if u := s.units[k]; u != "" {
			w.Attr("/"+k, "units", u)
		}
	}
	for k, x := range s.attrs {
		w.Attr("/I", k, x)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// good is a scan without a fault.
func good() scan {
	return scan{rows: 6, columns: 8, energies: []float64{270, 285}, lists: map[string][]float64{}, units: map[string]string{},
		attrs: map[string]any{"dist": 0.5, "pixel1": 6e-5, "pixel2": 6e-5, "poni1": 1.8e-4, "poni2": 2.4e-4, "exposure": 2.0}}
}

// What is wrong with a file is said in a sentence with the numbers, and what to try.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(s *scan)
		s     scatter.Settings
		want  []string
	}{
		"no geometry":      {func(s *scan) { s.attrs = map[string]any{"exposure": 1.0} }, scatter.Settings{}, []string{"there is no geometry", "dist, sdd", "poni1", "beam_center_x", `"geometry": {"distance"`}},
		"m for mm":         {func(s *scan) { s.attrs["sdd"] = 0.5 }, scatter.Settings{}, []string{"dist gives a distance of 500 mm and sdd one of 0.5 mm", "factor of 1000"}},
		"distance in m":    {func(s *scan) { delete(s.attrs, "dist"); s.attrs["sdd"] = 0.5 }, scatter.Settings{}, []string{"the distance is 0.5 mm", "is it in m?"}},
		"distance in mm":   {func(s *scan) { s.attrs["dist"] = 500.0 }, scatter.Settings{}, []string{"the distance is 500000 mm", "where m are expected"}},
		"pixel 0":          {func(s *scan) { s.attrs["pixel1"] = 0.0 }, scatter.Settings{}, []string{"the pixels are 0 x 0.06 mm"}},
		"exposure in ms":   {func(s *scan) { s.attrs["exposure"] = 15000.0 }, scatter.Settings{}, []string{"an exposure is 15000: is it in ms?"}},
		"keV":              {func(s *scan) { s.energies = []float64{0.27, 0.285} }, scatter.Settings{}, []string{"the energy of pattern 1 is 0.27 eV", "is it in keV?"}},
		"other energies":   {func(s *scan) {}, scatter.Settings{Energies: []float64{285.5}}, []string{"no pattern at 285.5 eV", "[270 285]"}},
		"wavelength":       {func(s *scan) { s.lists["wavelength"], s.units["wavelength"] = []float64{4.59, 9}, "nm" }, scatter.Settings{}, []string{"the energy of pattern 2 is 285 eV", "9 nm"}},
		"grazing":          {func(s *scan) { s.attrs["incidence_angle"] = 0.2 }, scatter.Settings{}, []string{"grazing angle of 0.2 degrees", "Born"}},
		"bin":              {func(s *scan) {}, scatter.Settings{Bin: 9}, []string{"images of 6 x 8 pixels cannot be binned by 9"}},
		"unknown variable": {func(s *scan) {}, scatter.Settings{Variable: "J"}, []string{`no array "J"`, "I [2 6 8]"}},
		"all saturated":    {func(s *scan) {}, scatter.Settings{Saturation: 5}, []string{"with a saturation of 5, 96 of 96 pixels are saturated", "such as 65535"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := good()
			c.spoil(&s)
			file := s.write(t)
			_, err := scatter.Open(file, c.s)
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range append(c.want, file) {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%v: want %q", err, w)
				}
			}
		})
	}
}

// A file that is no file of measurements says what it is.
func TestNoFiles(t *testing.T) {
	whole, err := os.ReadFile(good().write(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file, text string
		want       []string
	}{
		"pointer":   {"scan.nc", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n", []string{"pointer of Git LFS", "git lfs pull"}},
		"truncated": {"scan.nc", string(whole[:len(whole)-40]), []string{"scan.nc", "truncated"}},
		"text":      {"scan.nc", "hello", []string{"none of the forms"}},
		"words":     {"iq_285eV.csv", "q,I\n0.1,2\n0.2,two\n", []string{"line 3", "0.2,two"}},
		"columns":   {"iq_285eV.csv", "q,I\n0.1,2\n0.2,2,3\n", []string{"line 3", "3 columns, and 2 before"}},
		"no energy": {"iq.csv", "q,I\n0.1,2\n", []string{"photon energy", `"energies": [285.0]`}},
		"q unit":    {"iq_2000eV.csv", "q,I\n0.1,2\n0.9,2\n", []string{`"q_unit"`, "reaches 0.9"}},
		"error":     {"iq_285eV.csv", "q (1/nm),I,dI\n0.1,2,1\n0.2,2,-1\n", []string{"the error of number 2", "is -1"}},
		"twice":     {"iq_285eV.csv", "q (1/nm),I\n0.1,2\n0.1,2\n", []string{"two points at q = 0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			_, err := scatter.Open(file, scatter.Settings{})
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%v: want %q", err, w)
				}
			}
		})
	}
}

// Units of lists are converted, energies are chosen, and pixels that cannot be used are left out and counted.
func TestPixelsLeftOut(t *testing.T) {
	s := good()
	s.attrs["exposure"] = 1.0
	delete(s.attrs, "exposure")
	s.lists["exposure"], s.units["exposure"] = []float64{250, 15000}, "ms"
	s.pixels = slices.Repeat([]int32{105}, 96)
	s.pixels[48], s.pixels[49], s.pixels[50] = 65535, 98, 900
	set, err := scatter.Open(s.write(t), scatter.Settings{Energies: []float64{285.004}, Pedestal: 100, Saturation: 800})
	if err != nil {
		t.Fatal(err)
	}
	f := set.Frames[0]
	if len(set.Frames) != 1 || f.Energy != 285 || f.Exposure != 15 || f.Counts[3] != 5 {
		t.Errorf("%d patterns, %g eV, %g s, %g counts", len(set.Frames), f.Energy, f.Exposure, f.Counts[3])
	}
	for i := range 3 {
		if !math.IsNaN(f.Counts[i]) {
			t.Errorf("pixel %d counts %g", i, f.Counts[i])
		}
	}
	notes := strings.Join(set.Notes, "\n")
	for _, w := range []string{"2 pixels are saturated", "1 pixel is a negative count", "pedestal of 100"} {
		if !strings.Contains(notes, w) {
			t.Errorf("%s: want %q", notes, w)
		}
	}
}

// A visible pedestal is no count, and is asked for.
func TestPedestalIsSeen(t *testing.T) {
	s := good()
	s.pixels = slices.Repeat([]int32{97}, 96)
	set, err := scatter.Open(s.write(t), scatter.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.CheckCounts(); err == nil || !strings.Contains(err.Error(), `the smallest count is 97: subtract a pedestal with "pedestal": 100`) {
		t.Errorf("%v", err)
	}
}

// Noise of the readout about the pedestal is kept, with its variance; a pixel far below is not.
func TestNoiseOfTheReadout(t *testing.T) {
	s := good()
	random := rand.New(rand.NewPCG(1, 2))
	s.rows, s.columns, s.pixels = 20, 30, make([]int32, 2*20*30)
	for i := range s.pixels {
		s.pixels[i] = int32(math.Round(100 + 4*random.NormFloat64()))
	}
	s.pixels[7] = 40
	set, err := scatter.Open(s.write(t), scatter.Settings{Pedestal: 100})
	if err != nil {
		t.Fatal(err)
	}
	below, lost := 0, 0
	for _, f := range set.Frames {
		for _, x := range f.Counts {
			if x < 0 {
				below++
			}
			if math.IsNaN(x) {
				lost++
			}
		}
	}
	if v := set.Frames[0].Readout; v < 11 || v > 22 || below < 450 || lost != 1 {
		t.Errorf("a variance of %g, want about 16; %d pixels are below 0 and %d lost: want about 540 and 1", v, below, lost)
	}
}

// Many counts in every pixel are no pedestal, if neighbours differ as counts do.
func TestBrightImagesHaveNoPedestal(t *testing.T) {
	s := good()
	random := rand.New(rand.NewPCG(1, 2))
	s.pixels = make([]int32, 96)
	for i := range s.pixels {
		s.pixels[i] = int32(400 + 20*random.NormFloat64())
	}
	set, err := scatter.Open(s.write(t), scatter.Settings{})
	if err == nil {
		err = set.CheckCounts()
	}
	if err != nil {
		t.Error(err)
	}
}

// Binning adds counts up, leaves out pixels of which a part is bad, and moves the beam by nothing in mm.
func TestBin(t *testing.T) {
	s := good()
	s.pixels = make([]int32, 96)
	for i := range s.pixels {
		s.pixels[i] = int32(i)
	}
	file := s.write(t)
	mask := filepath.Join(t.TempDir(), "bad.csv")
	if err := maskfile.WriteList(mask, [][2]int{{0, 3}}, false); err != nil {
		t.Fatal(err)
	}
	set, err := scatter.Open(file, scatter.Settings{Bin: 2, Masks: []scatter.Mask{{File: mask}}})
	if err != nil {
		t.Fatal(err)
	}
	one, err := scatter.Open(file, scatter.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if set.Rows != 3 || set.Columns != 4 || set.Frames[0].Counts[0] != 0+1+8+9 || set.Frames[1].Counts[11] != 48*4+38+39+46+47 {
		t.Errorf("%d x %d pixels, %v", set.Rows, set.Columns, set.Frames[0].Counts)
	}
	if g := one.Geometry; set.Geometry.PixelX != 2*g.PixelX || set.Geometry.PoniX != g.PoniX || set.Geometry.PoniY != g.PoniY {
		t.Errorf("%+v against %+v", set.Geometry, g)
	}
	if !set.Keep[0] || set.Keep[1] {
		t.Errorf("mask %v", set.Keep)
	}
}

// picture writes a mask as TIFF or NPY with the numbers given for pixels that are bad and good.
func picture(t *testing.T, rows, columns int, bad func(y, x int) bool) string {
	t.Helper()
	m := &maskfile.Mask{Height: rows, Width: columns, Keep: make([]bool, rows*columns)}
	for i := range m.Keep {
		m.Keep[i] = !bad(i/columns, i%columns)
	}
	name := filepath.Join(t.TempDir(), "mask.tif")
	if err := maskfile.Write(name, m, false); err != nil {
		t.Fatal(err)
	}
	return name
}

// Masks whose convention or orientation is in doubt are asked for.
func TestMasksInDoubt(t *testing.T) {
	s := good()
	few := picture(t, 6, 8, func(y, x int) bool { return y+x > 2 })
	turned := picture(t, 8, 6, func(y, x int) bool { return y == 0 })
	all := picture(t, 6, 8, func(y, x int) bool { return true })
	file := s.write(t)
	for _, c := range []struct {
		m    scatter.Mask
		want string
	}{
		{scatter.Mask{File: few}, "is 0 = keep?"},
		{scatter.Mask{File: turned}, "the shape [8 6] and the images 6 x 8 (rows x columns): its transpose fits"},
		{scatter.Mask{File: all, Keep: "nonzero"}, "leave out all 48 pixels"},
		{scatter.Mask{File: few, Keep: "one"}, `"zero" or "nonzero"`},
	} {
		if _, err := scatter.Open(file, scatter.Settings{Masks: []scatter.Mask{c.m}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: want %q", err, c.want)
		}
	}
	set, err := scatter.Open(file, scatter.Settings{Masks: []scatter.Mask{{File: few, Keep: "zero"}}})
	if err != nil || set.Keep[0] || !set.Keep[7] {
		t.Errorf("%v", err)
	}
	set, err = scatter.Open(file, scatter.Settings{Masks: []scatter.Mask{{File: turned, Transpose: true}}})
	if err != nil || set.Keep[0] || !set.Keep[1] {
		t.Errorf("%v", err)
	}
}

// A mask that covers the dead pixels only when it is transposed is asked for.
func TestTransposedMask(t *testing.T) {
	s := good()
	s.rows, s.columns, s.energies = 16, 16, []float64{285}
	dead := func(y, x int) bool { return y%3 == 1 && x > 8 && x%2 == 0 }
	for i := range 256 {
		s.pixels = append(s.pixels, 50)
		if dead(i/16, i%16) {
			s.pixels[i] = 0
		}
	}
	file := s.write(t)
	right, wrong := picture(t, 16, 16, dead), picture(t, 16, 16, func(y, x int) bool { return dead(x, y) })
	if _, err := scatter.Open(file, scatter.Settings{Masks: []scatter.Mask{{File: right}}}); err != nil {
		t.Error(err)
	}
	if _, err := scatter.Open(file, scatter.Settings{Masks: []scatter.Mask{{File: wrong}}}); err == nil || !strings.Contains(err.Error(), "its transpose 15 of them") {
		t.Error(err)
	}
}

// Images of ALS: the polarisation is that of the undulator less 100, the exposure is longer by 2 ms, and darks of the same exposure are
// taken off.
func TestALS(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, shutter int64, value float64) {
		w, err := fits.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		h := &fits.Header{}
		h.Set("Beamline Energy", 284.5, "")
		h.Set("EPU Polarization", 190.0, "")
		h.Set("EXPOSURE", 2.0, "")
		h.Set("CCD Camera Shutter Inhibit", shutter, "")
		w.Primary(h)
		w.Image("OTHER", nil, []int{2}, []float64{1, 2})
		w.Image("CCD", nil, []int{2, 3}, slices.Repeat([]float64{value}, 6))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write("a.fits", 0, 40)
	s := scatter.Settings{Geometry: scatter.GeometrySettings{Distance: 50, Pixel: 0.027, Beam: &[2]float64{1, 1}}}
	set, err := scatter.Open(dir, s)
	if err != nil {
		t.Fatal(err)
	}
	if f := set.Frames[0]; f.Energy != 284.5 || f.Polarization != 90 || f.Exposure != 2.002 || f.Counts[5] != 40 || set.Rates {
		t.Errorf("%+v", f)
	}
	write("b.fits", 1, 12)
	write("c.fits", 1, 14)
	if set, err = scatter.Open(dir, s); err != nil {
		t.Fatal(err)
	}
	if f := set.Frames[0]; len(set.Frames) != 1 || f.Counts[0] != 27 || !set.Rates {
		t.Errorf("%d images, %+v", len(set.Frames), f)
	}
}

// Optical constants are read whatever the order and the names of their columns; placeholders and rows that are there twice are told.
func TestConstants(t *testing.T) {
	for _, text := range []string{
		"Energy\tDeltaPara\tBetaPara\tDeltaPerp\tBetaPerp\n284\t1\t2\t3\t4\n286\t3\t4\t5\t6\n",
		"BetaPara,DeltaPara,BetaPerp,DeltaPerp,Energy\n2,1,4,3,284\n4,3,6,5,286\n",
		"# energy delta_P3HTpara beta_P3HTpara delta_P3HTperp beta_P3HTperp\n1e-13 0 0 0 0\n286 3 4 5 6\n284 1 2 3 4\n286 3 4 5 6\n",
		"EnergyData0:\n{\n Energy = 284.0;\n BetaPara = 2.0;\n BetaPerp = 4.0;\n DeltaPara = 1.0;\n DeltaPerp = 3.0;\n}\nEnergyData1:\n{\n Energy = 286.0;\n BetaPara = 4.0;\n BetaPerp = 6.0;\n DeltaPara = 3.0;\n DeltaPerp = 5.0;\n}\n",
	} {
		name := filepath.Join(t.TempDir(), "constants.txt")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		c, err := scatter.Constants(name)
		if err != nil {
			t.Fatal(err)
		}
		at, err := c.At(285)
		if err != nil || at.DeltaPara != 2 || at.BetaPara != 3 || at.DeltaPerp != 4 || at.BetaPerp != 5 || len(c.Energies) != 2 {
			t.Errorf("%+v, %v, %v", at, c.Energies, err)
		}
		if strings.Contains(text, "1e-13") && len(c.Notes) != 2 {
			t.Errorf("notes %q", c.Notes)
		}
		if _, err := c.At(287); err == nil || !strings.Contains(err.Error(), "go from 284 to 286 eV, and 287 eV was asked for") {
			t.Errorf("%v", err)
		}
	}
}

// No text makes the reader of tables panic, and what it returns can be summed up.
func FuzzTable(f *testing.F) {
	for _, s := range []string{"q (1/A),I,dI\n0.02,5,1\n", "# Q [A^-1]  I  err\n0.02 5 1\n", "energy,q,I\n285,0.1,1\n285,nan,1\n", "1 2\n3", "q;I\n1e999;2\n"} {
		f.Add([]byte(s))
	}
	name := filepath.Join(f.TempDir(), "iq_285eV.csv")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if set, err := scatter.Open(name, scatter.Settings{QUnit: "1/nm"}); err == nil && set.Summary() == "" {
			t.Error("no summary")
		}
		scatter.Constants(name)
	})
}

// Places of the beam that count from the middle of a pixel are half a pixel off those from its corner; poni wins, and what differs is told.
func TestPlacesOfTheBeam(t *testing.T) {
	for _, c := range []struct {
		poni bool
		x, y float64 // beam_center_x and beam_center_y
		want float64 // mm
		note string
	}{
		{true, 3.5, 2.5, 0.24, "they agree"},
		{true, 5.5, 2.5, 0.24, "puts the beam 2, 0 pixels (x, y) beside poni"},
		{false, 3, 2, 0.21, ""},
	} {
		s := good()
		s.attrs["beam_center_x"], s.attrs["beam_center_y"] = c.x, c.y
		if !c.poni {
			delete(s.attrs, "poni1")
			delete(s.attrs, "poni2")
		}
		set, err := scatter.Open(s.write(t), scatter.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(set.Notes, "\n"); math.Abs(set.Geometry.PoniX-c.want) > 1e-12 || !strings.Contains(notes, c.note) {
			t.Errorf("the beam is at %g mm, %q: want %g and %q", set.Geometry.PoniX, notes, c.want, c.note)
		}
	}
}

// A setting that cannot be is refused without those that are right.
func TestRefusedSettingsAreNamedAlone(t *testing.T) {
	_, err := scatter.Open("x.csv", scatter.Settings{QUnit: "1/Angstrom"})
	if err == nil || !strings.Contains(err.Error(), `"1/Angstrom"`) || strings.Contains(err.Error(), "saturation") {
		t.Errorf("%v", err)
	}
}
