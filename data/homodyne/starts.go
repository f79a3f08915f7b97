// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Start is the result of a fit that another fit can start from.
type Start struct {
	File   string
	Model  Model // model of the fit; "" if the file does not give it
	Names  []string
	Values []float64
	Errors []float64 // standard deviations; NaN where the file has none
	// Customary reports whether shear rates follow homodyne and xpcsjax, and so are too large by a
	// factor: see Physical.
	Customary bool
	// Window reports whether times count from the first frame that was used: see Clock.
	Window bool
	Notes  []string
}

// ReadStart reads the parameters of a result, given its file, its folder, or the folder above. It reads
// nlsq/parameters.json of homodyne and xpcsjax, nlsq_parameters.json of heterodyne, and what Fit.Write
// writes.
func ReadStart(name string) (*Start, error) {
	file, err := resultFile(name)
	if err != nil {
		return nil, err
	}
	text, err := foreign.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if len(text) > mostText {
		return nil, bad(file, "", "the file has %d bytes; want a result of at most %d", len(text), mostText)
	}
	if text, err = foreign.JSON(text); err != nil {
		return nil, &FormatError{Format: "homodyne", File: file, What: "the file is not the result of a fit", Err: err, Try: "give a file such as nlsq/parameters.json"}
	}
	var doc struct {
		Mode          string          `json:"analysis_mode"`
		Shear         string          `json:"shear_convention"`
		Origin        string          `json:"time_origin"`
		Parameters    json.RawMessage `json:"parameters"`
		Names         []string        `json:"parameter_names"`
		Uncertainties []*float64      `json:"uncertainties"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, &FormatError{Format: "homodyne", File: file, What: "the file is not the result of a fit", Err: notGo(err), Try: "give a file such as nlsq/parameters.json"}
	}
	if len(doc.Parameters) == 0 {
		return nil, bad(file, "parameters", "it is missing; want a result such as nlsq/parameters.json")
	}
	s := &Start{File: file}
	if doc.Names != nil {
		err = s.lists(doc.Names, doc.Parameters, doc.Uncertainties)
	} else {
		err = s.entries(doc.Parameters)
	}
	if err != nil {
		return nil, err
	}
	s.model(doc.Mode)
	for i, n := range s.Names {
		s.Names[i] = s.Model.Name(n)
	}
	if len(s.Names) == 0 {
		return nil, bad(file, "parameters", "it has no parameter with a number; give the result of a fit")
	}
	s.Customary = s.Model == LaminarFlow && doc.Shear != "physical"
	s.Window = doc.Origin != "experiment"
	return s, nil
}

// resultFile finds the file of parameters.
func resultFile(name string) (string, error) {
	st, err := os.Stat(name)
	if err != nil || !st.IsDir() {
		return name, err
	}
	tried := []string{"nlsq/parameters.json", "parameters.json", "nlsq_parameters.json", "nlsq/nlsq_parameters.json"}
	for _, t := range tried {
		file := filepath.Join(name, filepath.FromSlash(t))
		if _, err := os.Stat(file); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return file, nil
		}
	}
	return "", bad(name, "", "the folder has none of %s; give the folder of a result", strings.Join(tried, ", "))
}

func (s *Start) add(name string, value, sd float64) {
	if name == "" || !linalg.Finite(value) {
		s.Notes = append(s.Notes, fmt.Sprintf("%s has no finite value and is left out", foreign.Text(foreign.Short(name, 60))))
		return
	}
	s.Names, s.Values, s.Errors = append(s.Names, name), append(s.Values, value), append(s.Errors, sd)
}

// notGo leaves out an error that names only types of Go.
func notGo(err error) error {
	if errors.As(err, new(*json.UnmarshalTypeError)) {
		return nil
	}
	return err
}

// entries reads parameters by name: numbers, or objects with a value (or mean) and its uncertainty (or std).
func (s *Start) entries(text json.RawMessage) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return &FormatError{Format: "homodyne", File: s.File, Place: "parameters", What: "the entry is not an object of names and numbers", Err: notGo(err), Try: "give the result of a fit"}
	}
	names := make([]string, 0, len(all))
	for n := range all {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		v := struct{ Value, Uncertainty, Mean, Std *float64 }{}
		var plain float64
		if json.Unmarshal(all[n], &plain) == nil && string(all[n]) != "null" {
			v.Value = &plain
		} else if err := json.Unmarshal(all[n], &v); err != nil {
			v.Value, v.Mean = nil, nil
		}
		value, sd := math.NaN(), math.NaN()
		for _, p := range []*float64{v.Mean, v.Value} {
			if p != nil {
				value = *p
			}
		}
		for _, p := range []*float64{v.Std, v.Uncertainty} {
			if p != nil {
				sd = *p
			}
		}
		s.add(n, value, sd)
	}
	return nil
}

// lists reads parameters as heterodyne writes them.
func (s *Start) lists(names []string, text json.RawMessage, errs []*float64) error {
	var values []*float64
	if err := json.Unmarshal(text, &values); err != nil || len(values) != len(names) {
		return bad(s.File, "parameters", "it has %d numbers for %d names in parameter_names; want one for each", len(values), len(names))
	}
	for i, n := range names {
		value, sd := math.NaN(), math.NaN()
		if values[i] != nil {
			value = *values[i]
		}
		if i < len(errs) && errs[i] != nil {
			sd = *errs[i]
		}
		s.add(n, value, sd)
	}
	return nil
}

// model finds the model out, by its name or its parameters.
func (s *Start) model(mode string) {
	m, _, ok := modelOf(mode)
	has := func(name string) bool { return slices.Contains(s.Names, name) }
	switch {
	case has("D0_ref") || has("D0_sample"):
		m = TwoComponent
	case has("gamma_dot_t0") || has("gamma_dot_0"):
		m = LaminarFlow
	case !ok && has("D0"):
		m = StaticAnisotropic
	}
	s.Model = m
}

// ShearFactor is the ratio of the shear rates of homodyne and xpcsjax to those of the sample, for small
// shear. They compute (sin x/x)^4 with x = q L cos(phi0-phi) Gamma/(2 pi), where the phase across the
// gap gives (sin y/y)^2 with y = q L cos(phi0-phi) Gamma/2. If the first zeros of both coincide, the
// factor is pi.
const ShearFactor = math.Pi / math.Sqrt2

// Physical returns the result with the shear rates of the sample, for a measurement of the given number
// of seconds at q in 1/angstrom with a gap in angstroms. It notes the factor, and where it is not
// exact. A result that is already physical stays as it is.
func (s *Start) Physical(q, gap, seconds float64) *Start {
	out := *s
	if !s.Customary {
		return &out
	}
	out.Customary = false
	out.Values, out.Errors, out.Notes = slices.Clone(s.Values), slices.Clone(s.Errors), slices.Clone(s.Notes)
	value := map[string]float64{}
	for i, n := range s.Names {
		if n == "gamma_dot_t0" || n == "gamma_dot_t_offset" {
			out.Values[i] /= ShearFactor
			out.Errors[i] /= ShearFactor
		}
		value[n] = out.Values[i]
	}
	out.Notes = append(out.Notes, fmt.Sprintf("rates of shear are divided by pi/sqrt(2) = %.6f: homodyne and xpcsjax compute (sin x/x)^4 with x = q L cos(...) Gamma/(2 pi)", ShearFactor))
	// Largest phase over the gap, along the flow.
	strain := value["gamma_dot_t0"]*math.Pow(seconds, value["beta"]+1)/(value["beta"]+1) + value["gamma_dot_t_offset"]*seconds
	y := math.Abs(q * gap * strain / 2)
	switch {
	case !linalg.Finite(y) || value["beta"] <= -1:
		out.Notes = append(out.Notes, "the factor is exact for small shear only, and the exponent of the shear rate leaves open how large it becomes: take these rates as a start, not as a result")
	case y <= 1:
		out.Notes = append(out.Notes, fmt.Sprintf("the factor is exact for small shear; here the phase y = q L Gamma/2 stays below %.2g, so that the two forms differ by at most %.1g", y, math.Pow(y, 4)/180))
	default:
		out.Notes = append(out.Notes, fmt.Sprintf("the factor is not exact: the phase y = q L Gamma/2 reaches %.3g, and fits beyond y = 1 are up to %.3g times too large rather than %.3g; take these rates as a start, not as a result", y, math.Pi, ShearFactor))
	}
	return &out
}

// StartAt sets the starting values of parameters to those of a result, and returns notes about it for
// the user. Fixed parameters keep their values.
func (c *Config) StartAt(s *Start) (notes []string, err error) {
	if s.Model != "" && s.Model != c.Model && !(strings.HasPrefix(string(s.Model), "static") && strings.HasPrefix(string(c.Model), "static")) {
		notes = append(notes, fmt.Sprintf("%s is a result of %s, the configuration is for %s", s.File, s.Model, c.Model))
	}
	if s.Window != c.Clock.Window && c.First > 1 {
		notes = append(notes, fmt.Sprintf("amplitudes and exponents of rates depend on what times count from: those of %s are for another origin than that of the configuration, whose first frame is %d", s.File, c.First))
	}
	var taken, left []string
	for i, name := range s.Names {
		p := c.Parameter(name)
		switch name {
		case "contrast":
			p = &c.Contrast
		case "offset":
			p = &c.Offset
		}
		if p == nil || p.Fixed {
			left = append(left, name)
			continue
		}
		p.Start, p.Started = s.Values[i], true
		taken = append(taken, name)
		if p.Bounded && !(p.Start >= p.Low && p.Start <= p.High) {
			at := min(max(p.Start, p.Low), p.High)
			notes = append(notes, fmt.Sprintf("%s = %g is outside of its bounds %g to %g: the start is %g", name, p.Start, p.Low, p.High, at))
			p.Start = at
		}
	}
	if len(taken) == 0 {
		return nil, bad(s.File, "parameters", "it has none of the free parameters of %s, but %s; give a result of this model", c.Model, foreign.Short(strings.Join(s.Names, ", "), 200))
	}
	if len(left) > 0 {
		notes = append(notes, fmt.Sprintf("of %s these are not taken: %s", s.File, strings.Join(left, ", ")))
	}
	return notes, nil
}
