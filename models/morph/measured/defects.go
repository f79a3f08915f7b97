// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"context"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/optim"
)

// Pixels that do not work, and counts that scatter otherwise than counts do, show in the numbers themselves, whatever the model is. A fit
// makes up for them by small shifts of the centre or the flux as far as it can, so they are looked for first; causes are looked for in a fit
// of what is left.

// Kinds of findings about the data themselves.
const (
	kindLine    = "bad rows or columns"
	kindPixels  = "bad pixels"
	kindScatter = "overdispersion"
	kindOffset  = "pedestal"
)

// defect is what is wrong with the data themselves, and the task whose data are mended.
type defect struct {
	flag   check.Flag
	mended *Task
	// then begins what is found with the mended data.
	then string
}

// mostMends is how many defects are mended one after another.
const mostMends = 3

// defect returns what is most obviously wrong with the data, given a solution; nil if there is nothing.
func (t *Task) defect(s *Solution) (*defect, error) {
	means, err := t.meansAt(s.X)
	if err != nil {
		return nil, err
	}
	frames := t.planes(means)
	if d := t.badLines(frames); d != nil {
		return d, nil
	}
	if d := t.badPixels(frames); d != nil {
		return d, nil
	}
	return t.scatters(frames), nil
}

// withoutDefects judges the task with mended data, and puts the defect in front of what is found then.
func (t *Task) withoutDefects(v check.Verdict, s *Solution, mends int) (check.Verdict, bool, error) {
	d, err := t.defect(s)
	if err != nil || d == nil {
		return v, false, err
	}
	k := d.mended
	k.startFrom(s)
	fit, err := k.Fit(context.Background(), optim.Settings{MaxEvaluations: rivalEvaluations + len(k.Params)})
	if err != nil || fit == nil {
		return v, false, nil //nolint:nilerr // data that cannot be fitted without the defect say nothing of it
	}
	after, err := k.checkMended(fit, nil, mends+1)
	if err != nil {
		return v, false, err
	}
	v.OK, v.Flags = false, []check.Flag{d.flag}
	for _, f := range after.Flags {
		if f.Kind == check.KindUnconverged {
			continue
		}
		if !strings.HasPrefix(f.Text, d.then) {
			f.Text = d.then + f.Text
		}
		v.Flags = append(v.Flags, f)
	}
	return v, true, nil
}

// plane holds the counts of a frame of Poisson noise beside their expectations, by rows and columns, NaN where none is compared.
type plane struct {
	model, frame  int
	rows, columns int
	counts, mean  []float64
}

// planes returns the frames whose numbers are counts.
func (t *Task) planes(means []float64) (out []*plane) {
	at := map[[2]int]*plane{}
	k := 0
	for _, p := range t.single.parts {
		for i, o := range p.from {
			if p.noise.name != "poisson" {
				break
			}
			id := [2]int{o.model, o.frame}
			q := at[id]
			if q == nil {
				d := t.models()[o.model].Data
				q = &plane{model: o.model, frame: o.frame, rows: d.Detector.Rows, columns: d.Detector.Columns}
				if b := d.Frames[o.frame].Bins; b != nil {
					q.rows = max(1, b.Rows)
					q.columns = b.length() / q.rows
				}
				q.counts, q.mean = filled(q.rows*q.columns, math.NaN()), filled(q.rows*q.columns, math.NaN())
				at[id], out = q, append(out, q)
			}
			q.counts[o.bin], q.mean[o.bin] = p.values[i], means[k+i]
		}
		k += len(p.values)
	}
	return out
}
