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
