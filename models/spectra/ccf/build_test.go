package ccf

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/npy"
)

func TestSubsampleOfTheReference(t *testing.T) {
	var m struct {
		Vec      [][]float64 `json:"vec"`
		Order    []int       `json:"order"`
		Every    int         `json:"every"`
		Selected []int       `json:"selected"`
	}
	golden.JSON(t, &m, "spectra", "misc", "morton.json")
	if got := Subsample(m.Vec, 1); !slices.Equal(got, m.Order) {
		t.Errorf("order %v: want %v", got, m.Order)
	}
	if got := Subsample(m.Vec, m.Every); !slices.Equal(got, m.Selected) {
		t.Errorf("selected %v: want %v", got, m.Selected)
	}
}

// rebuilt makes the templates of an arm of the reference's library anew.
func rebuilt(t testing.TB, want *rvspecfit.CCF, keep bool) *rvspecfit.CCF {
	var m struct {
		Every int `json:"every"`
	}
	golden.JSON(t, &m, "spectra", "misc", "morton.json")
	lib := must[*rvspecfit.Library](t)(rvspecfit.Load(golden.Path(t, "spectra/library"), want.Setup))
	points, n := lib.Points.Float64s(), lib.Points.Shape()[1]
	values, _ := npy.Read(t, "spectra", "library", "interpdat_"+want.Setup+".npy")
	params, rows := make([][]float64, n), make([][]float64, n)
	for i := range params {
		for k := range lib.ParNames {
			x := points[k*n+i]
			if slices.Contains(lib.Mapper.Log, k) {
				x = math.Round(1e6*math.Pow(10, x)) / 1e6
			}
			params[i] = append(params[i], x)
		}
		rows[i] = values[i*len(lib.Lam) : (i+1)*len(lib.Lam)]
	}
	var vsini []float64
	for _, v := range want.VSini {
		if !slices.Contains(vsini, v) {
			vsini = append(vsini, v)
		}
	}
	first, last := math.Exp(want.LogL0), math.Exp(want.LogL1)
	s := BuildSettings{First: first, Last: last, Step: (last - first) / float64(want.Points) * 1.5, Every: m.Every, VSini: vsini, KeepContinuum: keep}
	return must[*rvspecfit.CCF](t)(Build(context.Background(), want.Setup, lib.ParNames, params, lib.Lam, rows, s))
}

// Templates made of the reference's library are those of its files.
func TestTemplatesOfTheReference(t *testing.T) {
	for _, want := range templates(t) {
		t.Run(want.Setup, func(t *testing.T) {
			got := rebuilt(t, want, false)
			if !slices.Equal(got.VSini, want.VSini) || got.Points != want.Points || math.Abs(got.Step-want.Step) > 1e-9*want.Step || got.Nodes != want.Nodes {
				t.Fatalf("rotations %v, %d pixels, nodes every %g km/s: want %v, %d, %g", got.VSini, got.Points, got.Step, want.VSini, want.Points, want.Step)
			}
			a, b := got.Params.Float64s(), want.Params.Float64s()
			for i := range a {
				if math.Abs(a[i]-b[i]) > 1e-6*math.Abs(b[i]) {
					t.Fatalf("parameter %d is %g: want %g", i, a[i], b[i])
				}
			}
			a, b = got.Models.Float64s(), want.Models.Float64s()
			worst := 0.0
			for i := range a {
				worst = max(worst, math.Abs(a[i]-b[i]))
			}
			if worst > 1e-3 {
				t.Errorf("templates differ by %g", worst)
			}
			t.Log(worst)
		})
	}
}
