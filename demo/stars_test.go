package demo

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
)

// The demonstration's stars are fitted back, and those that are not like the templates are told.
func TestStars(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	stars, err := WriteStars(ctx, dir, 24, 3)
	if err != nil {
		t.Fatal(err)
	}
	c := rvspecfit.DefaultConfig()
	c.Library = filepath.Join(dir, StarLibrary)
	p, err := fitfile.New(fitfile.Settings{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.DESI(ctx, filepath.Join(dir, StarSpectra), fitfile.DESIJob{})
	if err != nil {
		t.Fatal(err)
	}
	sum, count := 0.0, 0
	for i, row := range out.Results.Rows {
		s := stars[out.Results.Chosen.Rows[i]]
		switch {
		case s.Kind == "broken" && row.Fitted:
			t.Errorf("%d: a broken fiber is fitted", s.TargetID)
		case s.Kind == "binary" && !row.Disagrees:
			t.Errorf("%d: two stars agree with one (p = %g)", s.TargetID, row.P)
		case s.Kind != "star" && s.Kind != "masked":
			continue
		}
		pull := (row.VRad - s.Vel) / row.VRadErr
		if math.Abs(pull) > 5 || math.Abs(row.Teff-s.Teff) > 6*row.TeffErr {
			t.Errorf("%d (%s): velocity %.2f +- %.2f for %.2f, teff %.0f +- %.0f for %.0f", s.TargetID, s.Kind, row.VRad, row.VRadErr, s.Vel, row.Teff, row.TeffErr, s.Teff)
		}
		sum += pull * pull
		count++
	}
	if rms := math.Sqrt(sum / float64(count)); count < 10 || rms > 2 {
		t.Errorf("pulls of %d velocities have the rms %.2f", count, rms)
	}
}
