// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// A document is told by its keys, in JSON and in YAML, and only whole sets of keys tell.
func TestDocumentOf(t *testing.T) {
	for text, want := range map[string]*foreign.Document{
		`{"expr": "a*x", "data": {}}`:                             foreign.FormulaProblem,
		"\xef\xbb\xbf{\"model\": \"core_shell\", \"grid\": {}}":   foreign.MorphologyProblem,
		`{"model": "rods", "parameters": {}, "constants": []}`:    foreign.MorphologyProblem,
		`{"stimuli": [], "areas": [], "fibers": [], "steps": 3}`:  foreign.CircuitProblem,
		`{"fit": "p", "count": [1], "k": 3}`:                      foreign.MeasuredAssemblies,
		"# note\nareas: {A: {n: 10}}\nrun:\n  - {project: S>A}\n": foreign.AssemblyScript,
		"analysis_mode: static\n":                                 foreign.TwoTimeConfig,
		`{"version": 1, "height": 3, "width": 3, "steps": []}`:    foreign.MaskRecipe,
		`{"model": "x"}`:        nil,
		`{"data": {"expr": 1}}`: nil,
		"tau,g2\n1,2\n":         nil,
		"  expr: nested\n":      nil,
		`["expr"]`:              nil,
		"":                      nil,
	} {
		if d, _ := foreign.DocumentOf([]byte(text)); d != want {
			t.Errorf("%s: %v, want %v", text, d, want)
		}
	}
}

// A problem of another engine names the command that takes it; one of the right kind passes.
func TestProblemOfAnotherEngine(t *testing.T) {
	_, err := foreign.Problem([]byte(`{"fit": "p", "k": 3}`), foreign.FormulaProblem)
	want := `the file holds measurements of assemblies (it has the keys "fit" and "k"), not a problem of a formula: give it to sample assembly`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := foreign.Problem([]byte(`{"fit": "p", "k": 3}`), foreign.MeasuredAssemblies); err != nil {
		t.Error(err)
	}
}

// Text that is no JSON is shown by its beginning, and a decimal comma with the number that was meant.
func TestJSONOfOthers(t *testing.T) {
	for text, want := range map[string]string{
		"tau,g2\n1,2\n":                   `it begins with "tau,g2"`,
		"{\"a\": 1,\n \"b\": 2,5}":        "line 2: 2,5 has a comma as the decimal sign: write 2.5",
		"{\"b\": -0,25, \"c\": 3}":        "write -0.25",
		"{\"b\": 7,\n \"c\": 3, \"d\": }": "line 2, column",
	} {
		if _, err := foreign.JSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// An archive that is cut short is told with its size, and other files by what they are.
func TestZip(t *testing.T) {
	for text, want := range map[string]string{
		"PK\x03\x04abc": "of 7 bytes lacks the list of its members",
		"tau,g2\n1,2\n": `not a ZIP archive (such as .npz) but text that begins with "tau,g2"`,
		"II*\x00":       "but a TIFF picture",
		"":              "but empty",
	} {
		if _, err := foreign.Zip(strings.NewReader(text), int64(len(text))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
