// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package motion

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/twotime"
)

// Request is what a user sets of a fit, a posterior or a simulation of two-time correlations: by flags of fit twotime, sample twotime and
// sim twotime, or by options of notebooks. Each setting is declared here only. In a run's config.json it is, with the data beside it,
// enough to make the model again.
type Request struct {
	Config    string            `json:"config,omitempty" about:"configuration file of homodyne, xpcsjax or heterodyne; flags override it"`
	Text      string            `json:"config_text,omitempty"` // content of the configuration
	Model     string            `json:"model,omitempty" choices:"static,isotropic,laminar,two-component" zero:"static, or from the configuration" about:"static (diffusion, a contrast for each azimuth), isotropic (diffusion, azimuths averaged), laminar (diffusion and shear) or two-component (a flowing sample and a reference)"`
	Q         float64           `json:"q,omitempty" only:"fit twotime,sample twotime" unit:"1/Angstrom" above:"0" zero:"the only one in the file" about:"wavevector"`
	FrameTime float64           `json:"frame_time_s,omitempty" only:"fit twotime,sample twotime" units:"s=1 ms=1e-3 us=1e-6 µs=1e-6 ns=1e-9" above:"0" zero:"from the file" about:"time between frames, in s or with a unit such as ms or us"`
	Gap       float64           `json:"gap_angstrom,omitempty" units:"um=1e4 µm=1e4 mm=1e7 nm=10 A=1" above:"0" zero:"200um" about:"gap between the plates, in um or with a unit: mm, nm or A"`
	Origin    string            `json:"time_origin,omitempty" name:"time-origin" about:"origin of time: experiment (just before frame 1), window (the first frame used), or how long before frame 1 the motion began, such as 30s"`
	Shear     string            `json:"shear,omitempty" choices:"physical,homodyne" zero:"physical" about:"convention of the shear rate: physical, or homodyne as in homodyne, xpcsjax and heterodyne"`
	Angles    string            `json:"angles,omitempty" only:"fit twotime,sample twotime" zero:"all" about:"azimuths to use, in degrees, such as 0 or -10:10,80:100"`
	Frames    string            `json:"frames,omitempty" only:"fit twotime,sample twotime" zero:"all" about:"first and last frame to use, counted from 1, such as 101:400"`
	Scaling   string            `json:"scaling,omitempty" only:"fit twotime" choices:"auto,individual,averaged,fourier,constant" zero:"individual, one per angle, or from the configuration" about:"contrast and offset"`
	Contrast  string            `json:"contrast,omitempty" only:"fit twotime" about:"contrast for --scaling constant: one number, or one per angle"`
	Offset    string            `json:"offset,omitempty" only:"fit twotime" about:"offset for --scaling constant: one number, or one per angle"`
	Fixed     setting.Numbers   `json:"fixed,omitempty" only:"fit twotime,sample twotime" about:"hold a parameter fixed"`
	Start     setting.Numbers   `json:"start,omitempty" only:"fit twotime" about:"starting value of a parameter"`
	Bounds    setting.Intervals `json:"bounds,omitempty" only:"fit twotime,sample twotime" about:"bounds of a parameter, which truncate its prior"`
	Priors    setting.Texts     `json:"prior,omitempty" name:"prior" only:"fit twotime,sample twotime" about:"prior of a parameter, of its logarithm (log_NAME), of the contrast or of the offset; in fit twotime a penalty: normal, lognormal, halfnormal, truncatednormal or uniform"`
	Band      int               `json:"band,omitempty" only:"fit twotime,sample twotime" low:"0" about:"also leave out entries whose frames are at most this many frames apart (default 0: only the diagonal)"`
	Speckles  float64           `json:"speckles,omitempty" only:"fit twotime,sample twotime" above:"0" zero:"estimated from the data" about:"number of independent speckles per angle"`
	MeanCount float64           `json:"mean_count,omitempty" only:"fit twotime,sample twotime" low:"0" about:"mean count per pixel and frame, with --speckles; 0 means no shot noise"`
}

// Sampling is how posteriors of motions are sampled where nothing else is asked for, by the configuration c unless it is nil. The sampler chooses
// the target acceptance rate.
func Sampling(c *homodyne.Config) setting.Sampler {
	own := setting.Sampler{Warmup: 500, Draws: 1000}
	if c != nil {
		given := setting.Sampler{Chains: c.Sampler.Chains, Warmup: c.Sampler.Warmup, Draws: c.Sampler.Draws, TargetAccept: c.Sampler.Accept, MaxTreeDepth: c.Sampler.Depth}
		setting.Default(&own, given, func(string) bool { return false })
	}
	return own
}

// models are the models as requests name them, with their names in configurations.
var models = map[string]homodyne.Model{"static": homodyne.StaticAnisotropic, "isotropic": homodyne.StaticIsotropic, "laminar": homodyne.LaminarFlow,
	"two-component": homodyne.TwoComponent}

// ModelName returns the name that a request has for a model.
func ModelName(m homodyne.Model) string {
	for name, model := range models {
		if model == m {
			return name
		}
	}
	return string(m)
}

func wrong(name, format string, args ...any) error {
	return &setting.Error{Name: name, Text: fmt.Sprintf(format, args...)}
}

// Configuration returns the configuration with what is asked for in it. An error about one setting is of type *setting.Error, others are
// about the configuration.
func (r *Request) Configuration() (*homodyne.Config, error) {
	if err := setting.Complete(r); err != nil {
		return nil, err
	}
	model, text, name := models[r.Model], r.Text, r.Config
	if r.Config == "" {
		if model == "" {
			model = homodyne.StaticAnisotropic
		}
		text, name = "analysis_mode: "+string(model), ""
	}
	c, err := homodyne.ParseConfig([]byte(text), name)
	if err != nil {
		return nil, err
	}
	if model != "" && model != c.Model {
		return nil, wrong("model", "%s: %s is for %s; leave one of them out", r.Model, r.Config, ModelName(c.Model))
	}
	if r.Config == "" {
		c.Scaling = homodyne.ScalingIndividual
	}
	return c, r.Put(c)
}

// Put changes a configuration to what is asked for.
func (r *Request) Put(c *homodyne.Config) error {
	if err := setting.Complete(r); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Priors)) {
		if _, err := setting.Prior(name, r.Priors[name]); err != nil {
			return err
		}
	}
	for _, put := range []func(*homodyne.Config) error{r.putMeasurement, r.putWindow, r.putOrigin, r.putScaling, r.putParameters} {
		if err := put(c); err != nil {
			return err
		}
	}
	return nil
}

func (r *Request) putMeasurement(c *homodyne.Config) error {
	for _, n := range []struct {
		v  float64
		to *float64
	}{{r.Q, &c.Q}, {r.FrameTime, &c.Step}, {r.Gap, &c.Gap}} {
		if n.v > 0 {
			*n.to = n.v
		}
	}
	if r.Gap > 0 {
		c.GapFrom = "the setting gap"
	}
	if r.Band > 0 {
		c.Band = r.Band
	}
	return nil
}

// putWindow takes the azimuths and frames to use.
func (r *Request) putWindow(c *homodyne.Config) error {
	if r.Angles != "" {
		c.Angles = homodyne.AngleFilter{}
		for part := range strings.SplitSeq(r.Angles, ",") {
			lo, hi, isRange := strings.Cut(part, ":")
			a, err := setting.Finite(lo)
			b := a
			if isRange && err == nil {
				b, err = setting.Finite(hi)
			}
			if err != nil {
				return wrong("angles", "%q: want azimuths in degrees and ranges, such as 0 or -10:10,80:100", r.Angles)
			}
			if !isRange {
				a, b = a-0.01, b+0.01
			}
			c.Angles.Ranges = append(c.Angles.Ranges, [2]float64{a, b})
		}
	}
	if r.Frames != "" {
		first, last, _ := strings.Cut(r.Frames, ":")
		a, err1 := strconv.Atoi(first)
		b, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || a < 1 || b < a+2 {
			if err1 == nil && err2 == nil && a == 0 {
				return wrong("frames", "%q: frames are counted from 1, so that the first %d are 1:%d", r.Frames, b+1, b+1)
			}
			return wrong("frames", "%q: want the first and the last of at least 3 frames, such as 101:400", r.Frames)
		}
		c.First, c.Last = a, b
	}
	return nil
}

// putOrigin takes the conventions of times and shear.
func (r *Request) putOrigin(c *homodyne.Config) error {
	if r.Shear != "" {
		c.Customary = r.Shear == "homodyne"
	}
	switch r.Origin {
	case "":
	case "experiment":
		c.Clock = homodyne.Clock{}
	case "window":
		c.Clock = homodyne.Clock{Window: true}
	default:
		t, err := setting.Find(r, "frame-time").Read(r.Origin)
		if err != nil || t < 0 {
			return wrong("time-origin", "%q: want experiment, window, or a time before frame 1 such as 30s", r.Origin)
		}
		c.Clock = homodyne.Clock{Origin: t}
	}
	return nil
}

// putScaling takes contrast and offset.
func (r *Request) putScaling(c *homodyne.Config) error {
	if r.Scaling != "" {
		c.Scaling = homodyne.Scaling(r.Scaling)
	}
	for _, n := range []struct {
		name, text string
		to         *[]float64
	}{{"contrast", r.Contrast, &c.Contrasts}, {"offset", r.Offset, &c.Offsets}} {
		if n.text == "" {
			continue
		}
		v, err := setting.List(n.text)
		if err != nil || len(v) == 0 {
			return wrong(n.name, "%q: want one number, or one per angle", n.text)
		}
		*n.to = v
	}
	return nil
}

// putParameters takes bounds and values of the parameters of the motion.
func (r *Request) putParameters(c *homodyne.Config) error {
	find := func(setting, name string) (*homodyne.Parameter, error) {
		if p := c.Parameter(name); p != nil {
			return p, nil
		}
		return nil, unknown(setting, name, c.Model.Names())
	}
	for _, name := range slices.Sorted(maps.Keys(r.Bounds)) {
		p, err := find("bounds", name)
		if err != nil {
			return err
		}
		if b := r.Bounds[name]; math.IsInf(b[0], 0) || math.IsInf(b[1], 0) {
			return wrong("bounds", "%s=%g:%g: want two finite numbers", name, b[0], b[1])
		}
		p.Low, p.High, p.Bounded = r.Bounds[name][0], r.Bounds[name][1], true
		p.Start = min(max(p.Start, p.Low), p.High)
	}
	for _, g := range []struct {
		name   string
		values setting.Numbers
	}{{"start", r.Start}, {"fixed", r.Fixed}} {
		for _, name := range slices.Sorted(maps.Keys(g.values)) {
			p, err := find(g.name, name)
			if err != nil {
				return err
			}
			fixed, v := g.name == "fixed", g.values[name]
			if _, started := r.Start[name]; fixed && started {
				return wrong("fixed", "%s=%g: %s also has a starting value: leave one of them out", name, v, name)
			}
			p.Start, p.Started, p.Fixed = v, true, p.Fixed || fixed
			if p.Bounded && !p.Fixed && (v < p.Low || v > p.High) {
				return wrong("start", "%s=%g is outside the bounds %g to %g", name, v, p.Low, p.High)
			}
		}
	}
	return nil
}

func unknown(of, name string, names []string) error {
	return wrong(of, "%s", setting.UnknownParameter(name, names))
}

// Beliefs returns the beliefs before the data: those that are asked for, those of the configuration, or else weak ones. Parameters that
// get a prior are no longer held fixed.
func (r *Request) Beliefs(problem *Problem) (twotime.Priors, error) {
	c := problem.Config
	p, err := problem.Priors()
	if err != nil {
		return p, err
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(r.Priors)) {
		text := name + "=" + r.Priors[name]
		d, err := setting.Prior(name, r.Priors[name])
		if err != nil {
			return p, err
		}
		plain := c.Model.Name(strings.TrimPrefix(name, "log_"))
		if seen[plain] {
			return p, wrong("prior", "%q: %s already has a prior: give only one", text, plain)
		}
		seen[plain] = true
		if to := map[string]*twotime.Normal{"contrast": &p.Contrast, "offset": &p.Offset}[name]; to != nil {
			v, err := dist.Numbers(d)
			if err != nil || d.Name != "normal" {
				return p, wrong("prior", "%q: want a normal distribution, such as %s=normal(1,0.1)", text, name)
			}
			*to = twotime.Normal{Mean: v[0][0], SD: v[1][0]}
			continue
		}
		par := c.Parameter(plain)
		if par == nil {
			return p, unknown("prior", name, append(c.Model.Names(), "contrast", "offset"))
		}
		par.Fixed = false
		if strings.HasPrefix(name, "log_") {
			plain = "log_" + plain
		}
		Declare(&p, plain, d)
	}
	return p, r.truncate(&p)
}

// truncate holds priors between the bounds that are asked for.
func (r *Request) truncate(p *twotime.Priors) (err error) {
	for _, name := range slices.Sorted(maps.Keys(r.Bounds)) {
		b := r.Bounds[name]
		if d, plain := p.Motion[name]; plain {
			p.Motion[name], err = dist.Within(d, b[0], b[1])
		} else if d, inLogs := p.Motion["log_"+name]; inLogs {
			p.Motion["log_"+name], err = dist.Within(d, math.Log(max(0, b[0])), math.Log(b[1]))
		}
		if err != nil {
			return wrong("bounds", "%s=%g:%g: %v", name, b[0], b[1], errtext.Without("dist: ", err))
		}
	}
	return nil
}

// Noise is what is asked for of the scatter of each angle, or nil.
func (r *Request) Noise(angles int) ([]twotime.Noise, error) {
	switch {
	case r.MeanCount > 0 && r.Speckles == 0:
		return nil, wrong("mean-count", "%g has a meaning only with --speckles, the number of independent speckles per angle", r.MeanCount)
	case r.Speckles == 0:
		return nil, nil
	}
	one := twotime.Noise{Speckles: r.Speckles}
	if r.MeanCount > 0 {
		one.InverseCount = 1 / r.MeanCount
	}
	return slices.Repeat([]twotime.Noise{one}, angles), nil
}
