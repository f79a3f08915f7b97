// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/g2"
)

// fitG2 fits the bins of result files by least squares; models of tau(q) fit one curve per file.
type fitG2 struct {
	Files  Texts    `yaml:"files" json:"-"`
	Bins   binList  `yaml:"bins" json:"bins,omitempty"` // such as 3,5-7. Default: all of each file
	Curves g2Config `yaml:",inline" json:"g2"`

	perFile int64 // items of the first file
}

// g2Config are the settings of fits and posteriors of correlation functions.
type g2Config = g2.Request

// g2Settings returns the model and the settings of package g2.
func g2Settings(c *g2Config, env Env) (g2.Model, g2.Settings, error) {
	if err := setting.Complete(c); err != nil {
		return g2.Model{}, g2.Settings{}, err
	}
	model, s, err := c.Resolve()
	if err != nil {
		return model, s, err
	}
	s.Threads, s.Backend = env.Threads, env.Backend
	// Fitting nothing checks the names and numbers.
	if _, err := g2.FitAll(context.Background(), model, nil, s); err != nil {
		return model, s, err
	}
	return model, s, nil
}

// binList is a list of numbers of bins, in a configuration a text such as 3,5-7.
type binList []binRange

type binRange struct{ First, Last int }

// UnmarshalYAML reads numbers, ranges, or the word all.
func (b *binList) UnmarshalYAML(n *yaml.Node) error {
	var text string
	if err := n.Decode(&text); err != nil {
		return err
	}
	if text == "all" {
		*b = nil
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, several := strings.Cut(strings.TrimSpace(part), "-")
		r := binRange{}
		var err error
		if r.First, err = strconv.Atoi(first); err == nil {
			if r.Last = r.First; several {
				r.Last, err = strconv.Atoi(last)
			}
		}
		if err != nil || r.First < 1 || r.Last < r.First || r.Last > math.MaxInt32 {
			return fmt.Errorf("bins is %q: want numbers from 1 and ranges, such as 3,5-7, or all", text)
		}
		*b = append(*b, r)
	}
	return nil
}

func (f *fitG2) check() error {
	_, _, err := g2Settings(&f.Curves, Env{})
	return err
}

// resolve counts the bins of the first file.
func (f *fitG2) resolve(p place, _ *batch.Header) error {
	files, err := p.files(f.Files)
	if err != nil {
		return err
	}
	bins := []binRange(f.Bins)
	if len(bins) == 0 {
		bins, _ = binsOf(located(p.manifest, files[0])) // its item tells what is wrong
	}
	for _, b := range bins {
		f.perFile += int64(b.Last - b.First + 1)
	}
	return nil
}

// block keeps the bins of a file together, so that few read it.
func (f *fitG2) block() int64 { return min(max(1, f.perFile), 1<<12) }

// list gives an item for every bin, whose row is the number of the bin less one. Files are only opened
// if no bins are named. One that cannot be read is one item, which fails.
func (f *fitG2) list(p place, add adder) error {
	model, _, err := g2Settings(&f.Curves, Env{})
	if err != nil {
		return err
	}
	return listBins(p, f.Files, f.Bins, model.Of == "q", add)
}

// listBins gives an item for every bin of every file, or one for every file.
func listBins(p place, patterns Texts, bins binList, whole bool, add adder) error {
	files, err := p.files(patterns)
	if err != nil {
		return err
	}
	for _, file := range files {
		runs := []binRange(bins)
		switch {
		case whole:
			runs = []binRange{{1, 1}}
		case len(runs) == 0:
			if runs, err = binsOf(located(p.manifest, file)); err != nil {
				runs = []binRange{{1, 1}}
			}
		}
		for _, r := range runs {
			if err := add(file, int64(r.First-1), int64(r.Last-r.First+1)); err != nil {
				return err
			}
		}
	}
	return nil
}

// binsOf returns the bins of a file as runs of numbers.
func binsOf(file string) (runs []binRange, err error) {
	curves, err := g2.OpenCurves(file)
	for _, c := range curves {
		if n := len(runs); n > 0 && runs[n-1].Last+1 == c.Bin {
			runs[n-1].Last++
		} else {
			runs = append(runs, binRange{c.Bin, c.Bin})
		}
	}
	return runs, err
}

func (f *fitG2) open(m *batch.Manifest, env Env) (batch.Task, error) {
	model, s, err := g2Settings(&f.Curves, env)
	if err != nil {
		return nil, err
	}
	t := &fitG2Task{fitG2: f, m: m, model: model, s: s, fitter: g2.NewFitter(model, s)}
	if model.Of == "q" {
		single, err := g2.ByName("single")
		if err != nil {
			return nil, err
		}
		t.each = g2.NewFitter(single, g2.Settings{Threads: s.Threads, Backend: s.Backend})
	}
	return t, nil
}

// fitG2Task fits bins.
type fitG2Task struct {
	*fitG2
	m      *batch.Manifest
	model  g2.Model
	s      g2.Settings
	fitter *g2.Fitter
	each   *g2.Fitter // of the bins of a file, for tau(q)
	files  curveFiles
}

// Columns returns the parameters with their standard deviations, and the verdict.
func (t *fitG2Task) Columns() []batch.Column {
	c := []batch.Column{{Name: "file", Kind: batch.Text}, {Name: "bin", Kind: batch.Integer}, {Name: "q", Unit: "1/Å"}, {Name: "phi", Unit: "°"}}
	for _, p := range t.model.Params {
		c = append(c, batch.Column{Name: p.Name, Unit: p.Unit}, batch.Column{Name: p.Name + "_sd", Unit: p.Unit})
	}
	return append(c, batch.Column{Name: "chi2_reduced"}, batch.Column{Name: "nfev", Kind: batch.Integer}, batch.Column{Name: "status", Kind: batch.Text},
		batch.Column{Name: "model_p"}, batch.Column{Name: "model_ok", Kind: batch.Integer}, batch.Column{Name: "flags", Kind: batch.Text}, batch.Column{Name: "warnings", Kind: batch.Text})
}

// Do fits the bins of one file.
func (t *fitG2Task) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	all, err := t.files.open(path(t.m, items.Source))
	if err != nil {
		return err
	}
	var curves []g2.Curve
	var numbers []int64
	if t.each != nil {
		c, err := t.against(ctx, all)
		if err != nil {
			return err
		}
		curves, numbers = []g2.Curve{c}, []int64{items.Item}
	} else {
		for i := range items.Count {
			c, err := pick(all, int(items.Row+i)+1)
			if err != nil {
				put(batch.Record{Item: items.Item + i, Err: err.Error()})
				continue
			}
			curves, numbers = append(curves, c), append(numbers, items.Item+i)
		}
	}
	fits, err := t.fitter.FitAll(ctx, curves)
	if err != nil {
		return t.oneByOne(ctx, items.Source, curves, numbers, put, err)
	}
	for i, f := range fits {
		put(t.record(numbers[i], items.Source, f))
	}
	return nil
}

// oneByOne fits curves alone where one of them has made an error of all.
func (t *fitG2Task) oneByOne(ctx context.Context, source string, curves []g2.Curve, numbers []int64, put func(batch.Record), err error) error {
	if len(curves) == 1 || ctx.Err() != nil {
		return err
	}
	for i, c := range curves {
		f, err := t.fitter.FitAll(ctx, []g2.Curve{c})
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil:
			put(batch.Record{Item: numbers[i], Err: err.Error()})
		default:
			put(t.record(numbers[i], source, f[0]))
		}
	}
	return nil
}

// against returns tau(q) of a file: as its table has it, or by single fits of its bins.
func (t *fitG2Task) against(ctx context.Context, curves []g2.Curve) (g2.Curve, error) {
	if len(curves) == 0 {
		return g2.Curve{}, errors.New("the file has no bins: give the result of a correlation")
	}
	if math.IsNaN(curves[0].Q) {
		return curves[0], nil
	}
	fits, err := t.each.FitAll(ctx, curves)
	if err != nil {
		return g2.Curve{}, err
	}
	return g2.TauOfQ(fits), nil
}

func (t *fitG2Task) record(item int64, source string, f g2.Fit) batch.Record {
	if f.Status == "failed" {
		return batch.Record{Item: item, Err: f.Message}
	}
	r := batch.Record{Item: item, Numbers: []float64{float64(f.Curve.Bin), f.Curve.Q, f.Curve.Phi}}
	for i := range f.X {
		r.Numbers = append(r.Numbers, f.X[i], f.SD[i])
	}
	r.Numbers = append(r.Numbers, f.ReducedChiSquared, float64(f.NFev), f.Check.P, truth(f.Check.OK))
	var kinds []string
	for _, flag := range f.Check.Flags {
		if !slices.Contains(kinds, flag.Kind) {
			kinds = append(kinds, flag.Kind)
		}
	}
	r.Texts = []string{source, f.Status, strings.Join(kinds, "; "), strings.Join(f.Warnings, "; ")}
	return r
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// pick returns the curve of a bin.
func pick(curves []g2.Curve, bin int) (g2.Curve, error) {
	for _, c := range curves {
		if c.Bin == bin {
			return c, nil
		}
	}
	if len(curves) == 0 {
		return g2.Curve{}, fmt.Errorf("there is no bin %d, since the file has no bins: give the result of a correlation", bin)
	}
	if len(curves) == 1 {
		return g2.Curve{}, fmt.Errorf("there is no bin %d: the only bin of the file is %d", bin, curves[0].Bin)
	}
	return g2.Curve{}, fmt.Errorf("there is no bin %d: the file has %d bins, from %d to %d", bin, len(curves), curves[0].Bin, curves[len(curves)-1].Bin)
}

// curveFiles reads files of curves, and keeps the last of them: items that are worked on side by side
// are mostly of few files.
type curveFiles struct {
	mu   sync.Mutex
	last []*curveFile
}

type curveFile struct {
	name   string
	read   sync.Once
	curves []g2.Curve
	err    error
}

// mostFiles is the number of files that are kept.
const mostFiles = 16

func (c *curveFiles) open(name string) ([]g2.Curve, error) {
	c.mu.Lock()
	i := slices.IndexFunc(c.last, func(f *curveFile) bool { return f.name == name })
	var f *curveFile
	if i >= 0 {
		f = c.last[i]
		c.last = slices.Delete(c.last, i, i+1)
	} else {
		f = &curveFile{name: name}
	}
	c.last = append(c.last, f)
	if len(c.last) > mostFiles {
		c.last = slices.Delete(c.last, 0, 1)
	}
	c.mu.Unlock()
	f.read.Do(func() { f.curves, f.err = g2.OpenCurves(name) })
	if f.err != nil { // another time it may be read
		c.mu.Lock()
		c.last = slices.DeleteFunc(c.last, func(o *curveFile) bool { return o == f })
		c.mu.Unlock()
	}
	return f.curves, f.err
}

// judge takes the verdict about the model.
func (f *fitG2) judge(r *batch.Record) (float64, string) { return verdictOf(r) }

// verdictOf reads the verdict of a record whose numbers end in the p-value and whether the model is right,
// and whose texts end in flags and warnings.
func verdictOf(r *batch.Record) (float64, string) {
	n := len(r.Numbers)
	if r.Numbers[n-1] != 0 {
		return 0, ""
	}
	p := r.Numbers[n-2]
	why := "the model disagrees with the data: " + r.Texts[len(r.Texts)-2]
	if !linalg.Finite(p) {
		return 1, why
	}
	return 1 - math.Log10(max(p, 1e-300)), fmt.Sprintf("%s (p = %.2g)", why, p)
}

func (f *fitG2) values() (names []string) {
	if model, err := g2.ByName(f.Curves.Model); err == nil {
		for _, p := range model.Params {
			names = append(names, p.Name)
		}
	}
	return append(names, "chi2_reduced")
}
