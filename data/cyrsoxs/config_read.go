// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/libconfig"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// ReadConfig reads config.txt. It accepts more than CyRSoXS, with a warning in each case: a whole
// number in place of a fraction, 0 and 1 for false and true, AlgorithmType for Algorithm, and groups
// k0 = { k = [...]; } inside braces for the list of beams. It also warns of missing optional keys
// and of unknown keys. The error contains everything that is wrong, joined.
func ReadConfig(name string) (*Config, []string, error) {
	root, err := libconfig.Open(name)
	if err != nil {
		return nil, nil, err
	}
	return readConfig(root)
}

// ParseConfig is ReadConfig for a text; name is used in messages.
func ParseConfig(text, name string) (*Config, []string, error) {
	root, err := libconfig.Parse([]byte(text), name)
	if err != nil {
		return nil, nil, err
	}
	return readConfig(root)
}

// configReader fills a Config and collects errors and warnings about the file.
type configReader struct {
	c        *Config
	root     *libconfig.Value
	lines    map[string]int
	warnings []string
	bad      mistakes
}

func readConfig(root *libconfig.Value) (*Config, []string, error) {
	r := &configReader{c: NewConfig(), root: root, lines: map[string]int{}}
	r.alias()
	for _, s := range settings {
		r.one(s)
	}
	r.directions()
	r.strangers()
	for _, err := range r.c.mistakes() {
		if e := err.(*FormatError); !r.complained(e.Place) {
			e.Line = r.lines[e.Place]
			r.bad = append(r.bad, e)
		}
	}
	if err := r.bad.in(root.File()); err != nil {
		return nil, r.warnings, err
	}
	return r.c, append(r.warnings, r.c.Doubts()...), nil
}

// complained reports whether a key has an error already.
func (r *configReader) complained(key string) bool {
	return slices.ContainsFunc(r.bad, func(err error) bool { return err.(*FormatError).Place == key })
}

func (r *configReader) warn(line int, format string, args ...any) {
	s := r.root.File()
	if line > 0 {
		s += fmt.Sprintf(":%d", line)
	}
	r.warnings = append(r.warnings, s+": "+fmt.Sprintf(format, args...))
}

// get finds a key and remembers its line.
func (r *configReader) get(key string) *libconfig.Value {
	v, err := r.root.Lookup(key)
	if err != nil {
		return nil
	}
	r.lines[key] = v.Line
	return v
}

func (r *configReader) one(s setting) {
	v := r.get(s.key)
	switch {
	case v != nil:
		s.read(r, v)
	case s.absent != "" && r.lines[s.key] == 0:
		r.warn(0, "no %s: taken as %s", s.key, s.absent)
	case s.absent == "":
		try := "add " + s.example
		if near := r.near(s.key); near != "" {
			try = "is it " + near + "?"
		}
		r.bad.add(s.key, try, "it is missing").Err = ErrIncomplete
	}
}

// near finds a name in the file that resembles a missing one.
func (r *configReader) near(key string) string {
	var names []string
	for _, v := range r.root.Items {
		if !known(v.Name) {
			names = append(names, v.Name)
		}
	}
	return spelling.Meant(key, names)
}

// fault records an error of a value.
func (r *configReader) fault(v *libconfig.Value, key string, err error) {
	var e *libconfig.FormatError
	if errors.As(err, &e) && !r.complained(key) {
		what, own := strings.CutPrefix(e.What, key+" ")
		if own {
			what = "it " + what
		}
		r.bad.add(key, e.Try, "%s", what).Line = v.Line
	}
}

func (r *configReader) whole(v *libconfig.Value) int {
	n, err := v.AsInt()
	if err == nil && n != int64(int32(n)) {
		err = v.Errorf("", "%d is out of range", n)
	}
	if err != nil {
		r.fault(v, v.Name, err)
	}
	return int(int32(n))
}

func (r *configReader) truth(v *libconfig.Value) bool {
	if v.Kind == libconfig.Int && (v.Int == 0 || v.Int == 1) {
		r.warn(v.Line, "%s is %d: taken as %t (CyRSoXS ignores it: write true or false)", v.Name, v.Int, v.Int == 1)
		return v.Int == 1
	}
	b, err := v.AsBool()
	if err != nil {
		r.fault(v, v.Name, err)
	}
	return b
}

func (r *configReader) text(v *libconfig.Value) string {
	s, err := v.AsText()
	if err != nil {
		r.fault(v, v.Name, err)
	}
	return s
}

// numbers reads an array of n fractions; n = 0 allows any number.
func (r *configReader) numbers(v *libconfig.Value, n int) []float64 {
	return r.array(v, v.Name, n)
}

func (r *configReader) array(v *libconfig.Value, key string, n int) []float64 {
	all, err := v.Float64s()
	if err == nil && n > 0 && len(all) != n {
		err = v.Errorf("", "it has %d numbers, want %d", len(all), n)
	}
	if err != nil {
		r.fault(v, key, err)
		return nil
	}
	if slices.ContainsFunc(v.Items, func(x *libconfig.Value) bool { return x.Kind == libconfig.Int }) {
		r.warn(v.Line, "%s has whole numbers: taken as fractions (CyRSoXS stops: write 1.0 for 1)", key)
	}
	return all
}

// alias uses AlgorithmType if there is no Algorithm.
func (r *configReader) alias() {
	v, main := r.get(keyAlias), r.get("Algorithm")
	switch {
	case v == nil:
	case main == nil:
		r.c.Algorithm = Algorithm(r.whole(v))
		r.lines["Algorithm"] = v.Line
		r.warn(v.Line, "AlgorithmType is taken as Algorithm (CyRSoXS reads Algorithm only)")
	case v.Kind != main.Kind || v.Int != main.Int:
		r.warn(v.Line, "AlgorithmType is not Algorithm in line %d, which counts", main.Line)
	}
}
