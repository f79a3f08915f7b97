// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Numbers are finite numbers by name, such as values of parameters that are held fixed. In JSON they are an object; a list of texts
// name=value is read, too.
type Numbers map[string]float64

// Intervals are a lower and an upper limit by name, either of which may be infinite. In JSON they are an object of pairs, in which an
// infinite limit is a text or, as in YAML, null; a list of texts name=lo:hi is read, too.
type Intervals map[string][2]float64

// Texts are texts by name, such as priors. In JSON they are an object; a list of texts name=text is read, too.
type Texts map[string]string

func (Numbers) form() string   { return "name=value" }
func (Intervals) form() string { return "name=lo:hi" }
func (Texts) form() string     { return "name=distribution(numbers)" }

// assigned splits name=value.
func assigned(text string) (name, value string) {
	name, value, _ = strings.Cut(text, "=")
	return strings.TrimSpace(name), strings.TrimSpace(value)
}

func (n *Numbers) add(text string) error {
	name, value := assigned(text)
	x, err := Finite(value)
	if err != nil || name == "" {
		return written("want name=value with a finite number", value)
	}
	if old, twice := (*n)[name]; twice {
		return fmt.Errorf("%s was already given as %g: leave one of them out", name, old)
	}
	return put((*map[string]float64)(n), name, x)
}

// written says what is wanted, and how to write a number that has a comma.
func written(want string, numbers ...string) error {
	for _, text := range numbers {
		if point := foreign.Decimal(strings.TrimSpace(text)); point != "" {
			return fmt.Errorf("%s; the decimal sign is a point, as in %s", want, point)
		}
	}
	return errors.New(want)
}

func (n Numbers) mistake() string {
	for _, name := range slices.Sorted(maps.Keys(n)) {
		if v := n[name]; name == "" || math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprintf("%s=%g: want name=value with a finite number", name, v)
		}
	}
	return ""
}

const wantInterval = "want name=lo:hi, two numbers without units, with lo < hi; one of them may be left out"

func (i *Intervals) add(text string) error {
	name, value := assigned(text)
	lo, hi, both := strings.Cut(value, ":")
	a, err1 := end(lo, math.Inf(-1))
	b, err2 := end(hi, math.Inf(1))
	if name == "" || !both || value == ":" || err1 != nil || err2 != nil || !(a < b) {
		return written(wantInterval, lo, hi)
	}
	if old, twice := (*i)[name]; twice {
		return fmt.Errorf("%s already has the bounds %g:%g: leave one of them out", name, old[0], old[1])
	}
	return put((*map[string][2]float64)(i), name, [2]float64{a, b})
}

// end reads an end of an interval, which may be left out.
func end(text string, open float64) (float64, error) {
	if text = strings.TrimSpace(text); text == "" {
		return open, nil
	}
	return strconv.ParseFloat(text, 64)
}

func (i Intervals) mistake() string {
	for _, name := range slices.Sorted(maps.Keys(i)) {
		if v := i[name]; name == "" || !(v[0] < v[1]) {
			return fmt.Sprintf("%s=%g:%g: %s", name, v[0], v[1], wantInterval)
		}
	}
	return ""
}

func (t *Texts) add(text string) error {
	name, value := assigned(text)
	if name == "" || value == "" {
		return errors.New(wantPrior)
	}
	if old, twice := (*t)[name]; twice {
		return fmt.Errorf("%s already has a prior, %s: give only one", name, old)
	}
	return put((*map[string]string)(t), name, value)
}

func (t Texts) mistake() string {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if name == "" || strings.TrimSpace(t[name]) == "" {
			return fmt.Sprintf("%s=%s: %s", name, t[name], wantPrior)
		}
	}
	return ""
}

const wantPrior = "want name=distribution(numbers), such as tau=lognormal(-3,1)"

// Prior reads the prior of a parameter. Its error is of type *Error.
func Prior(name, text string) (dist.Dist, error) {
	d, err := dist.Parse(text)
	if err != nil {
		return d, &Error{"prior", fmt.Sprintf("%s=%s: %s: %v", name, text, wantPrior, errtext.Without("dist: ", err))}
	}
	return d, nil
}

func put[T any](m *map[string]T, name string, v T) error {
	if *m == nil {
		*m = map[string]T{}
	}
	(*m)[name] = v
	return nil
}

// UnmarshalJSON reads an object, or the list of texts that older versions wrote.
func (n *Numbers) UnmarshalJSON(b []byte) error { return read(b, (*map[string]float64)(n), n.add) }

// UnmarshalJSON reads an object, or the list of texts that older versions wrote.
func (t *Texts) UnmarshalJSON(b []byte) error { return read(b, (*map[string]string)(t), t.add) }

// UnmarshalYAML reads names with a number each.
func (n *Numbers) UnmarshalYAML(decode func(any) error) error {
	var values map[string]*float64
	if err := decode(&values); err != nil {
		return err
	}
	for name, v := range values {
		if v == nil { // which YAML takes for 0
			return fmt.Errorf("%s has no value: give a number, or leave it out", name)
		}
		put((*map[string]float64)(n), name, *v)
	}
	return nil
}

// UnmarshalYAML reads names with a lower and an upper limit each, of which null stands for none.
func (i *Intervals) UnmarshalYAML(decode func(any) error) error {
	var ends map[string][]*float64
	if err := decode(&ends); err != nil {
		return err
	}
	for name, v := range ends {
		if len(v) != 2 {
			return fmt.Errorf("%s has %d numbers: want two numbers in brackets, such as [0, 1]", name, len(v))
		}
		both := [2]float64{math.Inf(-1), math.Inf(1)}
		for k, x := range v {
			if x != nil {
				both[k] = *x
			}
		}
		put((*map[string][2]float64)(i), name, both)
	}
	return nil
}

// MarshalJSON writes infinite limits as texts.
func (i Intervals) MarshalJSON() ([]byte, error) {
	if i == nil {
		return []byte("null"), nil
	}
	out := map[string][2]limit{}
	for name, v := range i {
		out[name] = [2]limit{limit(v[0]), limit(v[1])}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads an object, or the list of texts that older versions wrote.
func (i *Intervals) UnmarshalJSON(b []byte) error {
	var limits map[string][2]*limit
	if err := read(b, &limits, i.add); err != nil {
		return err
	}
	for name, v := range limits {
		both := [2]float64{math.Inf(-1), math.Inf(1)}
		for k, x := range v {
			if x != nil {
				both[k] = float64(*x)
			}
		}
		put((*map[string][2]float64)(i), name, both)
	}
	return nil
}

// limit is a number that is written to JSON as a text if it is infinite.
type limit float64

func (l limit) MarshalJSON() ([]byte, error) {
	if v := float64(l); math.IsInf(v, 0) {
		return json.Marshal(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return json.Marshal(float64(l))
}

func (l *limit) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	*l = limit(v)
	return err
}

func read[T any](b []byte, into *map[string]T, add func(string) error) error {
	var list []string
	if json.Unmarshal(b, &list) != nil {
		return json.Unmarshal(b, into)
	}
	for _, text := range list {
		if err := add(text); err != nil {
			return err
		}
	}
	return nil
}
