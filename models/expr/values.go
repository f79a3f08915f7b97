// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Column holds numbers, or labels if any entry is a string that is not a number.
type Column struct {
	Values []float64
	Labels []string // labels of the rows; nil for a column of numbers
}

// Len returns the number of rows.
func (c Column) Len() int { return max(len(c.Values), len(c.Labels)) }

// UnmarshalJSON reads a list of numbers or strings; "NaN", "Infinity" and
// "-Infinity" are numbers.
func (c *Column) UnmarshalJSON(b []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*c = Column{}
	var labels []string
	text := false
	for i, r := range raw {
		v, err := parseNumber(r)
		var s string
		switch {
		case err == nil:
			s = strconv.FormatFloat(v, 'g', -1, 64)
		case json.Unmarshal(r, &s) == nil && r[0] == '"':
			text = true
		case string(r) == "null":
			return fmt.Errorf("row %d has no value (null): leave the row out of all columns", i+1)
		case slices.Contains([]byte("-0123456789"), r[0]):
			return fmt.Errorf("row %d has %s, which is beyond the range of 64-bit numbers: leave the row out, or give the column in another unit", i+1, r)
		default:
			return fmt.Errorf("row %d has %s: want a number or a string", i+1, r)
		}
		c.Values, labels = append(c.Values, v), append(labels, s)
	}
	if text {
		c.Values, c.Labels = nil, labels
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (c Column) MarshalJSON() ([]byte, error) {
	if c.Labels != nil {
		return json.Marshal(c.Labels)
	}
	return marshalNumbers(c.Values), nil
}

// levels returns the labels in order of appearance, and the index of each row's label.
func (c Column) levels() (labels []string, code []int) {
	rows := c.Labels
	if rows == nil {
		for _, v := range c.Values {
			rows = append(rows, strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	for _, s := range rows {
		i := slices.Index(labels, s)
		if i < 0 {
			i, labels = len(labels), append(labels, s)
		}
		code = append(code, i)
	}
	return labels, code
}

// Values is a number, or the elements of a vector.
type Values []float64

// UnmarshalJSON reads a number or a list of numbers.
func (v *Values) UnmarshalJSON(b []byte) error {
	if x, err := parseNumber(b); err == nil {
		*v = Values{x}
		return nil
	}
	var c Column
	if err := json.Unmarshal(b, &c); err != nil || c.Labels != nil || len(c.Values) == 0 {
		return fmt.Errorf("start: %s is neither a number nor a list of numbers: want one of these", b)
	}
	*v = c.Values
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (v Values) MarshalJSON() ([]byte, error) {
	b := marshalNumbers(v)
	if len(v) == 1 {
		b = b[1 : len(b)-1]
	}
	return b, nil
}

// Bounds are a lower and an upper bound; an infinite one stands for none.
type Bounds [2]float64

// UnmarshalJSON reads [lower, upper] with null for none.
func (v *Bounds) UnmarshalJSON(b []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil || len(raw) != 2 {
		return fmt.Errorf("bounds: %s does not give two bounds: want [lower, upper], with null for none", b)
	}
	*v = Bounds{math.Inf(-1), math.Inf(1)}
	for i, r := range raw {
		if string(r) == "null" {
			continue
		}
		x, err := parseNumber(r)
		if err != nil || math.IsNaN(x) {
			return fmt.Errorf("bounds: %s is not a number: want a number, or null for none", r)
		}
		v[i] = x
	}
	return nil
}

// ordered returns an error that names the parameter whose lower bound is not below the upper one.
func (p *Problem) ordered() error {
	for _, name := range sortedKeys(p.Bounds) {
		if v := p.Bounds[name]; !(v[0] < v[1]) {
			return fmt.Errorf("bounds of %s: in [%g, %g] the lower bound is not below the upper one: swap or change them", name, v[0], v[1])
		}
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (v Bounds) MarshalJSON() ([]byte, error) { return marshalNumbers(v[:]), nil }

// parseNumber reads a number or the name of one that is not finite.
func parseNumber(b []byte) (float64, error) {
	switch strings.Trim(string(bytes.TrimSpace(b)), `"`) {
	case "NaN":
		return math.NaN(), nil
	case "Infinity", "Inf", "+Inf":
		return math.Inf(1), nil
	case "-Infinity", "-Inf":
		return math.Inf(-1), nil
	}
	var v *float64
	err := json.Unmarshal(b, &v)
	if err == nil && v == nil {
		err = fmt.Errorf("null is not a number: want a number, or a text such as \"NaN\" or \"Infinity\"")
	}
	if err != nil {
		return math.NaN(), err
	}
	return *v, nil
}

func marshalNumbers(v []float64) []byte {
	b := []byte{'['}
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case math.IsNaN(x):
			b = append(b, `"NaN"`...)
		case math.IsInf(x, 1):
			b = append(b, `"Infinity"`...)
		case math.IsInf(x, -1):
			b = append(b, `"-Infinity"`...)
		default:
			b = strconv.AppendFloat(b, x, 'g', -1, 64)
		}
	}
	return append(b, ']')
}
