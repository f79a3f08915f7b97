// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package setting lets a struct declare once what a user can set of an analysis. Flags of commands, keys of configurations, options of
// notebooks and their documents are made from the declaration.
//
//	type Request struct {
//		Model string          `default:"single" about:"relaxation model"`
//		Fixed setting.Numbers `about:"hold a parameter fixed"`
//		Gap   float64         `unit:"um" default:"200" low:"0" about:"gap between the plates"`
//	}
//
// Bounds are given by the tags low and high, or above and below if they are not included themselves. The tag zero says what 0 stands
// for, where it leaves the choice to others. A number that may have a unit, such as 75um, has the tag units: the units, such as um=1 mm=1e3,
// with what one of each is in the unit of the value; the first is that of plain numbers. The name of a setting is that of its field in lower-case words joined by hyphens, or the tag name. The tag only names the commands
// that have it, separated by commas, if not all do. Choices are separated by commas in the tag choices, or come from a method Choices(name string) []string.
//
// A value that is given has to be within the bounds and among the choices wherever it is given: see [Setting.Given]. Zero stands for the
// default only in structs of Go.
package setting

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/euryale-dev/euryale/internal/spelling"
)

// Setting is one field of a declaration.
type Setting struct {
	Name    string // such as drop-invalid
	Field   string // such as DropInvalid
	Unit    string
	Default string
	Zero    string   // what 0 stands for, or ""
	About   string   // one sentence, without a full stop
	Only    []string // the commands that have it, or nil for all
	Choices []string

	hint         string // what else helps with a value that is not among the choices
	units        []unit
	low, high    float64
	above, below bool // whether low and high are not included themselves
	value        reflect.Value
}

// unit is a unit of a number, and what one of it is in the unit of the value.
type unit struct {
	name  string
	scale float64
}

// Error reports a setting that cannot be used.
type Error struct {
	Name string
	Text string // the rest of the message
}

// Error begins with the name of the setting.
func (e *Error) Error() string { return e.Name + ": " + e.Text }

// Errors returns the errors about settings within an error.
func Errors(err error) (all []*Error) {
	switch e := err.(type) {
	case *Error:
		return []*Error{e}
	case interface{ Unwrap() error }:
		return Errors(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			all = append(all, Errors(inner)...)
		}
	}
	return all
}

// Of lists the settings of a struct, given by a pointer, with those of embedded structs.
func Of(declared any) []Setting { return of(reflect.ValueOf(declared).Elem(), declared) }

func of(v reflect.Value, declared any) (all []Setting) {
	for i, f := range fieldsOf(v.Type()) {
		if f.embedded {
			var inner any
			if f.exported {
				inner = v.Field(i).Addr().Interface()
			}
			all = append(all, of(v.Field(i), inner)...)
			continue
		}
		s := f.setting
		if s.About == "" {
			continue
		}
		s.value = v.Field(i)
		if c, ok := declared.(interface{ Choices(string) []string }); ok && s.Choices == nil {
			s.Choices = c.Choices(s.Name)
		}
		all = append(all, s)
	}
	return all
}

// field is what a field of a struct declares: a setting, whose About is empty if it is none, or those of an embedded struct.
type field struct {
	embedded, exported bool
	setting            Setting // without a value
}

// declarations keeps the fields of types, whose tags take longer to read than all else that a command line does before it runs.
var declarations sync.Map

func fieldsOf(t reflect.Type) []field {
	if known, ok := declarations.Load(t); ok {
		return known.([]field)
	}
	fields := make([]field, t.NumField())
	for i := range fields {
		fields[i] = fieldOf(t.Field(i))
	}
	declarations.Store(t, fields)
	return fields
}

func fieldOf(f reflect.StructField) field {
	if f.Anonymous && f.Type.Kind() == reflect.Struct {
		return field{embedded: true, exported: f.IsExported()}
	}
	about := f.Tag.Get("about")
	if about == "" {
		return field{}
	}
	s := Setting{Name: f.Tag.Get("name"), Field: f.Name, Unit: f.Tag.Get("unit"), Default: f.Tag.Get("default"), About: about, Only: listed(f.Tag.Get("only")),
		Choices: listed(f.Tag.Get("choices")), units: units(f), hint: f.Tag.Get("hint"),
		Zero: f.Tag.Get("zero"), low: number(f, "low", math.Inf(-1)), high: number(f, "high", math.Inf(1))}
	if s.above = f.Tag.Get("above") != ""; s.above {
		s.low = number(f, "above", 0)
	}
	if s.below = f.Tag.Get("below") != ""; s.below {
		s.high = number(f, "below", 0)
	}
	if s.Name == "" {
		s.Name = hyphenated(f.Name)
	}
	return field{setting: s}
}

// Find returns the setting of a name, which must exist.
func Find(declared any, name string) Setting {
	all := Of(declared)
	return all[slices.IndexFunc(all, func(s Setting) bool { return s.Name == name })]
}

// listed splits what commas separate.
func listed(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// units reads the units of a declaration.
func units(f reflect.StructField) (all []unit) {
	for _, text := range strings.Fields(f.Tag.Get("units")) {
		name, scale, _ := strings.Cut(text, "=")
		x, err := strconv.ParseFloat(scale, 64)
		if err != nil {
			panic(fmt.Sprintf("setting: the units of %s have %q: want name=number", f.Name, text))
		}
		all = append(all, unit{name, x})
	}
	return all
}

// number reads a bound of a declaration.
func number(f reflect.StructField, tag string, otherwise float64) float64 {
	text := f.Tag.Get(tag)
	if text == "" {
		return otherwise
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("setting: %s of %s is %q: want a number", tag, f.Name, text))
	}
	return x
}

// hyphenated writes a name of Go, such as DropInvalid, as drop-invalid.
func hyphenated(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Complete sets what is zero to its default, and returns an error of type *Error for the first value that is not among the choices or
// not within the bounds.
func Complete(declared any) error {
	for _, s := range Of(declared) {
		if s.Default != "" && s.value.IsZero() {
			if err := s.Set(s.Default); err != nil {
				panic(fmt.Sprintf("setting: the default of %s: %v", s.Name, err))
			}
		}
	}
	if bad := Mistakes(declared); len(bad) > 0 {
		return bad[0]
	}
	return nil
}

// Mistakes lists the values that are not among the choices or not within the bounds.
func Mistakes(declared any) (all []*Error) {
	for _, s := range Of(declared) {
		if text := s.Given(); text != "" && !(s.Zero != "" && s.value.IsZero()) {
			all = append(all, &Error{s.Name, text})
		}
	}
	return all
}

// Given says why the value cannot have been given, which is not among the choices or not within the bounds, or "". A 0 or an empty text that
// somebody writes is such a value, too, unless it is allowed: who wants the default leaves the setting out.
func (s Setting) Given() string {
	if p, ok := s.value.Interface().(interface{ mistake() string }); ok {
		return p.mistake()
	}
	switch v := s.value; v.Kind() {
	case reflect.String:
		if s.Choices != nil && !slices.Contains(s.Choices, v.String()) {
			text := Unknown(v.String(), s.Choices)
			if s.hint != "" {
				text += "; " + s.hint
			}
			return text
		}
	case reflect.Int, reflect.Int64:
		if x := float64(v.Int()); x < s.low || x > s.high {
			return fmt.Sprintf("%d: want %s", v.Int(), s.bounds())
		}
	case reflect.Float64:
		if x := v.Float(); math.IsInf(x, 0) || !(x >= s.low && x <= s.high) || s.above && x == s.low || s.below && x == s.high {
			return fmt.Sprintf("%s: want %s", s.Text(), s.bounds())
		}
	}
	return ""
}

// Values says which values a setting takes: its choices, its bounds or its units. It is "" if nothing limits them.
func (s Setting) Values() string {
	switch {
	case s.Choices != nil:
		return Listed(s.Choices)
	case s.units != nil:
		var names []string
		for _, u := range s.units {
			names = append(names, u.name)
		}
		return "a number in " + Listed(names)
	case math.IsInf(s.low, -1) && math.IsInf(s.high, 1):
		return ""
	}
	return s.bounds()
}

// bounds says which numbers a setting takes.
func (s Setting) bounds() string {
	unit := ""
	if s.Unit != "" {
		unit = " " + s.Unit
	}
	low, high := plain(s.low), plain(s.high)
	switch {
	case math.IsInf(s.low, -1) && math.IsInf(s.high, 1):
		return "a finite number" + unit
	case s.above && math.IsInf(s.high, 1):
		return fmt.Sprintf("more than %s%s", low, unit)
	case s.above && !s.below:
		return fmt.Sprintf("more than %s%s and at most %s", low, unit, high)
	case s.above:
		return fmt.Sprintf("a number between %s and %s%s", low, high, unit)
	case math.IsInf(s.high, 1):
		return fmt.Sprintf("at least %s%s", low, unit)
	case math.IsInf(s.low, -1):
		return fmt.Sprintf("at most %s%s", high, unit)
	}
	return fmt.Sprintf("%s to %s%s", low, high, unit)
}

// plain writes whole numbers without an exponent.
func plain(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Unknown says that a value is not among the names, and suggests the closest one.
func Unknown(value string, names []string) string {
	text := fmt.Sprintf("%q: want %s", value, Listed(names))
	if near := spelling.Meant(value, names); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

// UnknownParameter says that there is no parameter of a name, and suggests the closest one.
func UnknownParameter(name string, names []string) string { return "parameter " + Unknown(name, names) }

// Spelled returns the name of a setting that may also be called otherwise: several values are given one by one, and together.
func Spelled(name string) string {
	if other, ok := map[string]string{"bound": "bounds", "priors": "prior", "fix": "fixed", "average": "average-frames"}[name]; ok {
		return other
	}
	return name
}

// Key is the name of a setting in documents, such as drop_invalid.
func (s Setting) Key() string { return Key(s.Name) }

// Key is the key for a name.
func Key(name string) string { return strings.ReplaceAll(name, "-", "_") }

// Listed writes names as a list in a sentence: a, b or c.
func Listed(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return strings.Join(names, "")
}

// Set reads a value from text. A setting that holds several takes one of them with each call.
func (s Setting) Set(text string) error {
	if p, ok := s.value.Addr().Interface().(interface{ add(string) error }); ok {
		return p.add(text)
	}
	switch s.value.Kind() {
	case reflect.String:
		s.value.SetString(text)
	case reflect.Bool:
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("want true or false")
		}
		s.value.SetBool(on)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("want a whole number")
		}
		s.value.SetInt(n)
	case reflect.Float64:
		x, err := s.Read(text)
		if err != nil {
			return err
		}
		s.value.SetFloat(x)
	default:
		panic(fmt.Sprintf("setting: %s has the type %s, which no text can set", s.Field, s.value.Type()))
	}
	return nil
}

// Read reads a number with or without one of the setting's units.
func (s Setting) Read(text string) (float64, error) {
	if s.units == nil {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return 0, fmt.Errorf("want a number")
		}
		return x, nil
	}
	number, scale, names := text, s.units[0].scale, []string{}
	for _, u := range s.units {
		names = append(names, u.name)
		if n, ok := strings.CutSuffix(text, u.name); ok {
			if _, err := Finite(n); err == nil {
				number, scale = n, u.scale
			}
		}
	}
	x, err := Finite(number)
	if err != nil {
		return 0, fmt.Errorf("want a number, followed by %s or by no unit", strings.Join(names, ", "))
	}
	return x * scale, nil
}

// Finite reads a finite number.
func Finite(text string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return x, nil
}

// List reads finite numbers that commas, semicolons or blanks divide.
func List(text string) (all []float64, err error) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == ';' }) {
		x, err := Finite(part)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// Text is the value as Set reads it; that of a setting that holds several is "".
func (s Setting) Text() string {
	if s.Form() != "" || s.units != nil && s.IsZero() {
		return ""
	}
	if s.units != nil {
		return strconv.FormatFloat(s.value.Float()/s.units[0].scale, 'g', -1, 64) + s.units[0].name
	}
	return fmt.Sprint(s.value.Interface())
}

// Form says how one of several values is written, such as name=value, and is "" for a setting with one value.
func (s Setting) Form() string {
	if p, ok := s.value.Addr().Interface().(interface{ form() string }); ok {
		return p.form()
	}
	return ""
}

// Kind is the kind of value: string, bool, int, float64, the first unit of a number with units, or string for a setting that holds
// several.
func (s Setting) Kind() string {
	if s.Form() != "" {
		return "string"
	}
	if s.units != nil {
		return s.units[0].name
	}
	return s.value.Kind().String()
}

// IsZero reports whether a setting has its zero value.
func (s Setting) IsZero() bool { return s.value.IsZero() }

// Copy gives the settings of a declaration the values of the fields of the same names in another struct, which may have other fields too
// and lack some. Maps of the same kinds are taken over.
func Copy(declared, from any) { fill(declared, from, func(Setting, bool) bool { return true }) }

// Default gives the settings of a declaration that were not chosen the values that another one has, by name.
func Default(declared, from any, chosen func(name string) bool) {
	fill(declared, from, func(s Setting, zero bool) bool { return !zero && !chosen(s.Name) })
}

func fill(declared, from any, wanted func(s Setting, zero bool) bool) {
	src := reflect.ValueOf(from)
	for _, s := range Of(declared) {
		if v := s.in(src); v.IsValid() && v.Type().ConvertibleTo(s.value.Type()) && wanted(s, v.IsZero()) {
			s.value.Set(v.Convert(s.value.Type()))
		}
	}
}

// in returns the field of a struct for a setting, which is called as in its declaration or by the name of the setting, such as MaxTreeDepth for
// max-tree-depth.
func (s Setting) in(v reflect.Value) reflect.Value {
	if f := v.FieldByName(s.Field); f.IsValid() {
		return f
	}
	return v.FieldByName(s.Exported())
}

// Exported is the name of a setting as Go writes it, such as MaxTreeDepth for max-tree-depth.
func (s Setting) Exported() string {
	var b strings.Builder
	for part := range strings.SplitSeq(s.Name, "-") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}
