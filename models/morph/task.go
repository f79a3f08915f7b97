package morph

import "path/filepath"

// mostJacobian is how many parameters least squares and standard deviations are for: each
// costs a simulation.
const mostJacobian = 100

// Task is a problem with what its files hold, ready to be solved.
//
//	task, err := morph.OpenTask("problem.json", 0)
//	best, err := task.Fit(ctx, morph.FitSettings{})          // methods lm and lbfgs
//	fit, err := task.Inversion.Sample(ctx, infer.Config{})   // method nuts
//	verdict, err := task.CheckDraws(fit)
//
// A fit that was interrupted goes on from where it was: see StartAt. Chains go on from the
// checkpoint of their infer.Config.
type Task struct {
	Problem     *Problem
	Measurement Measurement
	Inversion   *Inversion
	Method      string // "lm", "lbfgs" or "nuts": that of the problem, or what suits it
}

// OpenTask reads a problem file and the files that it names. Simulations run on so many
// threads; 0 takes all processors.
func OpenTask(file string, threads int) (*Task, error) {
	p, err := OpenProblem(file)
	if err != nil {
		return nil, err
	}
	return p.Task(filepath.Dir(file), threads)
}

// Task reads the files that the problem names, whose paths start from the folder base, and
// sets the inversion up. Simulations run on so many threads; 0 takes all processors.
func (p *Problem) Task(base string, threads int) (*Task, error) {
	t := &Task{Problem: p, Method: p.Method}
	var err error
	if t.Measurement, err = p.Measure(base); err != nil {
		return nil, err
	}
	t.Measurement.Config.Workers = threads
	if t.Inversion, err = p.Inversion(t.Measurement); err != nil {
		return nil, err
	}
	if o := p.Options; t.Method == "" {
		t.Method = "lm"
		if o.Variation > 0 || o.Roughness > 0 || len(t.Names()) > mostJacobian {
			t.Method = "lbfgs"
		}
	}
	_, err = t.Inversion.Function() // the graph, and pixels to compare
	return t, err
}

// Names returns the name of every parameter, and of every element of those that are arrays.
func (t *Task) Names() []string { return t.Inversion.names() }

// StartAt moves the start of the next fit to x, in the order of Names, as to the end of a
// fit that was interrupted. Nil leaves it where it is.
func (t *Task) StartAt(x []float64) {
	for i := range t.Inversion.Params {
		if x == nil {
			return
		}
		n := len(t.Inversion.Params[i].Start)
		t.Inversion.Params[i].Start, x = x[:n:n], x[n:]
	}
}

// relative reports whether the size of the residuals is not known beforehand.
func (t *Task) relative() bool { return t.Problem.Sigma == 0 && t.Inversion.Loss != PoissonLoss }
