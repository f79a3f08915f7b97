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

// Noise that neighbours share after resampling or smoothing is told, with how much too small errors of parameters are: one over the ratio is within a third of
// that, which is the root of the sum of all correlations over the scatter that is estimated. Independent noise and lines are not called shared.
func TestSharedNoise(t *testing.T) {
	z := tensor.NewStream(8, 0, 0)
	white := make([]float64, 20000)
	for i := range white {
		white[i] = z.Normal()
	}
	resampled := func(ratio float64) (out []float64) {
		for x := 1.37; x < float64(len(white)-2); x += ratio {
			i := int(x)
			out = append(out, (1-x+float64(i))*white[i]+(x-float64(i))*white[i+1])
		}
		return out
	}
	smoothed := func(width float64) (out []float64) {
		for i := 12; i < len(white)-12; i++ {
			sum, all := 0.0, 0.0
			for j := -12; j <= 12; j++ {
				w := math.Exp(-4 * math.Ln2 * float64(j*j) / (width * width))
				sum, all = sum+w*white[i+j], all+w
			}
			out = append(out, sum/all)
		}
		return out
	}
	lined := func() []float64 {
		out := make([]float64, len(white))
		for i := range out {
			out[i] = white[i] - 40*math.Exp(-math.Pow(math.Remainder(float64(i), 60)/2, 2)/2)
		}
		return out
	}
	for name, c := range map[string]struct {
		flux   []float64
		factor float64 // errors of parameters over those that scatter gives, from the correlations; 0 if none is told
	}{"white": {white, 0}, "lines": {lined(), 0}, "resampled to 0.8": {resampled(0.8), 1.36}, "smoothed over 1.5": {smoothed(1.5), 1.57}, "smoothed over 2": {smoothed(2), 2.1}} {
		share := shared(c.flux, nil)
		if told := share < leastShared; told != (c.factor > 0) || told && math.Abs(1/share/c.factor-1) > 0.34 {
			t.Errorf("%s: %.3g, want one over %.3g", name, share, c.factor)
		}
	}
	text := "wave,flux\n"
	for i, v := range resampled(0.8)[:2000] {
		text += fmt.Sprintf("%d,%.5f\n", 5000+i, 100+v)
	}
	file := filepath.Join(t.TempDir(), "s.csv")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := ReadSpectrum(file, Units{})
	if err != nil || !strings.Contains(s.Told(), "neighbouring pixels share noise") {
		t.Errorf("%v %v", err, s.Told())
	}
}
