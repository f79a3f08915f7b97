// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Numbers are finite numbers by name, such as values of parameters that are held fixed. In JSON they are an object; a list of texts
// name=value is read, too.
type Numbers map[string]float64

// Intervals are a lower and an upper limit by name, either of which may be infinite. In JSON they are an object of pairs, in which an
// infinite limit is a text; a list of texts name=lo:hi is read, too.
type Intervals map[string][2]float64

// Texts are texts by name, such as priors. In JSON they are an object; a list of texts name=text is read, too.
type Texts map[string]string

func (Numbers) form() string   { return "name=value" }
func (Intervals) form() string { return "name=lo:hi" }
func (Texts) form() string     { return "name=distribution(numbers)" }

func (n *Numbers) add(text string) error {
	name, value, _ := strings.Cut(text, "=")
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("want name=value with a finite number")
	}
	if old, twice := (*n)[name]; twice {
		return fmt.Errorf("%s was already given as %g: leave one of them out", name, old)
	}
	return put((*map[string]float64)(n), name, x)
}

func (i *Intervals) add(text string) error {
	name, value, _ := strings.Cut(text, "=")
	lo, hi, _ := strings.Cut(value, ":")
	a, err1 := strconv.ParseFloat(lo, 64)
	b, err2 := strconv.ParseFloat(hi, 64)
	if err1 != nil || err2 != nil || !(a < b) {
		return fmt.Errorf("want name=lo:hi, two numbers without units, with lo < hi")
	}
	if old, twice := (*i)[name]; twice {
		return fmt.Errorf("%s already has the bounds %g:%g: leave one of them out", name, old[0], old[1])
	}
	return put((*map[string][2]float64)(i), name, [2]float64{a, b})
}

func (t *Texts) add(text string) error {
	name, value, _ := strings.Cut(text, "=")
	if old, twice := (*t)[name]; twice {
		return fmt.Errorf("%s already has a prior, %s: give only one", name, old)
	}
	return put((*map[string]string)(t), name, value)
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
	var limits map[string][2]limit
	if err := read(b, &limits, i.add); err != nil {
		return err
	}
	for name, v := range limits {
		put((*map[string][2]float64)(i), name, [2]float64{float64(v[0]), float64(v[1])})
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
