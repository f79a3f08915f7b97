// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/given"
)

// mostJacobian is the largest number of parameters for least squares and standard
// deviations; each costs a simulation.
const mostJacobian = 100

// Task is a problem with the content of its files, ready to be solved.
//
//	task, err := morph.OpenTask("problem.json", 0)
//	best, err := task.Fit(ctx, morph.FitSettings{})          // methods lm and lbfgs
//	fit, err := task.Inversion.Sample(ctx, infer.Settings{})   // method nuts
//	verdict, err := task.CheckDraws(fit)
//
// An interrupted fit continues from its last point: see StartAt. Chains continue from the
// checkpoint of their infer.Settings.
type Task struct {
	Problem     *Problem
	Measurement Measurement
	Inversion   *Inversion
	Method      string // method of the problem or a suitable default: "lm", "lbfgs" or "nuts"

	moved bool // whether StartAt has moved the start
}

// OpenTask reads a problem file and the files that it names. Simulations use the given
// number of threads; 0 uses all processors.
func OpenTask(file string, threads int) (*Task, error) { return OpenTaskOn(file, threads, nil) }

// OpenTaskOn is OpenTask for a backend, such as autodiff.CUDA, on which scenes and simulations run.
// Nil is the CPU.
func OpenTaskOn(file string, threads int, b ad.Backend) (*Task, error) {
	p, err := OpenProblem(file)
	if err != nil {
		return nil, err
	}
	return p.TaskOn(filepath.Dir(file), threads, b)
}

// Task reads the files that the problem names and sets up the inversion. Relative paths
// start from the folder base. Simulations use the given number of threads; 0 uses all
// processors.
func (p *Problem) Task(base string, threads int) (*Task, error) { return p.TaskOn(base, threads, nil) }

// TaskOn is Task for a backend; see OpenTaskOn.
func (p *Problem) TaskOn(base string, threads int, b ad.Backend) (*Task, error) {
	t := &Task{Problem: p, Method: p.Method}
	var err error
	if t.Measurement, err = p.Measure(base); err != nil {
		return nil, err
	}
	t.Measurement.Config.Workers, t.Measurement.Config.Backend = threads, b
	if t.Inversion, err = p.Inversion(t.Measurement); err != nil {
		return nil, err
	}
	t.Inversion.Backend = b
	if o := p.Options; t.Method == "" {
		t.Method = "lm"
		if o.Variation > 0 || o.Roughness > 0 || len(t.Names()) > mostJacobian {
			t.Method = "lbfgs"
		}
	}
	if p.Method == methodPhase {
		t.Method = "lbfgs"
	}
	_, err = t.Inversion.Function() // checks the graph, and that there are pixels to compare
	return t, err
}

// Task returns an inversion whose scene is built in Go as a task under a name. It must compare
// images, and must have its constants in Optics or in the scene.
func (v *Inversion) Task(name string) (*Task, error) {
	if err := given.Args("morph.Inversion.Task", "v", v); err != nil {
		return nil, err
	}
	if v.Data == nil && v.Curves != nil {
		return nil, errors.New("morph: a task compares images, but only Curves are given: give Data, or use Fit and Sample of the Inversion")
	}
	q, err := v.prepare()
	if err != nil {
		return nil, err
	}
	t := &Task{Inversion: v, Measurement: Measurement{Optics: v.Optics, Data: v.Data, Mask: v.Mask}, Method: "lm",
		Problem: &Problem{Model: name, Grid: ProblemGrid{Shape: v.Sim.Shape(), Voxel: v.Sim.PhysSize()}, Sigma: v.Sigma, Data: DataFiles{{File: "given"}}}}
	t.Measurement.Config.Energies = v.Sim.Energies()
	if q.scene.Penalty != nil || len(t.Names()) > mostJacobian {
		t.Method = "lbfgs"
	}
	return t, nil
}

// scene returns the scene at parameters x, given in the order of Names, without inputs.
func (v *Inversion) scene(x []float64) (Scene, error) {
	var nodes []*ad.Node
	for _, p := range v.Params {
		n := len(p.Start)
		if len(x) < n {
			return Scene{}, fmt.Errorf("morph: there are too few numbers for the parameters: %s needs %d, but %d are left", p.Name, n, len(x))
		}
		if n == 1 {
			nodes = append(nodes, ad.Scalar(x[0]))
		} else {
			nodes = append(nodes, ad.Const(x[:n:n], n))
		}
		x = x[n:]
	}
	return v.Build(nodes), nil
}

// Names returns the names of all parameters, and of all elements of array parameters.
func (t *Task) Names() []string { return t.Inversion.names() }

// Active returns -1 or 1 for each parameter that lies on its lower or upper bound at x, to within a 1e-9th of the bound, and otherwise 0, by name.
func (t *Task) Active(x []float64) map[string]int {
	active := map[string]int{}
	_, lower, upper := t.Inversion.start()
	for i, name := range t.Names() {
		active[name] = 0
		switch {
		case lower == nil:
		case !math.IsInf(lower[i], 0) && x[i]-lower[i] <= 1e-9*math.Abs(lower[i]):
			active[name] = -1
		case !math.IsInf(upper[i], 0) && upper[i]-x[i] <= 1e-9*math.Abs(upper[i]):
			active[name] = 1
		}
	}
	return active
}

// unitInWords finds the unit of a parameter in what is said about it.
var unitInWords = regexp.MustCompile(`\bin (nm|degrees)\b`)

// Units returns the units of the parameters of the model, by name: nm, deg, or "" for none.
func (t *Task) Units() map[string]string { return t.Problem.Units() }

// Units returns the units of the parameters of the model, by name, "" for those without one.
func (p *Problem) Units() map[string]string {
	units := map[string]string{}
	for _, q := range problemModels[p.Model].Params {
		units[q.Name] = ""
		if m := unitInWords.FindStringSubmatch(q.About); m != nil {
			units[q.Name] = strings.TrimSuffix(m[1], "rees")
		}
	}
	for _, q := range middle {
		units[q.Name] = "nm"
	}
	return units
}

// Lengths lists the parameters of the model that are sizes and distances in nm; places are none.
func (p *Problem) Lengths() (list []string) {
	for _, q := range problemModels[p.Model].Params {
		if m := unitInWords.FindStringSubmatch(q.About); m != nil && m[1] == "nm" {
			list = append(list, q.Name)
		}
	}
	return list
}

// StartAt moves the start of the next fit to x, given in the order of Names, for example
// to the last point of an interrupted fit. Nil, or a list of another length than Names, leaves
// it unchanged; it reports whether the start was moved.
func (t *Task) StartAt(x []float64) bool {
	if len(x) != len(t.Names()) {
		return false
	}
	for i := range t.Inversion.Params {
		n := len(t.Inversion.Params[i].Start)
		t.Inversion.Params[i].Start, x = x[:n:n], x[n:]
	}
	t.moved = true
	return true
}

// relative reports whether the size of the residuals is unknown beforehand.
func (t *Task) relative() bool { return t.Problem.Sigma == 0 && t.Inversion.Loss != PoissonLoss }
