// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// entry is a number of a metadata file; the unit "-" stands for none.
type entry struct {
	key   string
	value float64
	unit  string
}

func metadataFile(t *testing.T, entries ...entry) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "m.h5")
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := w.Write("/entry/instrument/"+e.key, []float64{e.value}, hdf5.Layout{}); err != nil {
			t.Fatal(err)
		}
		if e.unit != "-" {
			if err := w.Attr("/entry/instrument/"+e.key, "units", e.unit); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// Every number of the table is read in other units than its own, and refused in units that are none of its kind and where no
// experiment has it.
func TestUnitsOfMetadata(t *testing.T) {
	for _, p := range places {
		for _, key := range p.keys {
			key = strings.TrimPrefix(key, "/entry/instrument/")
			m, err := ReadMetadata(metadataFile(t, entry{key, 5, "parsec"}))
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Faults) != 1 || !strings.Contains(m.Faults[0].Err.Error(), "parsec") || !strings.Contains(m.Faults[0].Err.Error(), key) {
				t.Errorf("%s in parsec: faults %v", key, m.Faults)
			}
			if p.to != nil && !math.IsNaN(*p.to(m)) {
				t.Errorf("%s in parsec: %g", key, *p.to(m))
			}
			if m, err = ReadMetadata(metadataFile(t, entry{key, 1e14, "-"})); err != nil || len(m.Faults) != 1 {
				t.Errorf("%s of 1e14: %v, faults %v", key, err, m.Faults)
			}
		}
	}
	for _, c := range []struct {
		entries []entry
		field   string
		want    float64
	}{
		{[]entry{{"detector/detector_distance", 5000, "millimeter"}}, "distance", 5},
		{[]entry{{"detector_1/distance", 5000, "Millimetres"}}, "distance", 5},
		{[]entry{{"detector/frame_time", 10, "milliseconds"}}, "frame time", 0.01},
		{[]entry{{"detector/frame_time", 100, "Hz"}}, "frame time", 0.01},
		{[]entry{{"beam/incident_wavelength", 1.239841984e-10, "meters"}}, "energy", 10},
		{[]entry{{"beam/incident_wavelength", 0.1239841984, "nanometer"}}, "energy", 10},
		{[]entry{{"incident_beam/incident_energy", 800, "-"}}, "energy", 0.8},
		{[]entry{{"incident_beam/incident_energy", 800, "eV"}}, "energy", 0.8},
		{[]entry{{"incident_beam/incident_energy", 10, "-"}}, "energy", 10},
		{[]entry{{"incident_beam/incident_energy", 10000, "-"}}, "energy", 10},
		{[]entry{{"detector/x_pixel_size", 0.075, "mm"}, {"detector/beam_center_x", 7.5, "mm"}}, "beam x", 100},
		{[]entry{{"detector/x_pixel_size", 75, "um"}, {"detector/beam_center_x", -3, "pixel"}}, "beam x", -3},
		{[]entry{{"detector_1/x_pixel_size", 7.5e-5, "-"}, {"detector_1/beam_center_x", 4.5, "-"}, {"detector_1/position_x", 0.0075, "-"}, {"detector_1/beam_center_position_x", 0, "-"}}, "beam x", 104.5},
		{[]entry{{"detector_1/x_pixel_size", 7.5e-5, "-"}, {"detector_1/beam_center_x", 4.5, "-"}, {"detector_1/position_x", 7.5, "mm"}, {"detector_1/beam_center_position_x", 0, "mm"}}, "beam x", 104.5},
		{[]entry{{"detector_1/flightpath_swing", 5, "-"}}, "swing", 5 * math.Pi / 180},
		{[]entry{{"detector_1/flightpath_swing", 0.1, "rad"}}, "swing", 0.1},
	} {
		m, err := ReadMetadata(metadataFile(t, c.entries...))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{"distance": m.Distance, "frame time": m.FrameTime, "energy": m.Energy, "beam x": m.BeamX, "swing": m.SwingHorizontal}[c.field]
		if len(m.Faults) > 0 || !(math.Abs(got-c.want) <= 1e-9*math.Abs(c.want)) {
			t.Errorf("%v: %s is %g, want %g (faults %v)", c.entries, c.field, got, c.want, m.Faults)
		}
	}
	m, err := ReadMetadata(metadataFile(t, entry{"detector/x_pixel_size", 75e-6, "m"}, entry{"detector/y_pixel_size", 150e-6, "m"}))
	if err != nil || m.Square() == nil {
		t.Errorf("%v: pixels of 75 and 150 um are called square", err)
	}
	for _, far := range []float64{75, -230} { // mm taken as m
		m, err := ReadMetadata(metadataFile(t, entry{"detector_1/x_pixel_size", 7.5e-5, "-"}, entry{"detector_1/beam_center_x", 4.5, "-"}, entry{"detector_1/position_x", far, "-"}, entry{"detector_1/beam_center_position_x", 0, "-"}))
		if err != nil || m.FaultOf("BeamX") == nil || !math.IsNaN(m.BeamX) {
			t.Errorf("a detector that moved by %g m: %+v, %v", far, m, err)
		}
	}
}

// Of every number without a unit, other than those of pixels, it is said in which unit it was taken; of others nothing is.
func TestNumbersWithoutUnits(t *testing.T) {
	for _, p := range places {
		unit := p.bareUnit(5, 5)
		if unit == "" {
			continue
		}
		given := map[bool]float64{true: 0.01, false: 5}[strings.HasPrefix(p.field, "Pixel")]
		for _, key := range p.keys {
			if strings.HasSuffix(key, "photon_energy") {
				given, unit = 5000, "eV" // the standard of the format
			}
			key = strings.TrimPrefix(key, "/entry/instrument/")
			for written, told := range map[string]bool{"-": true, map[string]string{"degrees": "deg"}[unit] + map[bool]string{true: unit}[unit != "degrees"]: false} {
				m, err := ReadMetadata(metadataFile(t, entry{key, given, written}))
				if err != nil || len(m.Faults) > 0 {
					t.Fatalf("%s: %v, %v", key, err, m.Faults)
				}
				want := key[strings.LastIndex(key, "/")+1:] + fmt.Sprintf(" = %g is taken as %s", given, unit)
				if strings.Contains(m.String(), want) != told || (len(m.Bare) > 0) != told {
					t.Errorf("%s in %q: %s, want %q: %v", key, written, m, want, told)
				}
			}
		}
	}
	if m, err := ReadMetadata(metadataFile(t, entry{"beam/incident_energy", 800, "-"})); err != nil || !strings.Contains(m.String(), "incident_energy = 800 is taken as eV") {
		t.Errorf("%v, %v", m, err)
	}
}

// Lengths are converted to pixels by the size that counts, and energy and wavelength must not contradict each other.
func TestNumbersThatBelongTogether(t *testing.T) {
	file := metadataFile(t, entry{"detector/x_pixel_size", 75, "um"}, entry{"detector/y_pixel_size", 150, "um"}, entry{"detector/beam_center_x", 7.5, "mm"}, entry{"detector/beam_center_y", 7.5, "mm"},
		entry{"detector/position_x", 15, "mm"}, entry{"detector/beam_center_position_x", 0, "mm"})
	for _, c := range []struct{ pixel, x, y float64 }{{math.NaN(), 300, 50}, {75e-6, 300, 100}, {150e-6, 150, 50}} {
		if m, err := ReadMetadataFor(file, c.pixel); err != nil || math.Abs(m.BeamX-c.x) > 1e-9 || math.Abs(m.BeamY-c.y) > 1e-9 {
			t.Errorf("pixels of %g m: the beam is at %g, %g, want %g, %g (%v)", c.pixel, m.BeamX, m.BeamY, c.x, c.y, err)
		}
	}
	if m, err := ReadMetadata(metadataFile(t, entry{"detector/beam_center_x", 7.5, "mm"})); err != nil || m.FaultOf("BeamX") == nil || !strings.Contains(m.FaultOf("BeamX").Error(), "size of pixels") {
		t.Errorf("a beam in mm without pixels: %+v, %v", m, err)
	}
	for wavelength, good := range map[float64]bool{1.2398: true, 1.245: true, 1.5: false, 12.4: false} {
		m, err := ReadMetadata(metadataFile(t, entry{"incident_beam/incident_energy", 10, "keV"}, entry{"beam/incident_wavelength", wavelength, "angstrom"}))
		if err != nil || (m.FaultOf("Energy") == nil) != good || math.IsNaN(m.Energy) == good {
			t.Errorf("10 keV beside %g angstrom: %g keV, %v, %v", wavelength, m.Energy, m.Faults, err)
		}
	}
}

// Metadata stand beside the frames, and supply what the file of the frames lacks.
func TestMetadataBeside(t *testing.T) {
	dir := t.TempDir()
	beside := filepath.Join(dir, "A012_metadata.hdf")
	if err := os.Rename(metadataFile(t, entry{"detector/frame_time", 5, "ms"}, entry{"detector/distance", 7, "m"}, entry{"detector/beam_center_x", 3, "-"}), beside); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"A012.hdf", "A012_00001.h5", "A012_master.h5", "A012.imm"} {
		if got := MetadataBeside(filepath.Join(dir, name)); got != beside {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := MetadataBeside(filepath.Join(dir, "A01.hdf")) + MetadataBeside(beside); got != "" {
		t.Error(got)
	}
	name := filepath.Join(dir, "A012.hdf")
	if err := os.Rename(metadataFile(t, entry{"detector/distance", 5, "m"}, entry{"detector/frame_time", 5, "parsec"}), name); err != nil {
		t.Fatal(err)
	}
	m := (&File{Name: name, Format: "hdf5"}).Metadata()
	if m.Distance != 5 || m.FrameTime != 0.005 || m.BeamX != 3 || !math.IsNaN(m.Energy) || len(m.Faults) > 0 {
		t.Errorf("%+v", m)
	}
}

// The numbers of a geometry of pyFAI 2026.9 and of an older one; what is wrong with a file is told.
func TestPONI(t *testing.T) {
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "a.poni")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	old := "# written before\nPixelSize1: 1.72e-04\nPixelSize2: 1.72e-04\nDistance: 0.5\nPoni1: 0.0172\nPoni2: 0.0344\nRot1: 0\nRot2: 0\nRot3: 0.1\nWavelength: 1.2398e-10\n"
	m, err := ReadMetadata(write(old))
	if err != nil || math.Abs(m.BeamY-99.5) > 1e-9 || math.Abs(m.BeamX-199.5) > 1e-9 || math.Abs(m.Energy-10) > 1e-3 || m.SwingHorizontal != 0 || m.SwingVertical != 0 || m.Height != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	if math.Abs(m.Roll-0.1) > 1e-12 {
		t.Errorf("roll %g, want 0.1", m.Roll)
	}
	m, err = ReadMetadata(write("poni_version: 2\nDetector: PilatusCdTe1M\nDetector_config: {}\nDistance: 1\nPoni1: 0\nPoni2: 0\n"))
	if err != nil || m.PixelSize != 172e-6 || m.Height != 1043 || m.Width != 981 || !math.IsNaN(m.Energy) {
		t.Errorf("%+v, %v", m, err)
	}
	for text, want := range map[string]string{
		"a: b\n": "no geometry of pyFAI", strings.Replace(old, "0.5", "far", 1): `distance is "far"`,
		old + `Detector_config: {"orientation": 2}`: "orientation 2", old + `Detector_config: {"orientation": 5}`: "orientation is 5", old + "Detector_config: {": "no JSON object",
	} {
		if _, err := ReadMetadata(write(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Stages say where the beam is only if the detector stands upright or upside down.
func TestTurnedDetectorOfReflection(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.h5")
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w.Write("/entry/instrument/detector_1/direct_beam_image_x", 28.0, hdf5.Layout{})
	w.Write("/entry/instrument/detector_1/rotation_z", 45.0, hdf5.Layout{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := ReadMetadata(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.FaultOf("BeamX"); err == nil || !strings.Contains(err.Error(), "turned by 45 degrees") || !math.IsNaN(m.BeamX) {
		t.Errorf("%v, beam at %g", err, m.BeamX)
	}
	if err := m.FaultOf("Distance"); err == nil || !strings.Contains(err.Error(), "current_stage_z") {
		t.Error(err)
	}
}
