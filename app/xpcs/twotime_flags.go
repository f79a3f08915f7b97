// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/models/twotime/motion"
)

// twotimeModels are the models as flags name them, with their names in configurations.
var twotimeModels = map[string]homodyne.Model{"static": homodyne.StaticAnisotropic, "isotropic": homodyne.StaticIsotropic, "laminar": homodyne.LaminarFlow,
	"two-component": homodyne.TwoComponent}

// modelFlag returns the name that --model takes for a model.
func modelFlag(m homodyne.Model) string {
	for name, model := range twotimeModels {
		if model == m {
			return name
		}
	}
	return string(m)
}

var (
	twotimeModelNames = []string{"static", "isotropic", "laminar", "two-component"}
	scalingNames      = []string{"auto", "individual", "averaged", "fourier", "constant"}
	shearNames        = []string{"physical", "homodyne"}
	gapUnits          = []frame.Unit{{Name: "um", Scale: 1e4}, {Name: "µm", Scale: 1e4}, {Name: "mm", Scale: 1e7}, {Name: "nm", Scale: 10}, {Name: "A", Scale: 1}} // in angstroms
)

// twotimeFlags are what the commands for two-time correlations of moving samples share. They are part of a run's config.json: with the
// data beside it they are enough to make the model again.
type twotimeFlags struct {
	Config    string         `json:"config,omitempty"`      // name of the configuration
	Text      string         `json:"config_text,omitempty"` // its content
	Model     string         `json:"model,omitempty"`
	Q         float64        `json:"q,omitempty"`
	Angles    string         `json:"angles,omitempty"`
	Frames    string         `json:"frames,omitempty"`
	FrameTime frame.Quantity `json:"-"`
	Step      float64        `json:"frame_time_s,omitempty"`
	Gap       frame.Quantity `json:"-"`
	Angstroms float64        `json:"gap_angstrom,omitempty"`
	Origin    string         `json:"time_origin,omitempty"`
	Shear     string         `json:"shear,omitempty"`
	Scaling   string         `json:"scaling,omitempty"`
	Contrast  string         `json:"contrast,omitempty"`
	Offset    string         `json:"offset,omitempty"`
	Fixed     []string       `json:"fixed,omitempty"`
	Start     []string       `json:"start,omitempty"`
	Bounds    []string       `json:"bounds,omitempty"`
	Prior     []string       `json:"prior,omitempty"`
	Band      int            `json:"band,omitempty"` // 0: as the configuration says
	Speckles  float64        `json:"speckles,omitempty"`
	MeanCount float64        `json:"mean_count,omitempty"`
}

// add declares the flags that say what is measured and which model it has.
func (f *twotimeFlags) add(c *cobra.Command) {
	s := c.Flags()
	f.FrameTime.Units, f.Gap.Units = frame.TimeUnits, gapUnits
	s.StringVar(&f.Config, "config", "", "configuration file of homodyne, xpcsjax or heterodyne; flags override it")
	s.StringVar(&f.Model, "model", "", "static (diffusion, a contrast for each azimuth), isotropic (diffusion, azimuths averaged), laminar (diffusion and shear) or two-component (a flowing sample and a reference) (default static, or from the configuration)")
	s.Float64Var(&f.Q, "q", 0, "wavevector in 1/Angstrom (default the only one in the file)")
	s.Var(&f.FrameTime, "frame-time", "time between frames, in s or with a unit such as ms or us (default from the file)")
	s.Var(&f.Gap, "gap", "gap between the plates, in um or with a unit: mm, nm or A (default 200um)")
	s.StringVar(&f.Origin, "time-origin", "", "origin of time: experiment (just before frame 1), window (the first frame used), or how long before frame 1 the motion began, such as 30s")
	s.StringVar(&f.Shear, "shear", "", "convention of the shear rate: physical (default), or homodyne as in homodyne, xpcsjax and heterodyne")
	frame.CompleteFlag(c, "model", twotimeModelNames)
	frame.CompleteFlag(c, "shear", shearNames)
}

// addData declares the flags that say what of a file is fitted, and how.
func (f *twotimeFlags) addData(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.Angles, "angles", "", "azimuths to use, in degrees, such as 0 or -10:10,80:100 (default all)")
	s.StringVar(&f.Frames, "frames", "", "first and last frame to use, counted from 1, such as 101:400 (default all)")
	s.StringArrayVar(&f.Fixed, "fixed", nil, "hold a parameter fixed, as `name=value`; repeatable")
	s.IntVar(&f.Band, "band", 0, "also leave out entries whose frames are at most this many frames apart (default 0: only the diagonal)")
	s.Float64Var(&f.Speckles, "speckles", 0, "number of independent speckles per angle (default: estimated from the data)")
	s.Float64Var(&f.MeanCount, "mean-count", 0, "mean count per pixel and frame, with --speckles; 0 means no shot noise")
}

// addFit declares the flags of least squares.
func (f *twotimeFlags) addFit(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.Scaling, "scaling", "", "contrast and offset: "+strings.Join(scalingNames, ", ")+" (default individual, one per angle, or from the configuration)")
	s.StringVar(&f.Contrast, "contrast", "", "contrast for --scaling constant: one number, or one per angle")
	s.StringVar(&f.Offset, "offset", "", "offset for --scaling constant: one number, or one per angle")
	s.StringArrayVar(&f.Start, "start", nil, "starting value of a parameter, as `name=value`; repeatable")
	s.StringArrayVar(&f.Bounds, "bounds", nil, "bounds of a parameter, as `name=lo:hi`; repeatable")
	frame.CompleteFlag(c, "scaling", scalingNames)
}

// isConfiguration reports whether a file is a configuration by its name.
func isConfiguration(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name)))
}

// settle takes the configuration's text and numbers with units into what config.json holds. A file that is a configuration by its name
// is one.
func (f *twotimeFlags) settle(file string) (data string, err error) {
	for name, q := range map[string]*frame.Quantity{"frame-time": &f.FrameTime, "gap": &f.Gap} {
		if q.Given && !(q.Value > 0) {
			return "", exit.Usage("--%s %s: want a number above 0", name, q)
		}
	}
	if f.FrameTime.Given {
		f.Step = f.FrameTime.Value
	}
	if f.Gap.Given {
		f.Angstroms = f.Gap.Value
	}
	if isConfiguration(file) {
		if f.Config != "" {
			return "", exit.Usage("%s and --config %s are both configurations: name one of them and the file of correlations", file, f.Config)
		}
		f.Config, file = file, ""
	}
	if f.Config == "" {
		return file, nil
	}
	text, err := foreign.ReadFile(f.Config)
	if err != nil {
		return "", exit.Input(err)
	}
	f.Text, f.Config = string(text), frame.Absolute(f.Config)
	return file, nil
}

// Configuration returns the configuration with the flags in it.
func (f *twotimeFlags) Configuration() (*homodyne.Config, error) {
	model, known := twotimeModels[f.Model]
	if f.Model != "" && !known {
		return nil, exit.Usage("%s", frame.OneOf("--model", f.Model, twotimeModelNames))
	}
	text, name := f.Text, f.Config
	if f.Config == "" {
		if model == "" {
			model = homodyne.StaticAnisotropic
		}
		text, name = "analysis_mode: "+string(model), ""
	}
	c, err := homodyne.ParseConfig([]byte(text), name)
	if err != nil {
		return nil, exit.With(exit.Config, err)
	}
	if model != "" && model != c.Model {
		return nil, exit.Usage("--model %s: %s is for %s; leave one of them out", f.Model, f.Config, modelFlag(c.Model))
	}
	if f.Config == "" {
		c.Scaling = homodyne.ScalingIndividual
	}
	for _, put := range []func(*homodyne.Config) error{f.putMeasurement, f.putOrigin, f.putScaling, f.putParameters} {
		if err := put(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// putMeasurement takes the flags about the measurement.
func (f *twotimeFlags) putMeasurement(c *homodyne.Config) error {
	for _, n := range []struct {
		flag string
		v    float64
		to   *float64
	}{{"q", f.Q, &c.Q}, {"frame-time", f.Step, &c.Step}, {"gap", f.Angstroms, &c.Gap}} {
		if n.v < 0 || math.IsNaN(n.v) || math.IsInf(n.v, 0) {
			return exit.Usage("--%s %g: want a number above 0", n.flag, n.v)
		}
		if n.v > 0 {
			*n.to = n.v
		}
	}
	if f.Band < 0 {
		return exit.Usage("--band %d: want 0 or more", f.Band)
	}
	if f.Band > 0 {
		c.Band = f.Band
	}
	if f.Angles != "" {
		c.Angles = homodyne.AngleFilter{}
		for part := range strings.SplitSeq(f.Angles, ",") {
			lo, hi, isRange := strings.Cut(part, ":")
			a, err := finite(lo)
			b := a
			if isRange && err == nil {
				b, err = finite(hi)
			}
			if err != nil {
				return exit.Usage("--angles %q: want azimuths in degrees and ranges, such as 0 or -10:10,80:100", f.Angles)
			}
			if !isRange {
				a, b = a-0.01, b+0.01
			}
			c.Angles.Ranges = append(c.Angles.Ranges, [2]float64{a, b})
		}
	}
	if f.Frames != "" {
		first, last, _ := strings.Cut(f.Frames, ":")
		a, err1 := strconv.Atoi(first)
		b, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || a < 1 || b < a+2 {
			return exit.Usage("--frames %q: want the first and the last of at least 3 frames, such as 101:400", f.Frames)
		}
		c.First, c.Last = a, b
	}
	return nil
}

// putOrigin takes the flags about times and shear.
func (f *twotimeFlags) putOrigin(c *homodyne.Config) error {
	switch f.Shear {
	case "":
	case "physical", "homodyne":
		c.Customary = f.Shear == "homodyne"
	default:
		return exit.Usage("%s", frame.OneOf("--shear", f.Shear, shearNames))
	}
	switch f.Origin {
	case "":
	case "experiment":
		c.Clock = homodyne.Clock{}
	case "window":
		c.Clock = homodyne.Clock{Window: true}
	default:
		t := frame.Quantity{Units: frame.TimeUnits}
		if err := t.Set(f.Origin); err != nil || t.Value < 0 {
			return exit.Usage("--time-origin %q: want experiment, window, or a time before frame 1 such as 30s", f.Origin)
		}
		c.Clock = homodyne.Clock{Origin: t.Value}
	}
	return nil
}

// putScaling takes the flags about contrast and offset.
func (f *twotimeFlags) putScaling(c *homodyne.Config) error {
	if f.Scaling != "" {
		if !slices.Contains(scalingNames, f.Scaling) {
			return exit.Usage("%s", frame.OneOf("--scaling", f.Scaling, scalingNames))
		}
		c.Scaling = homodyne.Scaling(f.Scaling)
	}
	for _, n := range []struct {
		flag, NumberText string
		to               *[]float64
	}{{"contrast", f.Contrast, &c.Contrasts}, {"offset", f.Offset, &c.Offsets}} {
		if n.NumberText == "" {
			continue
		}
		v, err := listOf(n.NumberText)
		if err != nil || len(v) == 0 {
			return exit.Usage("--%s %q: want one number, or one per angle", n.flag, n.NumberText)
		}
		*n.to = v
	}
	return nil
}

// putParameters takes the flags about the parameters of the motion.
func (f *twotimeFlags) putParameters(c *homodyne.Config) error {
	find := func(flag, text string) (*homodyne.Parameter, string, error) {
		name, value, _ := strings.Cut(text, "=")
		p := c.Parameter(name)
		if p == nil {
			return nil, "", exit.Usage("--%s: %s", flag, frame.OneOf("parameter", name, c.Model.Names()))
		}
		return p, value, nil
	}
	given := map[string]string{} // the flag that gave a parameter its bounds or its value
	once := func(what, flag, text string, p *homodyne.Parameter) error {
		place := what + " " + p.Name
		if old := given[place]; old != "" {
			return exit.Usage("--%s %q: %s also has --%s: leave one of them out", flag, text, p.Name, old)
		}
		given[place] = flag + " " + text
		return nil
	}
	for _, text := range f.Bounds {
		p, value, err := find("bounds", text)
		if err != nil {
			return err
		}
		if err := once("bounds", "bounds", text, p); err != nil {
			return err
		}
		lo, hi, _ := strings.Cut(value, ":")
		a, err1 := finite(lo)
		b, err2 := finite(hi)
		if err1 != nil || err2 != nil || !(a < b) {
			return exit.Usage("--bounds %q: want name=lo:hi with lo < hi", text)
		}
		p.Low, p.High, p.Bounded = a, b, true
		p.Start = min(max(p.Start, a), b)
	}
	for _, g := range []struct {
		flag  string
		list  []string
		fixed bool
	}{{"start", f.Start, false}, {"fixed", f.Fixed, true}} {
		for _, text := range g.list {
			p, value, err := find(g.flag, text)
			if err != nil {
				return err
			}
			if err := once("value", g.flag, text, p); err != nil {
				return err
			}
			v, err := finite(value)
			if err != nil {
				return exit.Usage("--%s %q: want name=value with a finite number", g.flag, text)
			}
			p.Start, p.Started, p.Fixed = v, true, p.Fixed || g.fixed
			if p.Bounded && !p.Fixed && (v < p.Low || v > p.High) {
				return exit.Usage("--start %q is outside the bounds %g to %g", text, p.Low, p.High)
			}
		}
	}
	return nil
}

// priors returns the beliefs before the data: those of flags, of the configuration, or else weak ones.
func (f *twotimeFlags) priors(problem *motion.Problem) (twotime.Priors, error) {
	c := problem.Config
	p, err := problem.Priors()
	if err != nil {
		return p, exit.With(exit.Config, err)
	}
	seen := map[string]bool{}
	for _, text := range f.Prior {
		name, of, _ := strings.Cut(text, "=")
		d, err := dist.Parse(of)
		if err != nil {
			return p, exit.Usage("--prior %q: want name=distribution(numbers), such as D0=lognormal(7,1): %w", text, err)
		}
		plain := c.Model.Name(strings.TrimPrefix(name, "log_"))
		if seen[plain] {
			return p, exit.Usage("--prior %q: %s already has a prior: give only one", text, plain)
		}
		seen[plain] = true
		if to := map[string]*twotime.Normal{"contrast": &p.Contrast, "offset": &p.Offset}[name]; to != nil {
			v, err := dist.Numbers(d)
			if err != nil || d.Name != "normal" {
				return p, exit.Usage("--prior %q: want a normal distribution, such as %s=normal(1,0.1)", text, name)
			}
			*to = twotime.Normal{Mean: v[0][0], SD: v[1][0]}
			continue
		}
		par := c.Parameter(plain)
		if par == nil {
			return p, exit.Usage("--prior: %s", frame.OneOf("parameter", name, append(c.Model.Names(), "contrast", "offset")))
		}
		par.Fixed = false
		if strings.HasPrefix(name, "log_") {
			plain = "log_" + plain
		}
		motion.Declare(&p, plain, d)
	}
	return p, nil
}

// joined lists texts.
func joined(list []string) string { return strings.Join(list, ", ") }

// valuesText lists parameters with their values.
func valuesText(names []string, x map[string]frame.Number) string {
	var all []string
	for _, n := range names {
		if v, ok := x[n]; ok {
			all = append(all, fmt.Sprintf("%s %.5g", n, float64(v)))
		}
	}
	return joined(all)
}
