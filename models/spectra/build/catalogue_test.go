package build

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/rvspecfit"
)

// phoenix writes spectra as the PHOENIX grid has them, and returns their names and that of the wavelengths.
func phoenix(t *testing.T, dir string) (names []string, wave string) {
	write := func(name string, h *fits.Header, v []float64) string {
		w := must[*fits.Writer](t)(fits.Create(filepath.Join(dir, name)))
		if h == nil {
			h = &fits.Header{}
		}
		w.Primary(h)
		w.Image("FLUX", nil, []int{len(v)}, v)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	lam := make([]float64, 4000)
	for i := range lam {
		lam[i] = 4900 + 0.1*float64(i)
	}
	wave = write("WAVE.fits", nil, lam)
	for _, teff := range []float64{5000, 6000} {
		for _, logg := range []float64{3, 4, 5} {
			flux := make([]float64, len(lam))
			for i, x := range lam {
				flux[i] = teff * (1 - 0.1*logg*math.Exp(-(x-5100)*(x-5100)/2))
			}
			h := &fits.Header{}
			h.Set("PHXTEFF", teff, "")
			h.Set("PHXLOGG", logg, "")
			h.Set("PHXM_H", -0.5, "")
			h.Set("PHXALPHA", 0, "")
			names = append(names, write(fmt.Sprintf("t%g_g%g.fits", teff, logg), h, flux))
		}
	}
	return names, wave
}

func TestScan(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	names, wave := phoenix(t, dir)
	c := must[*rvspecfit.Catalog](t)(Scan(ctx, names[:4], ScanSettings{}))
	c = must[*rvspecfit.Catalog](t)(Scan(ctx, names, ScanSettings{Old: c}))
	if len(c.Entries) != 6 || c.Entries[5].ID != 5 || !slices.Equal(c.Entries[5].Params, []float64{6000, 5, -0.5, 0}) {
		t.Fatalf("%+v", c)
	}
	if n := must[int](t)(Exclude(c, map[string][2]float64{"teff": {5500, 7000}, "logg": {4.5, 9}})); n != 1 || !c.Entries[5].Bad {
		t.Errorf("%d excluded", n)
	}
	arm := Arm{Name: "mine", First: 5000, Last: 5200, Step: 0.4, Power: "sqrt(x)*40 + 2000 - 10**1"}
	src := must[Source](t)(NewFiles(c, "", wave, false))
	l := must[*rvspecfit.Library](t)(Templates(ctx, src, arm, Settings{Threads: 2, Revision: "r1"}))
	if !slices.Equal(l.FileIDs, []int{0, 1, 2, 3, 4}) || !slices.Equal(l.Mapper.Log, []int{0}) {
		t.Errorf("%v, %v", l.FileIDs, l.Mapper)
	}
	g := must[*rvspecfit.Library](t)(Regular(l))
	if v := g.Grid.IDs.Float64s(); !slices.Equal(v, []float64{0, 1, 2, 3, 4, -1}) {
		t.Error(v)
	}

	// What is wrong says where.
	bad := filepath.Join(dir, "bad.fits")
	if err := os.WriteFile(bad, []byte("no fits"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Scan(ctx, []string{names[0], bad}, ScanSettings{}); err == nil || !strings.Contains(err.Error(), "bad.fits") {
		t.Error(err)
	}
	told := ""
	if c := must[*rvspecfit.Catalog](t)(Scan(ctx, []string{names[0], bad}, ScanSettings{SkipBad: true, Note: func(s string) { told = s }})); len(c.Entries) != 1 || !strings.Contains(told, "bad.fits") {
		t.Error(told)
	}
	if _, err := Scan(ctx, names, ScanSettings{Keywords: []Keyword{{"teff", "TEFF"}}}); err == nil || !strings.Contains(err.Error(), "TEFF") {
		t.Error(err)
	}
	for says, a := range map[string]Arm{
		"it has":    {Name: "a", First: 4000, Last: 5200, Step: 0.4, Power: "3000"},
		"resolving": {Name: "a", First: 5000, Last: 5200, Step: 0.4, Power: "1e6"},
		"x/1.55":    {Name: "a", First: 5000, Last: 5200, Step: 0.4, Power: "x//"},
		"is not":    {Name: "a", First: 5000, Last: 5200, Step: 0.4, Power: "y*3"},
		"ascending": {Name: "a", First: 5200, Last: 5000, Step: 0.4, Power: "3000"},
		"4 to 2^24": {Name: "a", First: 5000, Last: 5200, Step: 1e-9, Power: "3000"},
	} {
		if _, err := Templates(ctx, src, a, Settings{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: want %q", err, says)
		}
	}
	twice := *c
	twice.Entries = append(slices.Clone(c.Entries), c.Entries[0])
	l = must[*rvspecfit.Library](t)(Templates(ctx, must[Source](t)(NewFiles(&twice, "", wave, false)), arm, Settings{}))
	if _, err := Regular(l); err == nil || !strings.Contains(err.Error(), "same parameters") {
		t.Error(err)
	}
}

func TestExpressions(t *testing.T) {
	for text, want := range map[string]float64{"3": 3, "x/1.5": 4, "-x+2*(x-1)": 4, "x**2": 36, "sqrt(x*6)": 6, "exp(log(x))": 6, "log10(1000)": 3} {
		f := must[func(float64) float64](t)(parse(text))
		if got := f(6); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s = %g: want %g", text, got, want)
		}
	}
	for _, text := range []string{"", "y", "x[3]", "f(x)", "x%2", "os.Exit(1)", `"a"`, "x; x", "sqrt(1,2)"} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
