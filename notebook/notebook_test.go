// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/g2"
	nb "github.com/euryale-dev/euryale/notebook"
)

var observed = []float64{1.1, 0.7, 1.3, 0.9, 1.0}

func line(m *infer.Model) {
	m.Observe("y", dist.Normal(m.Param("a", dist.Normal(0, 10)), 1), observed)
}

// output collects what a cell shows.
type output struct {
	sync.Mutex
	shown map[string][]string
}

func (o *output) Show(name, text, html string) {
	o.Lock()
	defer o.Unlock()
	if o.shown == nil {
		o.shown = map[string][]string{}
	}
	o.shown[name] = append(o.shown[name], text)
}

func (o *output) ID() string { return fmt.Sprint("run ", len(o.shown)) }

// An interrupt ends a run, which keeps the draws that it has; going on gives the draws that
// the run would have made.
func TestInterrupt(t *testing.T) {
	if nb.Interrupt() {
		t.Error("there was a run to interrupt before any")
	}
	screen := &output{}
	nb.Connect(screen)
	defer nb.Connect(nil)
	options := nb.Settings{Seed: 3, Chains: 2, Draws: 2_000_000}
	go func() {
		for {
			screen.Lock()
			sampling := slices.ContainsFunc(screen.shown["run 0"], func(s string) bool { return !strings.Contains(s, ": 0 of") })
			screen.Unlock()
			if sampling && nb.Interrupt() {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	post := nb.Sample("line", line, options)
	n := post.Fit.Len(0)
	if n == 0 || n >= options.Draws || !post.Interrupted {
		t.Fatalf("%d draws, interrupted %v", n, post.Interrupted)
	}
	if s := post.String(); !strings.Contains(s, "interrupted with") {
		t.Error(s)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a cell that was interrupted begins another run")
			}
		}()
		nb.Sample("line", line, options)
	}()
	nb.Connect(screen) // the next cell
	whole := nb.Sample("line", line, nb.Settings{Seed: 3, Chains: 2, Draws: n})
	if !slices.Equal(whole.Fit.Draws("a")[0], post.Fit.Draws("a")[0][:n]) {
		t.Error("the draws of an interrupted run are not those of a shorter one")
	}
	if nb.Interrupt() {
		t.Error("a run goes on after its end")
	}
}

// Errors say the step and the remedy.
func TestErrors(t *testing.T) {
	for want, do := range map[string]func(){
		"OpenG2 /nowhere.h5":              func() { nb.OpenG2("/nowhere.h5") },
		"did you mean single":             func() { (&nb.G2{}).Fit("singel") },
		"has no bin 3":                    func() { demoData(t).Sample("single", nb.Settings{Bin: 33}) },
		"no parameter \"b\"":              func() { nb.Sample("line", line, nb.Settings{Draws: 50, Warmup: 100}).Draws("b") },
		"is nil":                          func() { nb.Sample("line", nil) },
		"has no option Bin":               func() { nb.Sample("line", line, nb.Settings{Bin: 3}) },
		"fits every bin":                  func() { demoData(t).Fit("single", nb.Settings{Bin: 3}) },
		"Chains is -1":                    func() { demoData(t).Sample("single", nb.Settings{Chains: -1}) },
		"has no bin 2: its only bin is 7": func() { (&nb.G2{File: "x", Curves: []g2.Curve{{Bin: 7}}}).Bin(2) },
		"has no bins":                     func() { (&nb.G2{File: "x"}).Bin(1) },
		"has no option Draws":             func() { demoData(t).Fit("single", nb.Settings{Draws: 5}) },
		"is no penalty of a fit":          func() { demoData(t).Fit("single", nb.Settings{Priors: map[string]string{"tau": "gamma(2, 3)"}}) },
		"Chains is 200000":                func() { demoData(t).Sample("single", nb.Settings{Chains: 200000}) },
		"at most 200":                     func() { nb.SampleDensity("big", 300, func([]float64) float64 { return 0 }) },
		"fit a relaxation first":          func() { demoData(t).Fit("power") },
		"2 sets of options":               func() { nb.Sample("line", line, nb.Settings{}, nb.Settings{}) },
		"did you mean normal?":            func() { demoData(t).Sample("single", nb.Settings{Priors: map[string]string{"tau": "norml(0, 1)"}}) },
	} {
		fails(t, want, do)
	}
}

// fails checks that a call panics with an error of this package that says something.
func fails(t *testing.T, want string, do func()) {
	t.Helper()
	defer func() {
		t.Helper()
		err, _ := recover().(error)
		var e *nb.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}()
	do()
}

func demoData(t *testing.T) *nb.G2 {
	t.Helper()
	return nb.OpenG2(filepath.Join("..", "demo", "g2_result.hdf"))
}

// A file is opened, fitted, sampled, compared and reported; everything displays itself.
func TestG2(t *testing.T) {
	data := demoData(t)
	short := nb.Settings{Bin: 4, Seed: 1, Warmup: 400, Draws: 400}
	single, stretched := data.Sample("single", short), data.Sample("stretched", short)
	fits := data.Fit("single")
	for name, v := range map[string]interface {
		HTML() string
		String() string
	}{"data": data, "fits": fits, "posterior": single, "trace": single.Trace("tau"), "comparison": nb.Compare(single, stretched)} {
		if h := v.HTML(); !strings.Contains(h, "<") || strings.Contains(h, "<html") {
			t.Errorf("%s: %.80s", name, h)
		}
		if s := v.String(); len(s) < 20 {
			t.Errorf("%s: %q", name, s)
		}
	}
	tau := fits.Tau().Fit("power")
	if q := tau.Fits[0]; !q.OK() || len(q.Curve.X) < 8 {
		t.Errorf("%+v", q)
	}
	if again := data.Sample("single", short); !slices.Equal(again.Draws("tau"), single.Draws("tau")) {
		t.Error("the same cell gives other draws")
	}
	if more := single.Continue(100); more.Fit.Len(0) != 500 || !slices.Equal(more.Fit.Draws("tau")[0][:400], single.Fit.Draws("tau")[0]) {
		t.Error("a run that went on is not its beginning")
	}
	file := filepath.Join(t.TempDir(), "g2.html")
	single.Report(file)
	fits.Report(file)
}

// A density of one's own, as a function that is called at every step.
func TestSampleDensity(t *testing.T) {
	p := nb.SampleDensity("normal", 1, func(q []float64) float64 { return -q[0] * q[0] / 2 }, nb.Settings{Seed: 1, Warmup: 200, Draws: 500})
	if r := p.Summary().Rows[0]; r.Mean < -0.15 || r.Mean > 0.15 || r.SD < 0.85 || r.SD > 1.15 {
		t.Errorf("%+v", r)
	}
}

// Posteriors of different data are not compared; those of all observations of a model are.
func TestCompareOfOtherData(t *testing.T) {
	short := nb.Settings{Seed: 1, Warmup: 200, Draws: 200, Chains: 2}
	first := nb.Sample("first", line, short)
	other := nb.Sample("other", func(m *infer.Model) {
		m.Observe("y", dist.Normal(m.Param("a", dist.Normal(0, 10)), 1), []float64{2, 3, 4, 5, 6})
	}, short)
	fails(t, "first and other are posteriors of different data", func() { nb.Compare(first, other) })
	parted := nb.Sample("parted", func(m *infer.Model) {
		a := m.Param("a", dist.Normal(0, 10))
		m.Observe("y", dist.Normal(a, 1), observed[:2])
		m.Observe("z", dist.Normal(a, 1), observed[2:])
	}, short)
	if c := nb.Compare(first, parted); !strings.Contains(c.String(), "parted") {
		t.Error(c)
	}
}

// Walkers that begin far away are brought back: a straight line far from the origin is found at the
// defaults, whatever the seed.
func TestSampleDensityOfALine(t *testing.T) {
	x, y := make([]float64, 30), make([]float64, 30)
	for i := range x {
		x[i] = float64(i) / 3
		y[i] = 2 + 0.84*x[i] + 0.5*math.Sin(float64(7*i))
	}
	density := func(q []float64) float64 {
		sum := -30*q[2] - q[0]*q[0]/200 - q[1]*q[1]/200 - q[2]*q[2]/2
		for i := range x {
			r := (y[i] - q[0] - q[1]*x[i]) / math.Exp(q[2])
			sum -= r * r / 2
		}
		return sum
	}
	for seed := range uint64(3) {
		p := nb.SampleDensity("line", 3, density, nb.Settings{Seed: seed + 1})
		if r := p.Summary().Rows[1]; math.Abs(r.Mean-0.84) > 0.06 || r.SD > 0.1 || r.RHat > 1.2 {
			t.Errorf("seed %d: slope %.3f +- %.3f, R-hat %.2f", seed+1, r.Mean, r.SD, r.RHat)
		}
	}
}

// Whatever a user can set of a fit of g2 by flags can be set in a notebook.
func TestOptionsHaveAllSettings(t *testing.T) {
	options := reflect.TypeFor[nb.Settings]()
	for _, s := range setting.Of(&g2.Request{}) {
		if _, has := options.FieldByName(s.Field); !has && s.Field != "Model" { // which is an argument
			t.Errorf("Settings lacks %s: %s", s.Field, s.About)
		}
	}
	fits := nb.DemoG2().Fit("single", nb.Settings{Loss: "huber", Fixed: map[string]float64{"baseline": 1}})
	if b := fits.Fits[0]; b.X[1] != 1 {
		t.Errorf("%v", b.X)
	}
}
