// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
)

// nrss is what NRSS itself wrote and returned.
type nrss struct {
	Interpolation struct {
		Table    map[string][]float64
		Queries  []float64
		Expected map[string][4]float64
	}
	MaterialFile struct {
		Text           string
		ParsedEnergies []float64 `json:"parsed_energies"`
		Parsed         map[string][4]float64
	} `json:"material_file"`
	ConfigFile struct {
		Text   string
		Parsed map[string]any
	} `json:"config_file"`
	VectorToEuler struct {
		Alignment                       [][][][][3]float64
		Unaligned, Vfrac, S, Theta, Psi [][][][]float64
	} `json:"vector_to_euler"`
	CheckMaterials map[string]struct{ OK bool } `json:"check_materials"`
	Setters        []struct {
		Property string
		Value    float64
		Result   string
	} `json:"property_setters"`
}

func loadNRSS(t *testing.T) *nrss {
	var n nrss
	golden.JSON(t, &n, "scatter", "nrss", "nrss.json")
	return &n
}

func TestConfigOfNRSS(t *testing.T) {
	n := loadNRSS(t)
	c, _, err := ParseConfig(n.ConfigFile.Text, "config.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.String(); got != n.ConfigFile.Text {
		t.Errorf("wrote\n%s\nwant\n%s", got, n.ConfigFile.Text)
	}
	got := map[string]any{
		"CaseType": int(c.CaseType), "Energies": c.Energies, "EAngleRotation": c.EAngleRotation[:], "MorphologyType": int(c.MorphologyType),
		"AlgorithmType": int(c.Algorithm), "NumThreads": c.NumThreads, "DumpMorphology": c.DumpMorphology, "ScatterApproach": int(c.ScatterApproach),
		"WindowingType": int(c.Window), "RotMask": c.RotMask, "EwaldsInterpolation": int(c.Interpolation),
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(n.ConfigFile.Parsed)
	if string(a) != string(b) {
		t.Errorf("read %s, want %s", a, b)
	}
}

// NRSS sets Euler morphologies only; here a 1 is a vector morphology.
func TestSettersOfNRSS(t *testing.T) {
	for _, s := range loadNRSS(t).Setters {
		c, m := NewConfig(), sample(Euler, false)
		v := int(s.Value)
		var err error
		switch s.Property {
		case "CaseType":
			c.CaseType = CaseType(v)
		case "MorphologyType":
			if c.MorphologyType = MorphologyType(v); v == 1 {
				s.Result = "ok"
			}
		case "AlgorithmType":
			c.Algorithm = Algorithm(v)
		case "WindowingType":
			c.Window = Window(v)
		case "RotMask": // no bool but 0 and 1 can be said
			_, _, err = ParseConfig(fmt.Sprintf("%sRotMask = %d;", minimal, v), "f")
		case "EwaldsInterpolation":
			c.Interpolation = Interpolation(v)
		case "ReferenceFrame":
			c.ReferenceFrame = ReferenceFrame(v)
		case "PhysSize":
			m.PhysSize = s.Value
		default:
			t.Errorf("what is %s?", s.Property)
		}
		if err = errors.Join(err, c.Check(), m.Check(0)); (err == nil) != (s.Result == "ok") {
			t.Errorf("%s = %v: %v, want %s", s.Property, s.Value, err, s.Result)
		}
	}
}

func TestReferenceConfigs(t *testing.T) {
	for _, name := range golden.Glob(t, "scatter/cases/*") {
		dir := golden.Path(t, name)
		var want struct {
			Config struct {
				CaseType, MorphologyType, Algorithm, WindowingType, RotMask, EwaldsInterpolation, ReferenceFrame int
				KVectors                                                                                         [][3]float64 `json:"kVectors"`
				Detector                                                                                         [3]float64
				Energies                                                                                         []float64
				EAngleRotation                                                                                   [3]float64
			}
			Constants map[string][][4]float64 `json:"optical_constants"`
		}
		golden.JSON(t, &want, name, "case.json")
		c, _, err := ReadConfig(filepath.Join(dir, "config.txt"))
		if err != nil {
			t.Fatal(err)
		}
		w := want.Config
		if int(c.CaseType) != w.CaseType || int(c.MorphologyType) != w.MorphologyType || int(c.Algorithm) != w.Algorithm ||
			int(c.Window) != w.WindowingType || c.RotMask != (w.RotMask == 1) || int(c.Interpolation) != w.EwaldsInterpolation ||
			int(c.ReferenceFrame) != w.ReferenceFrame || !slices.Equal(c.Energies, w.Energies) || c.EAngleRotation != w.EAngleRotation {
			t.Errorf("%s: %+v, want %+v", dir, c, w)
		}
		for i, k := range c.KVectors {
			if d := distance(k, unit(w.KVectors[i])); d > 1e-15 || len(c.KVectors) != len(w.KVectors) {
				t.Errorf("%s: beams %v, want %v", dir, c.KVectors, w.KVectors)
			}
		}
		if d := distance(c.Detector, unit(w.Detector)); d > 1e-15 {
			t.Errorf("%s: detector %v, want %v", dir, c.Detector, w.Detector)
		}
		referenceOptics(t, dir, c, want.Constants)
	}
}

func distance(a, b [3]float64) float64 {
	return math.Abs(a[0]-b[0]) + math.Abs(a[1]-b[1]) + math.Abs(a[2]-b[2])
}

func referenceOptics(t *testing.T, dir string, c *Config, want map[string][][4]float64) {
	all, err := ReadMaterials(dir)
	if err != nil {
		t.Fatal(err)
	}
	n, warnings, err := Optics(all, c.Energies)
	if err != nil || warnings != nil {
		t.Fatal(err, warnings)
	}
	for i, e := range c.Energies {
		row := want[fmt.Sprint(e)]
		for j, v := range row {
			if got := n[i][j]; got != (Constants{v[0], v[1], v[2], v[3]}) || len(row) != len(all) {
				t.Errorf("%s: material %d at %v eV: %v, want %v", dir, j+1, e, got, v)
			}
		}
	}
}

const minimal = "CaseType = 0;\nEnergies = [284.7];\nEAngleRotation = [0.0, 5.0, 165.0];\nMorphologyType = 0;\n"

const complete = minimal + "EwaldsInterpolation=0;WindowingType=1;RotMask=true;Algorithm=1;MaxStreams=3;ScatterApproach=1;\n" +
	"ReferenceFrame=0;DumpMorphology=true;NumThreads=2;HDF5DirName=\"out\";\n"

func TestEverySetting(t *testing.T) {
	c, warnings, err := ParseConfig(complete, "f")
	want := &Config{Energies: []float64{284.7}, EAngleRotation: [3]float64{0, 5, 165}, KVectors: [][3]float64{{0, 0, 1}}, Detector: [3]float64{0, 0, 1},
		Window: Hann, RotMask: true, Algorithm: MinMemory, MaxStreams: 3, ScatterApproach: Full, DumpMorphology: true, NumThreads: 2, HDF5Dir: "out"}
	if err != nil || warnings != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v %v %v", c, warnings, err)
	}
	c, warnings, err = ParseConfig(minimal, "f")
	want = NewConfig()
	want.Energies, want.EAngleRotation = []float64{284.7}, [3]float64{0, 5, 165}
	if err != nil || len(warnings) != 10 || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v %q %v", c, warnings, err)
	}
	if warnings[2] != "f: no RotMask: taken as false" {
		t.Error(warnings[2])
	}
}

func TestLeniency(t *testing.T) {
	read := func(text string) (*Config, string) {
		c, warnings, err := ParseConfig(text, "f")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return c, strings.Join(warnings, "\n")
	}
	has := func(warnings, want string) {
		t.Helper()
		if !strings.Contains(warnings, want) {
			t.Errorf("%s\nwant %s", warnings, want)
		}
	}
	c, w := read("CaseType = 0; Energies = [270, 271]; EAngleRotation = [0, 15, 179.9]; MorphologyType = 0; RotMask = 1; DumpMorphology = 0")
	has(w, "f:1: Energies has whole numbers")
	has(w, "f:1: RotMask is 1: taken as true")
	if !c.RotMask || c.DumpMorphology || c.Energies[1] != 271 {
		t.Errorf("%+v", c)
	}
	c, w = read(minimal + "AlgorithmType = 1;")
	has(w, "f:5: AlgorithmType is taken as Algorithm")
	if c.Algorithm != MinMemory || strings.Contains(w, "no Algorithm") {
		t.Error(c.Algorithm, w)
	}
	c, w = read(minimal + "AlgorithmType = 1;\nAlgorithm = 0;")
	has(w, "f:5: AlgorithmType is not Algorithm in line 6")
	if c.Algorithm != MinCommunication {
		t.Error(c.Algorithm)
	}
	_, w = read(minimal + "NumX = 64;\nRotMsk = true;\nzzz = 1;\nlistKVectors = ();\nDetectorCoordinates = [0.0,0.0,1.0];")
	has(w, "f:5: NumX is ignored: the morphology has the size")
	has(w, "f:6: RotMsk is ignored: is it RotMask?")
	has(w, "f:7: zzz is ignored: there is no such setting")
	has(w, "f:8: listKVectors is not used with CaseType 0")
	has(w, "f:9: DetectorCoordinates is not used")
	beams := strings.Replace(minimal, "CaseType = 0", "CaseType = 2", 1) + "DetectorCoordinates = [0.0, 3.0, 4.0];\n"
	for _, list := range []string{"listKVectors = ({k=[0.0,0.0,2.0];}, {k=[3.0,0.0,4.0];});", "listKVectors = {k0={k=[0.0,0.0,2.0]}, k1={k=[3.0,0.0,4.0]}};"} {
		c, w = read(beams + list)
		if fmt.Sprint(c.KVectors, c.Detector) != "[[0 0 1] [0.6 0 0.8]] [0 0.6 0.8]" {
			t.Error(list, c.KVectors, c.Detector, w)
		}
	}
	has(w, "listKVectors is a group: taken as a list")
}

func TestBadConfigs(t *testing.T) {
	with := func(old, new string) string { return strings.Replace(complete, old, new, 1) }
	for want, text := range map[string]string{
		"f: CaseType: it is missing: is it Casetype?":                             with("CaseType", "Casetype"),
		"f: Energies: it is missing: add Energies = [284.7":                       with("Energies = [284.7];", ""),
		"f: line 1 (CaseType): there is no choice 3: choose 0 normal":             with("CaseType = 0", "CaseType = 3"),
		"f: line 1 (CaseType): it is a fraction, want a whole number":             with("CaseType = 0", "CaseType = 0.0"),
		"f: line 1 (CaseType): 99999999999 is out of range":                       with("CaseType = 0", "CaseType = 99999999999"),
		"f: line 4 (MorphologyType): there is no choice -1":                       with("MorphologyType = 0", "MorphologyType = -1"),
		"f: line 2 (Energies): it is empty":                                       with("[284.7]", "[]"),
		"f: line 2 (Energies): 284.7 eV appears twice":                            with("[284.7]", "[284.7, 280.0, 284.7]"),
		"f: line 2 (Energies): -1 is not a positive":                              with("[284.7]", "[-1.0]"),
		"f: line 2 (Energies): it is a fraction, want an array":                   with("[284.7]", "284.7"),
		"f: line 3 (EAngleRotation): it has 2 numbers, want 3":                    with("[0.0, 5.0, 165.0]", "[0.0, 5.0]"),
		"f: line 3 (EAngleRotation): it begins at 10 degrees, after its end at 0": with("[0.0, 5.0, 165.0]", "[10.0, 5.0, 0.0]"),
		"f: line 3 (EAngleRotation): the step is 0 from 0 to 165 degrees":         with("[0.0, 5.0, 165.0]", "[0.0, 0.0, 165.0]"),
		"f: line 3 (EAngleRotation): there are 1650000001 angles, want at most":   with("[0.0, 5.0, 165.0]", "[0.0, 1e-7, 165.0]"),
		"f: line 5 (WindowingType): there is no choice 2":                         with("WindowingType=1", "WindowingType=2"),
		"f: line 5 (RotMask): it is a whole number, want true or false":           with("RotMask=true", "RotMask=2"),
		"f: line 5 (MaxStreams): it is 0: choose 1 or more":                       with("MaxStreams=3", "MaxStreams=0"),
		"f: line 6 (NumThreads): it is -2":                                        with("NumThreads=2", "NumThreads=-2"),
		"f: line 6 (HDF5DirName): it is a whole number, want text":                with("\"out\"", "3"),
		"f: listKVectors: it is needed for beam divergence":                       with("CaseType = 0", "CaseType = 1"),
		"f: DetectorCoordinates: it is needed for grazing incidence":              with("CaseType = 0", "CaseType = 2"),
		"f: line 7 (listKVectors): the vector [0 0 0] has no direction":           with("CaseType = 0", "CaseType = 1") + "listKVectors = ({k=[0.0,0.0,0.0];});",
		"f: line 7 (listKVectors): [0 0 -1] points against z":                     with("CaseType = 0", "CaseType = 1") + "listKVectors = ({k=[0.0,0.0,-2.0];});",
		"f: line 7 (listKVectors): element 0 has no k":                            with("CaseType = 0", "CaseType = 1") + "listKVectors = ({q=[0.0,0.0,1.0];});",
		"f: line 7 (listKVectors): it is not a list of groups":                    with("CaseType = 0", "CaseType = 1") + "listKVectors = [0.0,0.0,1.0];",
		"f: line 7 (listKVectors): it is needed for beam":                         with("CaseType = 0", "CaseType = 1") + "listKVectors = ();",
		"libconfig: f: line 1, column 10: found ';' after CaseType":               with("CaseType = 0", "CaseType "),
	} {
		c, _, err := ParseConfig(text, "f")
		if err == nil || c != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	_, _, err := ParseConfig("CaseType = 7; Energies = [-1.0]; EAngleRotation = [0.0]; RotMask = 3;", "f")
	if n := strings.Count(err.Error(), "\n"); n != 4 || !errors.Is(err, ErrIncomplete) {
		t.Errorf("%d lines: %v", n+1, err)
	}
}

func TestAngles(t *testing.T) {
	for _, c := range []struct {
		rotation [3]float64
		want     string
		n        int
	}{
		{[3]float64{0, 15, 179.9}, "0 180", 13},
		{[3]float64{0, 15, 360}, "0 360", 25},
		{[3]float64{20, 33, 119}, "20 119", 4},
		{[3]float64{-90, 90, 90}, "-90 90", 3},
		{[3]float64{20, 0, 20}, "20 20", 1},
		{[3]float64{20, -5, 20}, "20 20", 1},
		{[3]float64{0, 1, 360}, "0 360", 361},
		{[3]float64{0, 100, 10}, "0 0", 1},
	} {
		a, err := (&Config{EAngleRotation: c.rotation}).Angles()
		if err != nil || len(a) != c.n || fmt.Sprint(a[0], " ", a[len(a)-1]) != c.want {
			t.Errorf("%v: %v %v, want %d: %s", c.rotation, a, err, c.n, c.want)
		}
	}
	for _, r := range [][3]float64{{1, 1, 0}, {0, 0, 1}, {0, -1, 1}, {0, math.NaN(), 1}, {math.Inf(-1), 1, 1}, {0, 1e-300, 1}} {
		if a, err := (&Config{EAngleRotation: r}).Angles(); err == nil {
			t.Errorf("%v: %d angles", r, len(a))
		}
	}
}

func TestWriteConfig(t *testing.T) {
	c := &Config{CaseType: GrazingIncidence, Energies: []float64{1e-5, 284.7, 3e17}, EAngleRotation: [3]float64{0, 1, 2}, MorphologyType: Vector,
		KVectors: [][3]float64{{0.6, 0, 0.8}, {0, 0, 1}}, Detector: [3]float64{0, 0.6, 0.8}, Window: Hann, RotMask: true, Algorithm: MinMemory,
		MaxStreams: 5, ScatterApproach: Full, ReferenceFrame: MaterialFrame, DumpMorphology: true, NumThreads: 9, HDF5Dir: "a \"b\"\\\n"}
	name := filepath.Join(t.TempDir(), "config.txt")
	for range 2 { // the second time over the first
		if err := WriteConfig(name, c); err != nil {
			t.Fatal(err)
		}
	}
	back, warnings, err := ReadConfig(name)
	if err != nil || len(warnings) != 0 || !reflect.DeepEqual(back, c) {
		t.Errorf("%+v\nwant %+v\n%v %v", back, c, warnings, err)
	}
	c.Energies = nil
	if err := WriteConfig(name, c); !errors.Is(err, ErrIncomplete) {
		t.Error(err)
	}
	if _, _, err := ReadConfig(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	got := fmt.Sprint(GrazingIncidence, "; ", Vector, "; ", Linear, "; ", Hann, "; ", MinMemory, "; ", Full, "; ", LabFrame, "; ", CaseType(9))
	if want := "grazing incidence; vector; trilinear; Hann; memory minimising; full; lab; 9 (unknown)"; got != want {
		t.Error(got)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add(complete)
	f.Add(strings.Replace(minimal, "CaseType = 0", "CaseType = 2", 1) + "listKVectors = {k0={k=[0.0,1.0,2.0]}};DetectorCoordinates=[1,2,3];AlgorithmType=1;")
	f.Fuzz(func(t *testing.T, text string) {
		c, _, err := ParseConfig(text, "f")
		if err != nil {
			return
		}
		if _, err := c.Angles(); err != nil {
			t.Fatal(err)
		}
		back, _, err := ParseConfig(c.String(), "f")
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		for i := range back.KVectors { // scaled to length 1 again
			if distance(back.KVectors[i], c.KVectors[i]) > 1e-14 {
				t.Fatalf("beam %v, want %v", back.KVectors[i], c.KVectors[i])
			}
		}
		back.KVectors, back.Detector = c.KVectors, c.Detector
		if !reflect.DeepEqual(back, c) {
			t.Fatalf("%+v, want %+v", back, c)
		}
	})
}
