// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package libconfig

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/spelling"
)

// Kind is the kind of a Value.
type Kind int

// The kinds of values.
const (
	Int Kind = iota
	Float
	Bool
	String
	Array // scalars of the same kind
	List  // values of any kind
	Group // named settings
)

// String returns the kind in words.
func (k Kind) String() string {
	names := []string{"whole number", "fraction", "truth value", "text", "array", "list", "group"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("kind %d", int(k))
	}
	return names[k]
}

// article returns the kind with the article a or an, if it takes one.
func (k Kind) article() string {
	switch k {
	case String:
		return "text"
	case Array:
		return "an array"
	}
	return "a " + k.String()
}

// Value is a setting, or an element of an array or list. The root of a file is
// a Group without a name.
type Value struct {
	Name   string // name of the setting; "" for elements and the root
	Kind   Kind
	Int    int64    // value if Kind is Int
	Float  float64  // value if Kind is Float
	Bool   bool     // value if Kind is Bool
	Text   string   // value if Kind is String
	Items  []*Value // elements of an Array, List or Group, in the order of the file
	Line   int      // line of the value, from 1
	Column int      // column of the value in bytes, from 1

	file string
}

// File returns the name of the file that the value is from.
func (v *Value) File() string { return v.file }

// Errorf returns an error about the value: its position, what is wrong and what to try ("" if there is
// no remedy).
func (v *Value) Errorf(try, format string, args ...any) *FormatError {
	return &FormatError{Format: "libconfig", File: v.file, Line: v.Line, Column: v.Column, What: fmt.Sprintf(format, args...), Try: try}
}

// Has reports whether a path leads to a value.
func (v *Value) Has(path string) bool {
	_, err := v.Lookup(path)
	return err == nil
}

// Lookup follows a path of names and element indices, such as beams.[0].k. If there is no such
// value, the error wraps ErrNotFound and names similar settings.
func (v *Value) Lookup(path string) (*Value, error) {
	at := v
	for _, step := range strings.Split(path, ".") {
		next := at.step(step)
		if next == nil {
			return nil, at.missing(path, step)
		}
		at = next
	}
	return at, nil
}

func (v *Value) step(s string) *Value {
	if number, ok := strings.CutPrefix(s, "["); ok {
		i, err := strconv.Atoi(strings.TrimSuffix(number, "]"))
		if err != nil || i < 0 || i >= len(v.Items) {
			return nil
		}
		return v.Items[i]
	}
	for _, item := range v.Items {
		if v.Kind == Group && item.Name == s {
			return item
		}
	}
	return nil
}

func (v *Value) missing(path, step string) error {
	e := v.Errorf("", "there is no setting %s", path)
	e.Err = ErrNotFound
	if v.Kind != Group {
		e.What += fmt.Sprintf(": %s is %s of %d elements", v.title(), v.Kind.article(), len(v.Items))
		return e
	}
	if v.Name == "" {
		e.Line, e.Column = 0, 0
	}
	var names []string
	for _, item := range v.Items {
		names = append(names, item.Name)
	}
	if near := spelling.Meant(step, names); near != "" {
		e.Try = "is it " + near + "?"
	} else {
		e.Try = "add it"
	}
	return e
}

// title names the value in messages.
func (v *Value) title() string {
	if v.Name == "" {
		return "this"
	}
	return v.Name
}

func (v *Value) wrong(want string) error {
	e := v.Errorf("", "%s is %s, want %s", v.title(), v.Kind.article(), want)
	e.Err = ErrKind
	return e
}

// AsInt returns a whole number.
func (v *Value) AsInt() (int64, error) {
	if v.Kind != Int {
		return 0, v.wrong("a whole number")
	}
	return v.Int, nil
}

// AsFloat returns a number, whole or not.
func (v *Value) AsFloat() (float64, error) {
	switch v.Kind {
	case Float:
		return v.Float, nil
	case Int:
		return float64(v.Int), nil
	}
	return 0, v.wrong("a number")
}

// AsBool returns a truth value.
func (v *Value) AsBool() (bool, error) {
	if v.Kind != Bool {
		return false, v.wrong("true or false")
	}
	return v.Bool, nil
}

// AsText returns the text of a string.
func (v *Value) AsText() (string, error) {
	if v.Kind != String {
		return "", v.wrong("text in quotes")
	}
	return v.Text, nil
}

// Float64s returns the numbers of an array or list.
func (v *Value) Float64s() ([]float64, error) {
	if v.Kind != Array && v.Kind != List {
		return nil, v.wrong("an array of numbers such as [1.0, 2.0]")
	}
	all := make([]float64, len(v.Items))
	for i, item := range v.Items {
		x, err := item.AsFloat()
		if err != nil {
			return nil, item.element(v, i, "a number")
		}
		all[i] = x
	}
	return all, nil
}

func (v *Value) element(of *Value, i int, want string) error {
	e := v.Errorf("", "element %d of %s is %s, want %s", i, of.title(), v.Kind.article(), want)
	e.Err = ErrKind
	return e
}
