// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"strings"
	"testing"
)

// A unit in the name of a column is told once, and a JSON document is called what it is.
func TestWhatIsSaidOfPlainFiles(t *testing.T) {
	s, err := readText("a.csv", []byte("wavelength (nm),flux,error\n500,1,0.1\n500.1,1.1,0.1\n500.2,1,0.1\n"), Units{})
	if err != nil || !strings.Contains(s.Told(), "wavelengths from wavelength (nm) are") {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := readText("p.json", []byte(" {\"expr\": \"a*x\"}\n"), Units{}); err == nil || !strings.Contains(err.Error(), "JSON document") {
		t.Error(err)
	}
}

// Of the two masks of SDSS the one of all exposures counts, in either order, which is told.
func TestMasksOfSDSS(t *testing.T) {
	for _, text := range []string{"wave,flux,error,and_mask,or_mask\n5000,1,0.1,0,1\n5001,1,0.1,4,4\n5002,1,0.1,0,0\n", "wave,flux,error,or_mask,and_mask\n5000,1,0.1,1,0\n5001,1,0.1,4,4\n5002,1,0.1,0,0\n"} {
		s, err := readText("a.csv", []byte(text), Units{})
		if err != nil || len(s.Mask) != 3 || s.Mask[0] || !s.Mask[1] || !strings.Contains(s.Told(), "those of and_mask") {
			t.Errorf("%+v, %v", s, err)
		}
	}
}
