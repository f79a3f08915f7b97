// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// Errors that a file lacks are those of the noise, also where it changes along the spectrum, and the notes say so.
func TestErrorsFromScatter(t *testing.T) {
	noise := tensor.NewStream(3, 0, 0)
	text := "wave,flux,sky\n"
	sd := func(i int) float64 { return 0.5 + float64(i)/2000 }
	for i := range 2000 {
		flux := 100 + 0.05*float64(i) - 30*math.Exp(-math.Pow(float64(i-700)/15, 2)/2)
		text += fmt.Sprintf("%d,%.5f,0\n", 5000+i, flux+sd(i)*noise.Normal())
	}
	file := filepath.Join(t.TempDir(), "s.csv")
	read := func(text string) (*Raw, error) {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return ReadSpectrum(file, Units{})
	}
	s, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range s.IVar {
		if got, want := 1/math.Sqrt(w), sd(i); !(math.Abs(got-want) < 0.35*want) {
			t.Errorf("pixel %d: %.3f, want %.3f", i, got, want)
		}
	}
	if told := s.Told(); !strings.Contains(told, "no column of errors (not used: sky): they are estimated") {
		t.Error(told)
	}
	for _, text := range []string{"wave,flux\n5000,1\n5001,2\n", "wave,flux\n" + strings.Repeat("5000,1\n", 100)} {
		if _, err := read(text); !errors.Is(err, ErrIncomplete) || !strings.Contains(err.Error(), "do not show how large they are") {
			t.Error(err)
		}
	}
}
