// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
	"github.com/euryale-dev/euryale/sim/rsoxs/particle"
)

// closedValues are starts of the parameters of closed forms.
var closedValues = map[string]float64{"radius": 5, "shell": 3, "aligned": 0.7, "decay": 1, "width": 0.6, "size_sd": 0.1, "second_size": 1.4, "second_share": 0.3, "shell_sd": 0.1, "hard_radius": 12, "hard_share": 0.2, "length": 14, "hole": 2,
	"radius_sd": 0.1, "theta_deg": 60, "phi_deg": 20, "theta_sd_deg": 10, "phi_sd_deg": 5, "period": 9, "lamella": 4, "grain": 9, "tilt_deg": 10, "interface": 1.2,
	"disorder": 1, "half_axis": 6, "equator": 4, "spread": 0.2, "fraction": 0.3}

// ofFile gives a problem measured data.
func ofFile(t *testing.T, p *Problem) {
	t.Helper()
	if err := json.Unmarshal([]byte(`"a.nc"`), &p.Data); err != nil {
		t.Fatal(err)
	}
}

// Every closed form that problems can name has intensities that depend on each of its parameters.
func TestClosedFormsOfProblems(t *testing.T) {
	tier.SlowOnly(t)
	dir := farfield.Detector{Rows: 3, Columns: 4, PixelY: 2.1, PixelX: 2}.Directions(farfield.Pose{Distance: ad.Scalar(14), PoniY: ad.Scalar(2.4), PoniX: ad.Scalar(3.3)})
	k := ad.Scalar(1.45)
	contrast := farfield.Tensor(ad.Const([]float64{-2e-3, 3e-3, 1e-3, 5e-4}))
	for name, m := range problemModels {
		if m.Closed == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p := &Problem{Model: name, Parameters: map[string]ProblemParam{}, Options: ProblemOptions{Closed: true}}
			given := map[string]*ad.Node{}
			var in []*ad.Node
			var x []float64
			for _, q := range m.Params {
				v, ok := closedValues[q.Name]
				if !ok {
					t.Fatalf("the test has no value of %s", q.Name)
				}
				p.Parameters[q.Name] = ProblemParam{Start: StartValues{v}}
				given[q.Name] = ad.Input(q.Name)
				in, x = append(in, given[q.Name]), append(x, v)
			}
			ofFile(t, p)
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			c := p.Closed(p.Values(given), 0.7)
			image := c.Intensities(k, dir, []farfield.Contrast{contrast, contrast}[:c.Materials], 0.3)[0]
			program, err := ad.Compile(append([]*ad.Node{image}, ad.Grad(ad.Sum(ad.Log(image)), in...)...), ad.Settings{Inputs: in})
			if err != nil {
				t.Fatal(err)
			}
			st := program.NewState()
			for i, v := range x {
				st.Input(i)[0] = v
			}
			if err := st.Run(); err != nil {
				t.Fatal(err)
			}
			for i, v := range st.Output(0) {
				if !(v > 0) {
					t.Errorf("pixel %d has the intensity %g", i, v)
				}
			}
			for i, q := range m.Params {
				if g := st.Output(i + 1)[0]; g == 0 || math.IsNaN(g) {
					t.Errorf("the gradient with respect to %s is %g", q.Name, g)
				}
			}
		})
	}
}

// Materials whose order is held at 0 have the intensities of those whose order happens to be 0, by fewer operations.
func TestIsotropicMaterialsNeedNoTransformsOfTheOrder(t *testing.T) {
	dir := farfield.Detector{Rows: 3, Columns: 4, PixelY: 2.1, PixelX: 2}.Directions(farfield.Pose{Distance: ad.Scalar(14), PoniY: ad.Scalar(2.4), PoniX: ad.Scalar(3.3)})
	contrast := farfield.Tensor(ad.Const([]float64{-2e-3, 3e-3, 1e-3, 5e-4}))
	p := &Problem{Model: "core_shell", Options: ProblemOptions{Closed: true}, Parameters: map[string]ProblemParam{"radius": {Start: StartValues{5}}, "shell": {Start: StartValues{3}}}}
	image := func(aligned *ad.Node) *ad.Node {
		c := p.Closed(p.Values(map[string]*ad.Node{"radius": ad.Scalar(5), "shell": ad.Scalar(3), "aligned": aligned}), 0.7)
		return c.Intensities(ad.Scalar(1.45), dir, []farfield.Contrast{contrast, contrast}, 0.3)[0]
	}
	var size func(n *ad.Node, seen map[*ad.Node]bool) int
	size = func(n *ad.Node, seen map[*ad.Node]bool) int {
		if seen[n] {
			return 0
		}
		seen[n] = true
		sum := 1
		for _, x := range n.In() {
			sum += size(x, seen)
		}
		return sum
	}
	none, zero := image(ad.Scalar(0)), image(ad.Sub(ad.Scalar(1), ad.Scalar(1)))
	v, err := ad.Eval(none, zero)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range v[0].Float64s() {
		if y := v[1].Float64s()[i]; math.Abs(x-y) > 1e-10*y {
			t.Errorf("pixel %d has the intensity %g, and %g with an order that happens to be 0", i, x, y)
		}
	}
	if a, b := size(none, map[*ad.Node]bool{}), size(zero, map[*ad.Node]bool{}); 10*a > 9*b {
		t.Errorf("%d operations with an order held at 0, and %d without", a, b)
	}
}

// Two populations of sizes have the sum of the intensities of each, by their shares.
func TestTwoPopulations(t *testing.T) {
	dir := farfield.Detector{Rows: 3, Columns: 4, PixelY: 2.1, PixelX: 2}.Directions(farfield.Pose{Distance: ad.Scalar(14), PoniY: ad.Scalar(2.4), PoniX: ad.Scalar(3.3)})
	contrast := farfield.Tensor(ad.Const([]float64{-2e-3, 3e-3, 1e-3, 5e-4}))
	for model, lengths := range map[string][]string{"particles": {"radius"}, "rods": {"radius"}, "ellipsoids": {"half_axis", "equator"}} {
		image := func(factor float64, more map[string]float64) *ad.Node {
			p := &Problem{Model: model, Parameters: map[string]ProblemParam{}}
			given := map[string]*ad.Node{}
			set := func(name string, x float64) {
				p.Parameters[name], given[name] = ProblemParam{Start: StartValues{x}}, ad.Scalar(x)
			}
			for name, x := range map[string]float64{"radius": 4, "shell": 3, "length": 12, "half_axis": 5, "equator": 3, "aligned": 0.4, "theta_deg": 50, "phi_deg": 20} {
				if has(problemModels[model].Params, name) {
					if slices.Contains(lengths, name) {
						x *= factor
					}
					set(name, x)
				}
			}
			for name, x := range more {
				set(name, x)
			}
			c := p.Closed(p.Values(given), 0.7)
			return c.Intensities(ad.Scalar(1.45), dir, []farfield.Contrast{contrast, contrast}[:c.Materials], 0.3)[0]
		}
		v, err := ad.Eval(image(1, nil), image(1.8, nil), image(1, map[string]float64{"second_size": 1.8, "second_share": 0.3}))
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range v[2].Float64s() {
			if want := 0.7*v[0].Float64s()[i] + 0.3*v[1].Float64s()[i]; !(math.Abs(got/want-1) < 1e-9) {
				t.Errorf("%s: pixel %d has the intensity %g, and both populations %g", model, i, got, want)
			}
		}
	}
}

// What a closed form cannot do is told.
func TestClosedFormsThatCannotBe(t *testing.T) {
	for want, doc := range map[string]string{
		"has voxels only":              `{"model": "film", "options": {"closed": true}, "parameters": {"aligned": {"start": 0.3}}, "data": "a.nc", "constants": []}`,
		"fits measured patterns only":  `{"model": "spinodal", "parameters": {"period": {"start": 10}}, "data": "folder", "constants": []}`,
		"where the particle is":        `{"model": "core_shell", "options": {"closed": true}, "parameters": {"x": {"start": 10}}, "data": "a.nc", "constants": []}`,
		"options.around is set":        `{"model": "core_shell", "options": {"around": true}, "grid": {"shape": [4, 4, 4], "voxel": 2}, "parameters": {"radius": {"start": 10}}, "data": "a.nc", "constants": []}`,
		"options.local is set":         `{"model": "rods", "options": {"local": true}, "parameters": {"radius": {"start": 10}}, "data": "a.nc", "constants": []}`,
		"give both second_size and":    `{"model": "particles", "parameters": {"radius": {"start": 10}, "shell": {"start": 5}, "second_size": {"start": 2}}, "data": "a.nc", "constants": []}`,
		"needs the parameter fraction": `{"model": "debye_bueche", "parameters": {"length": {"start": 10}}, "data": "a.nc", "constants": []}`,
	} {
		if _, err := ParseProblem([]byte(doc)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", doc, err, want)
		}
	}
	p := &Problem{Model: "rod", Options: ProblemOptions{Closed: true}}
	image := p.Closed(p.Values(map[string]*ad.Node{"radius": ad.Scalar(3), "aligned": ad.Scalar(0.5)}), 1).Intensities(nil, farfield.Directions{}, nil)[0]
	if err := image.Err(); err == nil || !strings.Contains(fmt.Sprint(err), "has no length") {
		t.Errorf("a rod without a length: %v", err)
	}
}

// Places of particles from a file change the intensities by their structure factor, in all models that have neighbours.
func TestPlacesOfParticles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "places.csv"), []byte("n,x,y\n1,0,0\n2,30,0\n3,0,30\n4,30,31\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dirs := farfield.Detector{Rows: 3, Columns: 4, PixelY: 2.1, PixelX: 2}.Directions(farfield.Pose{Distance: ad.Scalar(14), PoniY: ad.Scalar(2.4), PoniX: ad.Scalar(3.3)})
	contrast := farfield.Tensor(ad.Const([]float64{-2e-3, 3e-3, 1e-3, 5e-4}))
	for _, model := range []string{"particles", "rods", "ellipsoids"} {
		var images [2][]float64
		for i, file := range []string{"", "places.csv"} {
			p := &Problem{Model: model, Parameters: map[string]ProblemParam{}, Options: ProblemOptions{PlacesFile: file}}
			if file != "" {
				p.Options.Box = [2]float64{60, 60}
			}
			given := map[string]*ad.Node{}
			for _, q := range problemModels[model].Params {
				if q.Needed {
					p.Parameters[q.Name] = ProblemParam{Start: StartValues{closedValues[q.Name]}}
					given[q.Name] = ad.Scalar(closedValues[q.Name])
				}
			}
			ofFile(t, p)
			if err := p.ReadStarts(dir); err != nil {
				t.Fatal(err)
			}
			c := p.Closed(p.Values(given), 0.7)
			v, err := ad.Eval(c.Intensities(ad.Scalar(1.45), dirs, []farfield.Contrast{contrast, contrast}[:c.Materials], 0)...)
			if err != nil {
				t.Fatal(err)
			}
			images[i] = v[0].Float64s()
		}
		s, err := particle.NewPlaces([][2]float64{{0, 0}, {30, 0}, {0, 30}, {30, 31}}, [2]float64{60, 60}, 0.7)
		if err != nil {
			t.Fatal(err)
		}
		want, err := ad.Eval(s.At(particle.At(ad.Scalar(1.45), dirs)))
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range want[0].Float64s() {
			if math.Abs(images[1][i]-x*images[0][i]) > 1e-9*math.Abs(images[0][i])*(1+x) {
				t.Errorf("%s, pixel %d: a ratio of %g, want %g", model, i, images[1][i]/images[0][i], x)
			}
		}
	}
	for want, o := range map[string]ProblemOptions{
		"want the sides of the rectangle": {Places: [][2]float64{{1, 2}}},
		"without places":                  {Box: [2]float64{1, 2}},
	} {
		p := &Problem{Model: "rods", Options: o}
		ofFile(t, p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := readPlaces(filepath.Join(dir, "none.csv")); err == nil {
		t.Error("a file that is not there is no error")
	}
}
