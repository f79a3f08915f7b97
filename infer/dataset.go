// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/euryale-dev/euryale/tensor"
)

// DataSettings says what Fit.Data holds besides draws, statistics,
// log-likelihoods and data.
type DataSettings struct {
	// Predictive adds data drawn at every kept draw.
	Predictive bool
	// Prior is a number of draws from the prior to add, with data from them.
	Prior int
}

// Data returns the run as labelled arrays in the groups that ArviZ knows:
// posterior, sample_stats, log_likelihood, posterior_predictive, prior,
// prior_predictive, observed_data, constant_data, warmup_posterior and
// warmup_sample_stats. Chains of unequal length count up to the shortest.
func (f *Fit) Data(s DataSettings) (*tensor.DataTree, error) {
	t := tensor.NewDataTree()
	e := &exporter{fit: f, tree: t}
	e.post, _ = f.posterior()
	e.draws("posterior", false)
	e.stats("sample_stats", false)
	if f.cfg.KeepWarmup {
		e.draws("warmup_posterior", true)
		e.stats("warmup_sample_stats", true)
	}
	if e.post != nil {
		e.logLik()
		e.data()
		if s.Predictive {
			e.predictive()
		}
		if s.Prior > 0 {
			e.prior(s.Prior)
		}
	}
	if e.err != nil {
		return nil, fmt.Errorf("infer: labelled arrays: %w", e.err)
	}
	return t, nil
}

// exporter fills a tree; the first error ends it.
type exporter struct {
	fit *Fit
	// post is the posterior, nil for draws of a density.
	post *Posterior
	tree *tensor.DataTree
	err  error
}

func (e *exporter) group(name string) *tensor.Dataset {
	d := tensor.NewDataset(name)
	d.Attrs["created_at"] = time.Now().UTC().Format(time.RFC3339)
	d.Attrs["creation_library"], d.Attrs["creation_library_language"] = "euryale", "Go"
	d.Attrs["inference_library"] = "euryale"
	d.Attrs["sampling_time"] = strconv.FormatFloat(e.fit.Elapsed.Seconds(), 'g', 6, 64)
	d.Attrs["tuning_steps"] = strconv.Itoa(e.fit.WarmupDraws())
	e.note(e.tree.Add(d))
	return d
}

func (e *exporter) note(err error) {
	if e.err == nil {
		e.err = err
	}
}

// records returns what is kept of each chain that has any draws.
func (e *exporter) records(warm bool) (out []*record) {
	for _, c := range e.fit.chains {
		r := &c.kept
		if warm {
			r = &c.warm
		}
		if len(r.rows) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// rows returns the columns of every draw, by chain, equally many of each.
func (e *exporter) rows(warm bool) [][][]float64 {
	if !warm {
		return e.fit.common()
	}
	var out [][][]float64
	for _, r := range e.records(true) {
		out = append(out, r.columns())
	}
	return shortest(out)
}

func shortest(chains [][][]float64) [][][]float64 {
	for i := range chains {
		for j := range chains {
			chains[j] = chains[j][:min(len(chains[j]), len(chains[i]))]
		}
	}
	return chains
}

func (e *exporter) draws(name string, warm bool) {
	d, rows := e.group(name), e.rows(warm)
	if len(e.fit.chains) > 0 {
		if t, ok := declaredOf(e.fit.chains[0].target).(Arrays); ok {
			at := 0
			for _, v := range t.Arrays() {
				at = e.array(d, rows, v, at)
			}
			return
		}
	}
	if e.post == nil {
		for i, name := range e.fit.names {
			e.add(d, rows, name, nil, nil, i, 1)
		}
		return
	}
	at := 0
	for _, v := range e.post.stored() {
		e.add(d, rows, v.name, v.node.Shape(), v.dims, at, v.node.Size())
		at += v.node.Size()
	}
}

// array stores the columns of an array that start at a place, and returns the place behind them.
func (e *exporter) array(d *tensor.Dataset, rows [][][]float64, v Array, at int) int {
	n := 1
	for _, s := range v.Shape {
		n *= s
	}
	if !v.FirstFastest || len(v.Shape) < 2 {
		e.add(d, rows, v.Name, v.Shape, nil, at, n)
		return at + n
	}
	turned := make([][][]float64, len(rows))
	for c, chain := range rows {
		for _, row := range chain {
			out := make([]float64, n)
			index := make([]int, len(v.Shape))
			for k := range n {
				to := 0
				for i, s := range v.Shape {
					to = to*s + index[i]
				}
				out[to] = row[at+k]
				for i := range index {
					if index[i]++; index[i] < v.Shape[i] {
						break
					}
					index[i] = 0
				}
			}
			turned[c] = append(turned[c], out)
		}
	}
	e.add(d, turned, v.Name, v.Shape, nil, 0, n)
	return at + n
}

// add stores columns at..at+n of every draw as one variable.
func (e *exporter) add(d *tensor.Dataset, rows [][][]float64, name string, shape []int, dims []Dim, at, n int) {
	draws := 0
	var data []float64
	for _, chain := range rows {
		draws = len(chain)
		for _, row := range chain {
			data = append(data, row[at:at+n]...)
		}
	}
	e.put(d, name, data, []int{len(rows), draws}, []string{"chain", "draw"}, shape, dims)
}

// put stores an array whose last axes have dims, or names made from its own.
func (e *exporter) put(d *tensor.Dataset, name string, data any, lead []int, leadDims []string, shape []int, dims []Dim) {
	if e.err != nil {
		return
	}
	all, names := append(tensor.Shape{}, lead...), append([]string{}, leadDims...)
	for i, dim := range leadDims {
		if d.Coord(dim) == nil {
			e.note(d.AddCoord(dim, others(nil, lead[i])))
		}
	}
	for i, n := range shape {
		axis := fmt.Sprintf("%s_dim_%d", name, i)
		var labels any
		if len(dims) == len(shape) {
			axis, labels = dims[i].Name, dims[i].coordinate()
		}
		all, names = append(all, n), append(names, axis)
		if labels != nil && d.Coord(axis) == nil {
			e.note(d.AddCoord(axis, labels))
		}
	}
	e.note(d.Add(name, data, all, names...))
}

// coordinate returns numbers if the coordinates are numbers.
func (d Dim) coordinate() any {
	if d.Values != nil {
		return d.Values
	}
	return d.Labels
}

func (e *exporter) stats(name string, warm bool) {
	d := e.group(name)
	d.Attrs["max_tree_depth"] = strconv.Itoa(e.fit.cfg.MaxTreeDepth)
	d.Attrs["target_accept"] = strconv.FormatFloat(e.fit.cfg.TargetAccept, 'g', -1, 64)
	records, draws := e.records(warm), 0
	if rows := e.rows(warm); len(rows) > 0 {
		draws = len(rows[0])
	}
	for _, stat := range StatNames() {
		var numbers []float64
		var flags []bool
		for _, r := range records {
			for i := range draws {
				v := statOf[stat](&r.stats[i])
				numbers, flags = append(numbers, v), append(flags, v != 0)
			}
		}
		e.put(d, stat, typed(stat, numbers, flags), []int{len(records), draws}, []string{"chain", "draw"}, nil, nil)
	}
}

// typed returns the numbers of a statistic in its own type.
func typed(stat string, numbers []float64, flags []bool) any {
	switch stat {
	case "diverging", "reached_max_treedepth":
		return flags
	case "tree_depth", "n_steps", "index_in_trajectory":
		out := make([]int64, len(numbers))
		for i, v := range numbers {
			out[i] = int64(v)
		}
		return out
	}
	return numbers
}

func (e *exporter) logLik() {
	if len(e.post.model.observed) == 0 {
		return
	}
	d := e.group("log_likelihood")
	for _, o := range e.post.model.observed {
		x, err := e.fit.LogLikTogether(o.name)
		e.note(err)
		shape, dims := o.shape(), o.data.dims
		if o.together != nil {
			shape, dims = []int{o.blocks()}, nil
		} else if o.kept != nil {
			shape, dims = []int{len(o.kept)}, nil
		} else if o.dist.Event > 0 && dims != nil {
			dims = dims[:len(dims)-o.dist.Event]
		}
		e.nested(d, o.name, x, shape, dims)
	}
}

// nested stores x[chain][draw][place].
func (e *exporter) nested(d *tensor.Dataset, name string, x [][][]float64, shape []int, dims []Dim) {
	x = shortest(x)
	n := 1
	for _, k := range shape {
		n *= k
	}
	e.add(d, x, name, shape, dims, 0, n)
}

// Observations counts the observed values of the model, 0 for a density.
func (f *Fit) Observations() (n int) {
	if p, err := f.posterior(); err == nil {
		for _, o := range p.model.observed {
			n += o.data.node.Size()
		}
	}
	return n
}

// predictive adds what can be drawn.
func (e *exporter) predictive() {
	drawn := slices.DeleteFunc(slices.Clone(e.post.model.observed), func(o *observation) bool { return !o.dist.CanDraw() })
	if len(drawn) == 0 {
		return
	}
	d := e.group("posterior_predictive")
	for _, o := range drawn {
		x, err := e.fit.PosteriorPredictive(o.name)
		e.note(err)
		e.nested(d, o.name, x, o.data.node.Shape(), o.data.dims)
	}
}

func (e *exporter) prior(n int) {
	sim, err := e.post.Prior(n, e.fit.cfg.Seed)
	if e.note(err); err != nil {
		return
	}
	d := e.group("prior")
	for _, v := range e.post.stored() {
		e.nested(d, v.name, [][][]float64{sim.Values(v.name)}, v.node.Shape(), v.dims)
	}
	d = e.group("prior_predictive")
	for _, o := range e.post.model.observed {
		e.nested(d, o.name, [][][]float64{sim.Values(o.name)}, o.data.node.Shape(), o.data.dims)
	}
}

// data stores what was observed, and the other data.
func (e *exporter) data() {
	m := e.post.model
	observed := map[*datum]bool{}
	for _, o := range m.observed {
		observed[o.data] = true
	}
	for _, want := range []bool{true, false} {
		var d *tensor.Dataset
		for i, v := range m.data {
			if observed[v] != want {
				continue
			}
			if d == nil {
				d = e.group(map[bool]string{true: "observed_data", false: "constant_data"}[want])
			}
			e.put(d, v.name, e.post.data[i], nil, nil, v.node.Shape(), v.dims)
		}
	}
}
