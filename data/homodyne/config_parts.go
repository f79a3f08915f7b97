// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// joined is a file in a folder, either of which may not be known yet.
func joined(folder, file string) string {
	switch {
	case folder == "" || filepath.IsAbs(file):
		return file
	case file == "":
		return folder
	}
	return filepath.Join(folder, file)
}

func firstFrame(r *configReader, key string, n *yaml.Node) {
	if v, ok := r.whole(key, n, 0, 1e9); ok {
		if v == 0 {
			r.notice("%s is 0: frames count from 1, so that it is the first", key)
		}
		r.c.First = max(v, 1)
	}
}

func anglesEnabled(r *configReader, key string, n *yaml.Node) {
	r.angles, r.anglesSet = r.truth(key, n), true
}

func anglesFallback(r *configReader, key string, n *yaml.Node) { r.c.Angles.All = r.truth(key, n) }

// angleRanges reads ranges as mappings or pairs.
func angleRanges(r *configReader, key string, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		r.wrong(n, key, "the value is %s; want a list of ranges such as {min_angle: -10, max_angle: 10}", kindOf(n))
		return
	}
	for i, item := range n.Content {
		at := fmt.Sprintf("%s[%d]", key, i)
		if item.Kind == yaml.SequenceNode {
			r.angleRange(at, r.numbers(at, item), item)
			continue
		}
		ends := []float64{math.NaN(), math.NaN()}
		end := func(k int) func(string, *yaml.Node) {
			return func(at string, v *yaml.Node) {
				if x, ok := r.number(at, v, -720, 720); ok {
					ends[k] = x
				}
			}
		}
		r.fields(at, item, map[string]func(string, *yaml.Node){"min_angle": end(0), "max_angle": end(1), "description": nil})
		r.angleRange(at, ends, item)
	}
}

func anglePairs(r *configReader, key string, n *yaml.Node) { angleRanges(r, key, n) }

func (r *configReader) angleRange(key string, ends []float64, n *yaml.Node) {
	if len(ends) != 2 || !linalg.Finite(ends[0]) || !linalg.Finite(ends[1]) {
		r.wrong(n, key, "the range does not have two ends; give min_angle and max_angle in degrees")
		return
	}
	r.c.Angles.Ranges = append(r.c.Angles.Ranges, [2]float64(ends))
}

func scalingMode(r *configReader, key string, n *yaml.Node) {
	known := []string{"auto", "individual", "averaged", "fourier", "constant"}
	s := strings.ToLower(r.text(key, n))
	if !slices.Contains(known, s) {
		r.wrong(n, key, "the value is %s; want one of %s", kindOf(n), strings.Join(known, ", "))
		return
	}
	r.scaled = true
	r.c.Scaling = Scaling(s)
}

// cmcScaling is that of posteriors, which counts if least squares have none.
func cmcScaling(r *configReader, key string, n *yaml.Node) {
	if !r.scaled {
		scalingMode(r, key, n)
		r.scaled = false
	}
}

func manyStarts(r *configReader, key string, n *yaml.Node) { r.many = r.truth(key, n) }

func startCount(r *configReader, key string, n *yaml.Node) {
	if v, ok := r.whole(key, n, 1, 1e6); ok {
		r.starts = v
	}
}

// fixedParameters are names with values, or names alone.
func fixedParameters(r *configReader, key string, n *yaml.Node) {
	fix := func(name string, at *yaml.Node, value *float64) {
		r.about(name, at, func(g *given) {
			g.fixed = true
			if value != nil {
				g.start = value
			}
		})
	}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			fix(r.text(key, item), item, nil)
		}
		return
	}
	r.eachNamed(key, n, func(at, name string, k, v *yaml.Node) {
		if x, ok := r.number(at, v, math.Inf(-1), math.Inf(1)); ok {
			fix(name, k, &x)
		}
	})
}

// eachNamed visits the entries of a mapping by names of parameters.
func (r *configReader) eachNamed(key string, n *yaml.Node, visit func(at, name string, k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, key, "the value is %s; want a value for each name", kindOf(n))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k, v := n.Content[i], n.Content[i+1]; !strings.HasPrefix(k.Value, "_") && !null(v) {
			visit(key+"."+k.Value, k.Value, k, v)
		}
	}
}

// entry reads keys that say something about a parameter.
func (r *configReader) entry(key string, n *yaml.Node, name string) {
	g := given{line: n.Line}
	number := func(to **float64) func(string, *yaml.Node) {
		return func(at string, v *yaml.Node) {
			if x, ok := r.number(at, v, math.Inf(-1), math.Inf(1)); ok {
				*to = &x
			}
		}
	}
	var varies *bool
	both := func(at string, v *yaml.Node) {
		if b := r.numbers(at, v); len(b) == 2 {
			g.low, g.high = &b[0], &b[1]
		} else {
			r.wrong(v, at, "it has %d numbers; want the lower and the upper bound", len(b))
		}
	}
	kind := func(at string, v *yaml.Node) {
		k, ok := priorKind(r.text(at, v))
		if !ok {
			r.wrong(v, at, "the value is %s; want TruncatedNormal, Normal, LogNormal, HalfNormal, Uniform or LogUniform", kindOf(v))
		}
		g.kind = k
	}
	r.fields(key, n, map[string]func(string, *yaml.Node){
		"name": func(at string, v *yaml.Node) { name = r.text(at, v) },
		"min":  number(&g.low), "max": number(&g.high), "bounds": both, "value": number(&g.start), "initial": number(&g.start),
		"type": kind, "dist_type": kind, "prior": kind, "prior_mu": number(&g.mean), "prior_sigma": number(&g.sd), "mu": number(&g.mean), "sigma": number(&g.sd),
		"prior_mean": number(&g.mean), "prior_std": number(&g.sd), "min_val": number(&g.pLow), "max_val": number(&g.pHigh),
		"vary": func(at string, v *yaml.Node) { b := r.truth(at, v); varies = &b },
		"unit": nil, "log_space": nil, "description": nil,
	})
	if name == "" {
		r.wrong(n, key, "the parameter has no name; give one")
		return
	}
	r.about(name, n, func(to *given) {
		for _, p := range []struct{ from, to **float64 }{{&g.start, &to.start}, {&g.low, &to.low}, {&g.high, &to.high}, {&g.mean, &to.mean}, {&g.sd, &to.sd}, {&g.pLow, &to.pLow}, {&g.pHigh, &to.pHigh}} {
			if *p.from != nil {
				*p.to = *p.from
			}
		}
		if g.kind != "" {
			to.kind = g.kind
		}
		if varies != nil && !*varies {
			to.fixed = true
		}
	})
}

func spaceBounds(r *configReader, key string, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		plainBounds(r, key, n)
		return
	}
	for i, item := range n.Content {
		r.entry(fmt.Sprintf("%s[%d]", key, i), item, "")
	}
}

func spacePriors(r *configReader, key string, n *yaml.Node) {
	r.eachNamed(key, n, func(at, name string, _, v *yaml.Node) { r.entry(at, v, name) })
}

func spaceParameter(r *configReader, key string, n *yaml.Node) {
	r.entry(key, n, key[strings.LastIndexByte(key, '.')+1:])
}

// plainBounds are pairs of numbers by name.
func plainBounds(r *configReader, key string, n *yaml.Node) {
	r.eachNamed(key, n, func(at, name string, k, v *yaml.Node) {
		if b := r.numbers(at, v); len(b) == 2 {
			r.about(name, k, func(g *given) { g.low, g.high = &b[0], &b[1] })
		} else {
			r.wrong(v, at, "it has %d numbers; want the lower and the upper bound", len(b))
		}
	})
}

// groupedParameters are heterodyne's: groups of parameters, each with value, min, max and vary.
func groupedParameters(r *configReader, key string, n *yaml.Node) {
	r.eachNamed(key, n, func(at, _ string, _, group *yaml.Node) {
		r.eachNamed(at, group, func(at, name string, _, v *yaml.Node) { r.entry(at, v, name) })
	})
}

// finish makes the configuration of what was said, when all of it is known.
func (r *configReader) finish() {
	c := r.c
	r.finishModel()
	if c.Data == "" {
		c.Data = joined(r.folder, r.file)
	}
	if r.anglesSet && !r.angles {
		c.Angles = AngleFilter{}
	}
	if c.Last > 0 && c.Last < c.First+2 {
		r.wrong(nil, "analyzer_parameters", "the frames %d to %d are too few; want at least 3", c.First, c.Last)
	}
	if r.many {
		c.NLSQ.Starts = r.starts
		if c.NLSQ.Starts == 0 {
			c.NLSQ.Starts = 10
		}
	}
	if c.Model == "" {
		return
	}
	for _, name := range c.Model.Names() {
		c.Parameters = append(c.Parameters, parameter(name))
	}
	r.finishStarts()
	r.finishGiven()
	r.finishActive()
	for i := range c.Parameters {
		r.consistent(&c.Parameters[i])
	}
	r.consistent(&c.Contrast)
	r.consistent(&c.Offset)
}

func (r *configReader) finishModel() {
	text := r.mode
	if text == "" && r.static != "" {
		text = string(LaminarFlow)
		if r.static == "true" {
			text = "static_" + r.sub
			if r.sub == "" {
				text = "static"
			}
		}
	}
	if text == "" && (slices.Contains(r.order, "D0_ref") || slices.Contains(r.names, "D0_ref")) {
		text = string(TwoComponent)
		r.notice("analysis_mode is not there: the parameters are those of two_component")
	}
	m, notice, ok := modelOf(text)
	switch {
	case text == "":
		r.wrong(nil, "analysis_mode", "it is missing; want static_isotropic, static_anisotropic, laminar_flow or two_component")
	case !ok:
		what := ""
		if near := spelling.Meant(text, []string{"static", "static_isotropic", "static_anisotropic", "laminar_flow", "two_component", "heterodyne"}); near != "" {
			what = ": did you mean " + near + "?"
		}
		e := bad(r.c.File, "analysis_mode", "the value is %q%s; want static_isotropic, static_anisotropic, laminar_flow or two_component", text, what)
		e.Line = r.modeLine
		r.errs = append(r.errs, e)
	}
	if notice != "" {
		r.notice("%s", notice)
	}
	r.c.Model = m
}

// finishStarts gives the listed values to their parameters.
func (r *configReader) finishStarts() {
	if r.values == nil {
		return
	}
	names := r.names
	if names == nil {
		names = r.c.Model.Names()
	}
	if len(names) != len(r.values) {
		e := bad(r.c.File, "initial_parameters.values", "it has %d values for the %d parameters %s; want one for each", len(r.values), len(names), strings.Join(names, ", "))
		e.Line = r.valuesLine
		r.errs = append(r.errs, e)
		return
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			e := bad(r.c.File, "initial_parameters.parameter_names", "it has %s twice; want each name once", foreign.Text(foreign.Short(name, 40)))
			e.Line = r.valuesLine
			r.errs = append(r.errs, e)
		}
		if p := r.find(name, r.valuesLine); p != nil {
			p.Start, p.Started = r.values[i], true
		}
	}
}

// find returns a parameter by name: of the motion, contrast or offset. A parameter of another model is nil with a notice, an unknown one
// nil with an error.
func (r *configReader) find(name string, line int) *Parameter {
	switch name {
	case "contrast":
		return &r.c.Contrast
	case "offset":
		return &r.c.Offset
	}
	if p := r.c.Parameter(name); p != nil {
		return p
	}
	if _, ok := customary[r.c.Model.Name(name)]; ok {
		if !slices.Contains(r.strangers, name) {
			r.strangers = append(r.strangers, name)
			r.notice("%s is not a parameter of %s and is left out", name, r.c.Model)
		}
		return nil
	}
	names := r.c.Model.Names()
	text := fmt.Sprintf("unknown parameter %.60q", name)
	if near := spelling.Meant(name, names); near != "" {
		text += "; did you mean " + near + "?"
	} else {
		text += "; there are " + strings.Join(names, ", ")
	}
	e := bad(r.c.File, "", "%s", text)
	e.Line = line
	r.errs = append(r.errs, e)
	return nil
}

func (r *configReader) finishGiven() {
	for _, name := range r.order {
		g := r.given[name]
		p := r.find(name, g.line)
		if p == nil {
			continue
		}
		set := func(to *float64, from *float64, flag *bool) {
			if from != nil {
				*to = *from
				*flag = true
			}
		}
		set(&p.Start, g.start, &p.Started)
		set(&p.Low, g.low, &p.Bounded)
		set(&p.High, g.high, &p.Bounded)
		p.Fixed = p.Fixed || g.fixed
		p.Prior.Low, p.Prior.High = p.Low, p.High
		set(&p.Prior.Mean, g.mean, &p.Prior.Given)
		set(&p.Prior.SD, g.sd, &p.Prior.Given)
		set(&p.Prior.Low, g.pLow, &p.Prior.Given)
		set(&p.Prior.High, g.pHigh, &p.Prior.Given)
		if g.kind != "" {
			p.Prior.Kind, p.Prior.Given = g.kind, true
		}
	}
}

// finishActive fixes what is not among the active parameters.
func (r *configReader) finishActive() {
	if r.active == nil {
		return
	}
	active := map[*Parameter]bool{}
	for _, name := range r.active {
		active[r.find(name, 0)] = true
	}
	for i := range r.c.Parameters {
		if p := &r.c.Parameters[i]; !active[p] {
			p.Fixed = true
		} else if p.Fixed {
			r.wrong(nil, "initial_parameters", "%s is among both the active and the fixed parameters; remove it from one", p.Name)
		}
	}
}

// consistent says what about a parameter contradicts itself.
func (r *configReader) consistent(p *Parameter) {
	line := 0
	for name, g := range r.given {
		if r.c.Model.Name(name) == p.Name {
			line = g.line
		}
	}
	say := func(format string, args ...any) {
		e := bad(r.c.File, p.Name, format, args...)
		e.Line = line
		r.errs = append(r.errs, e)
	}
	k := p.Prior.Kind
	switch {
	case p.Bounded && !(p.Low < p.High):
		say("has bounds %g and %g; want them to ascend", p.Low, p.High)
	case p.Bounded && p.Started && !p.Fixed && !(p.Start >= p.Low && p.Start <= p.High):
		say("starts at %g, outside of its bounds %g to %g; change one of them", p.Start, p.Low, p.High)
	case p.Prior.Given && !(p.Prior.SD > 0) && k != Uniform && k != LogUniform:
		say("has a prior with a standard deviation of %g; want one above 0", p.Prior.SD)
	case p.Prior.Given && (k == Uniform || k == LogUniform || k == TruncatedNormal) && !(p.Prior.Low < p.Prior.High):
		say("has a prior from %g to %g; want them to ascend", p.Prior.Low, p.Prior.High)
	case p.Prior.Given && k == LogUniform && !(p.Prior.Low > 0):
		say("has a LogUniform prior from %g; want a lower limit above 0", p.Prior.Low)
	case p.Bounded && !p.Started && !p.Fixed && !(p.Start >= p.Low && p.Start <= p.High):
		p.Start = (p.Low + p.High) / 2
		if p.Low > 0 {
			p.Start = math.Sqrt(p.Low * p.High)
		}
	}
}
