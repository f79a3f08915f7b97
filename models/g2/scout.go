// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"context"
	"fmt"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/optim"
)

// task is a curve that is ready to be fitted.
type task struct {
	curve               Curve // repaired
	dropped             []check.Alteration
	start, lower, upper []float64
	starts              [][]float64
	err                 error // why it cannot be fitted
	scouts              []*optim.Result
	device              string // of the scouts, if that is a GPU
}

// task prepares the fit of a curve.
func (of *Fitter) task(c Curve, dropped ...check.Alteration) task {
	t := task{curve: c, dropped: dropped, start: make([]float64, len(of.model.Params))}
	if len(c.X) == 0 {
		t.err = fmt.Errorf("g2: bin %d has no points: leave it out", c.Bin)
		return t
	}
	t.start, t.lower, t.upper = of.model.limits(c, of.s)
	if t.err = c.check(len(of.model.Params)-len(of.s.Fixed), of.model.Of); t.err != nil {
		return t
	}
	if t.err = of.s.weighable(c); t.err != nil {
		return t
	}
	if t.err = of.model.ranged(of.model.Params, c, of.s); t.err != nil {
		return t
	}
	t.curve = c.repaired(of.model.Of)
	t.starts = [][]float64{t.start}
	if len(of.s.Start) == 0 {
		guesses, err := of.model.guesses(t.curve)
		if err != nil {
			t.err = err
			return t
		}
		t.starts = append(guesses, t.start)
	}
	return t
}

const (
	fewestScouted = 16  // curves for which a batch pays
	mostScouted   = 128 // curves of one batch
	mostOnDevice  = 1 << 14
)

// shares divides tasks among threads. The tasks of a share follow each other; scouted ones have as many points and the same
// bounds, and are many enough for a batch. Models of two components are scouted for comparisons only: they have several minima, and
// which one a start leads to depends on the method.
func (of *Fitter) shares(tasks []task, threads int) []share {
	return of.cut(tasks, func(run int) int { return min(max(fewestScouted, run/(2*threads)), mostScouted) })
}

// runs returns the shares of a GPU, which are as large as can be.
func (of *Fitter) runs(tasks []task) []share {
	all := of.cut(tasks, func(int) int { return mostOnDevice })
	return slices.DeleteFunc(all, func(s share) bool { return !s.scouted })
}

// home returns what a share is compiled for: the processor finishes what a GPU has scouted.
func (of *Fitter) home(s share) home { return home{s.tasks[0].curve.size(), s.scouted} }

// cut cuts tasks into shares; those that are scouted have the length that size gives for a run of tasks.
func (of *Fitter) cut(tasks []task, size func(run int) int) (shares []share) {
	alike := func(t, u *task) bool {
		return t.err == nil && u.err == nil && t.curve.size() == u.curve.size() && slices.Equal(t.lower, u.lower) && slices.Equal(t.upper, u.upper)
	}
	for from := 0; from < len(tasks); {
		to := from + 1
		for to < len(tasks) && alike(&tasks[from], &tasks[to]) {
			to++
		}
		s, length := share{scouted: of.batches(&tasks[from]) && (of.s.alone || to-from >= fewestScouted && len(of.model.Pairs) == 0)}, 1
		if s.scouted {
			length = size(to - from)
		}
		for ; from < to; from += len(s.tasks) {
			s.from, s.tasks = from, tasks[from:min(from+length, to)]
			shares = append(shares, s)
		}
	}
	return shares
}

// share is what one goroutine fits at a time.
type share struct {
	from    int // number of the first task
	tasks   []task
	scouted bool
}

// batches reports whether a batch can fit a task as the settings say.
func (of *Fitter) batches(t *task) bool {
	s := of.s
	return t.err == nil && !t.curve.size().correlated && len(s.Fixed)+len(s.Priors) == 0 && s.MaxEvaluations == 0 && (s.Loss == optim.Linear || s.Loss == "linear")
}

// scout fits tasks from all of their starts in lock step, which takes a fraction of the time of as many fits by themselves, and
// notes where they lead; roughly for comparisons. It notes nothing where that fails, unless by a fault of a device, which is
// the error.
func (of *Fitter) scout(ctx context.Context, tasks []task, ready *compiled, threads int) error {
	batch, err := ready.batch()
	if err != nil {
		return nil
	}
	rows := optim.Rows{Columns: make([][]float64, 3), Lower: tasks[0].lower, Upper: tasks[0].upper}
	for k := range rows.Columns {
		rows.Columns[k] = make([]float64, 0, len(tasks)*len(tasks[0].starts)*ready.size.points)
	}
	for i := range tasks {
		t := &tasks[i]
		columns := [][]float64{t.curve.X, t.curve.target(), t.curve.weights()}
		for _, x := range t.starts {
			for k, v := range columns {
				rows.Columns[k] = append(rows.Columns[k], v...)
			}
			rows.Start = append(rows.Start, within(t.lower, t.upper, x)...)
		}
	}
	s := optim.BatchSettings{Threads: threads, Backend: of.s.Backend}
	if of.s.alone {
		r := of.s.rough()
		s.FTol, s.XTol, s.GTol, s.NoPolish, s.MaxEvaluations = r.FTol, r.XTol, r.GTol, r.NoPolish, roughEvaluations
	}
	fits, err := batch.Fit(ctx, rows, s)
	if err != nil {
		if ad.IsDeviceFault(err) {
			return err
		}
		return nil
	}
	device := ""
	if fits.Devices[0] != "cpu" {
		device = strings.Join(fits.Devices, ",")
	}
	row := 0
	for i := range tasks {
		tasks[i].device = device
		for range tasks[i].starts {
			tasks[i].scouts = append(tasks[i].scouts, &optim.Result{X: fits.Row(row), Cost: fits.Cost[row], Status: fits.Status[row], NFev: fits.NFev[row]})
			row++
		}
	}
	return nil
}

// confirmed follows the first scout to the end and returns that fit if all scouts came to the same minimum; otherwise nil.
func (t *task) confirmed(ctx context.Context, p *optim.Problem, s Settings) *optim.Result {
	if len(t.scouts) == 0 || !t.scouts[0].Status.Converged() {
		return nil
	}
	p.Start = within(p.Lower, p.Upper, t.scouts[0].X)
	found, err := optim.LeastSquares(ctx, p, s.optimiser())
	if err != nil || !found.Status.Converged() || slices.ContainsFunc(t.scouts, func(r *optim.Result) bool { return !same(r, found) }) {
		return nil
	}
	found.NFev += t.scouts[0].NFev
	return found
}

// batch returns the batch of the model, compiled once.
func (c *compiled) batch() (*optim.Batch, error) {
	c.once.Do(func() {
		residual, p, data, err := c.model.residual(c.size)
		if c.err = err; err != nil {
			return
		}
		c.lockStep, c.err = optim.NewBatch(residual, p, data...)
	})
	return c.lockStep, c.err
}

// residual builds (mean(x) - y) w, where w is a vector or, on the left, a matrix, of the parameters p and the data x, y and w.
func (m Model) residual(of size) (r *ad.Node, p, data []*ad.Node, err error) {
	n := of.points
	x, y, w := ad.Input("x", n), ad.Input("y", n), ad.Input("w", n)
	if of.correlated {
		w = ad.Input("w", n, n)
	}
	p = make([]*ad.Node, len(m.Params))
	for i, q := range m.Params {
		p[i] = ad.Input(q.Name)
	}
	mean, err := m.at(m.Mean, p, x)
	if err != nil {
		return nil, nil, nil, err
	}
	r = ad.Sub(mean, y)
	if of.correlated {
		r = ad.MatMul(w, r)
	} else {
		r = ad.Mul(r, w)
	}
	return r, p, []*ad.Node{x, y, w}, nil
}
