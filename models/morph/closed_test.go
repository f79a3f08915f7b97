// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"fmt"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// closedValues are starts of the parameters of closed forms.
var closedValues = map[string]float64{"radius": 5, "shell": 3, "aligned": 0.7, "decay": 1, "width": 0.6, "size_sd": 0.1, "shell_sd": 0.1, "hard_radius": 12, "hard_share": 0.2, "length": 14, "hole": 2,
	"radius_sd": 0.1, "theta_deg": 60, "phi_deg": 20, "theta_sd_deg": 10, "phi_sd_deg": 5, "period": 9, "lamella": 4, "grain": 9, "tilt_deg": 10, "interface": 1.2,
	"disorder": 1, "half_axis": 6, "equator": 4, "spread": 0.2, "fraction": 0.3}

// Every closed form that problems can name has intensities that depend on each of its parameters.
func TestClosedFormsOfProblems(t *testing.T) {
	dir := farfield.Detector{Rows: 3, Columns: 4, PixelY: 2.1, PixelX: 2}.Directions(farfield.Pose{Distance: ad.Scalar(14), PoniY: ad.Scalar(2.4), PoniX: ad.Scalar(3.3)})
	k := ad.Scalar(1.45)
	contrast := farfield.Tensor(ad.Const([]float64{-2e-3, 3e-3, 1e-3, 5e-4}))
	for name, m := range problemModels {
		if m.Closed == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p := &Problem{Model: name, Data: Names{"a.nc"}, Parameters: map[string]ProblemParam{}, Options: ProblemOptions{Closed: true}}
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

// What a closed form cannot do is told.
func TestClosedFormsThatCannotBe(t *testing.T) {
	for want, doc := range map[string]string{
		"has voxels only":              `{"model": "film", "options": {"closed": true}, "parameters": {"aligned": {"start": 0.3}}, "data": "a.nc", "constants": []}`,
		"fits measured patterns only":  `{"model": "spinodal", "parameters": {"period": {"start": 10}}, "data": "folder", "constants": []}`,
		"where the particle is":        `{"model": "core_shell", "options": {"closed": true}, "parameters": {"x": {"start": 10}}, "data": "a.nc", "constants": []}`,
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
