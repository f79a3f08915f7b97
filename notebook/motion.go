// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook

import (
	"context"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/models/twotime/motion"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/viz"
)

// Motion holds two-time correlations at several azimuths with a model of the motion behind them. It
// displays itself as a description of the measurement and the parameters.
type Motion struct {
	Name string
	*motion.Problem
}

// OpenMotion reads a configuration of homodyne, xpcsjax or heterodyne, and the correlations that it
// names.
func OpenMotion(config string) *Motion {
	step := "OpenMotion " + config
	c := value(step, func() (*homodyne.Config, error) { return homodyne.ReadConfig(config) })
	p := value(step, func() (*motion.Problem, error) { return motion.Open(c, "") })
	for _, n := range p.Notes {
		remark(n)
	}
	return &Motion{filepath.Base(config), p}
}

// DemoMotion returns the correlations of the demonstration: 60 frames of a sheared suspension at three azimuths.
func DemoMotion() *Motion {
	dir := value("DemoMotion", func() (string, error) { return os.MkdirTemp("", "euryale-demo-") })
	defer os.RemoveAll(dir)
	ctx, end := interruptible()
	defer end()
	must("DemoMotion", demo.Sheared(1).Write(ctx, dir))
	c := value("DemoMotion", func() (*homodyne.Config, error) { return homodyne.ReadConfig(filepath.Join(dir, "flow.yaml")) })
	return &Motion{"sheared suspension", value("DemoMotion", func() (*motion.Problem, error) { return motion.Open(c, "") })}
}

// with returns the problem with the options, and what they ask for.
func (m *Motion) with(o Settings) (*motion.Problem, motion.Request, error) {
	c := *m.Config
	c.Parameters = append([]homodyne.Parameter{}, c.Parameters...)
	var r motion.Request
	setting.Copy(&r, o)
	if err := r.Put(&c); err != nil {
		return nil, r, err
	}
	p, err := motion.New(&c, m.C2, m.Data.Setup.Times)
	return p, r, err
}

// fitStarts is the number of points that a fit starts from.
const fitStarts = 16

// Fit fits the motion by least squares from several starting points. The errors account for the
// correlation between entries that share a frame.
func (m *Motion) Fit(options ...Settings) *MotionFit {
	step := "Fit of " + m.Name
	o := one(step, options)
	must(step, o.takes("a fit of two-time correlations", "fit twotime", &motion.Request{}))
	p, r, err := m.with(o)
	must(step, err)
	penalties, err := r.Penalties(p)
	must(step, err)
	ctx, end := interruptible()
	defer end()
	f := value(step, func() (*motion.Fit, error) {
		return p.Fit(ctx, motion.FitSettings{Starts: fitStarts, Penalties: penalties, Threads: runtime.GOMAXPROCS(0), Seed: o.Seed})
	})
	return &MotionFit{f, value(step, func() (*motion.Maps, error) { return p.Maps(f.Point()) }), m.Name}
}

// Sample draws from the posterior of the motion, with the contrast and offset of each azimuth
// integrated out. A prior applies to a parameter or, under the name log_NAME, to its logarithm.
func (m *Motion) Sample(options ...Settings) *Posterior {
	step := "Sample " + m.Name
	o := one(step, options)
	must(step, o.takes("the posterior of a motion", "sample twotime", &motion.Request{}, &setting.Sampler{}))
	p, r, err := m.with(o)
	must(step, err)
	priors := value(step, func() (twotime.Priors, error) { return r.Beliefs(p) })
	chains := value(step, func() (setting.Sampler, error) { return o.sampling(motion.Sampling(p.Config)) })
	ctx, end := interruptible()
	defer end()
	s := twotime.PosteriorSettings{Threads: runtime.GOMAXPROCS(0), Seed: o.Seed}
	post := value(step, func() (*twotime.Posterior, error) { return twotime.New(ctx, p.Data, priors, s) })
	out := &Posterior{Name: m.Name, Units: motion.Units, aside: p.IsAside}
	out.judge = func(fit *infer.Fit) (check.Verdict, error) { return post.Judge(context.Background(), fit, s) }
	out.page = func(of *Posterior) *report.Page {
		maps := value("Report", func() (*motion.Maps, error) { return p.Maps(post.Median(of.Fit)) })
		return report.TwotimePosterior(m.Name, twotime.ByCells, p, maps, of.Fit, of.Verdict, report.Settings{Program: "notebook", Seed: o.Seed})
	}
	return out.sample(ctx, post, chains, o.Seed, motion.Starts(post, chains.Chains, o.Seed))
}

// String returns the description of the measurement and the parameters as text.
func (m *Motion) String() string {
	text := fmt.Sprintf("%s: %s, q = %.5g 1/Å, frames %d to %d every %g s, azimuths %v\n", m.Name, m.Config.Model, m.C2.Q, m.C2.First, m.C2.Last, m.C2.Step, m.C2.Phi)
	for _, p := range m.Config.Parameters {
		held := ""
		if p.Fixed {
			held = fmt.Sprintf(" fixed at %g", p.Start)
		}
		text += strings.TrimRight(fmt.Sprintf("  %s%s %s", p.Name, held, motion.Units[p.Name]), " ") + "\n"
	}
	return text
}

// HTML returns the description of the measurement and the parameters as tables.
func (m *Motion) HTML() string {
	return "<pre>" + html.EscapeString(m.String()) + "</pre>"
}

// SimpleRender returns text and HTML for the kernel.
func (m *Motion) SimpleRender() map[string]interface{} { return rendered(m) }

// MotionFit is a fit of the motion. It displays itself as its parameters, the verdict, and pictures of
// data, model and residuals.
type MotionFit struct {
	*motion.Fit
	maps *motion.Maps
	name string
}

// Images draws data, model and residuals at the given azimuths, which are numbered from 1. Without
// arguments it draws up to six of them.
func (f *MotionFit) Images(numbers ...int) *viz.Figure {
	return f.draw("Images", (*report.TwotimeMaps).Images, numbers)
}

// Lags draws the correlations against the lag at three ages, with the model, at the given azimuths.
// Without arguments it draws up to six of them.
func (f *MotionFit) Lags(numbers ...int) *viz.Figure {
	return f.draw("Lags", (*report.TwotimeMaps).Lags, numbers)
}

func (f *MotionFit) draw(step string, draw func(*report.TwotimeMaps, []int) (*viz.Figure, error), numbers []int) *viz.Figure {
	m := (*report.TwotimeMaps)(f.maps)
	angles := m.Angles()
	if len(numbers) > 0 {
		angles = nil
	}
	for _, n := range numbers {
		if n < 1 || n > len(m.Phi) {
			must(step, fmt.Errorf("there is no azimuth %d: %s", n, errtext.Choose(len(m.Phi), "azimuth", 1, len(m.Phi))))
		}
		angles = append(angles, n-1)
	}
	return value(step, func() (*viz.Figure, error) { return draw(m, angles) })
}

// Report writes an HTML page about the fit.
func (f *MotionFit) Report(file string) { writePage("Report", file, f.page()) }

func (f *MotionFit) page() *report.Page {
	return report.TwotimeFit(f.name, f.Fit, f.maps, report.Settings{Program: "notebook"})
}

// String returns the parameters and the verdict as text.
func (f *MotionFit) String() string {
	var b strings.Builder
	for _, row := range append(f.Rows(), f.Scales()...) {
		sd := row.SD
		if row.Fixed {
			sd = math.NaN()
		}
		fmt.Fprintf(&b, "%s = %s\n", row.Name, strings.TrimRight(report.PlusMinus(row.Value, sd)+" "+row.Unit, " "))
	}
	for _, text := range append(f.Warned(), f.Said()...) {
		fmt.Fprintln(&b, text)
	}
	return b.String() + f.Verdict.String()
}

// HTML returns the parameters and the verdict as tables.
func (f *MotionFit) HTML() string {
	return report.TwotimeTable(f.Fit) + f.Verdict.HTML()
}

// SimpleRender returns text and HTML for the kernel.
func (f *MotionFit) SimpleRender() map[string]interface{} { return rendered(f) }
