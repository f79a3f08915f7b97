// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package golden finds the reference numbers that tests compare with.
//
// A reference is a tree of topics (assemblies, cuda, inference, scatter, xpcs)
// whose formats the README beside each topic describes. A topic is read from the
// first of these places that has it:
//
//   - the folder $EURYALE_REFERENCE;
//   - ../shared/reference beside the repository;
//   - internal/golden/testdata/TOPIC.zip, which holds what may be distributed.
//
// A test whose file is in none of these places is skipped with a message, or fails if
// $EURYALE_REQUIRE_REFERENCE is 1. Any other set of numbers in the same formats may replace ours, so
// tests walk the cases that they find:
//
//	golden.Each(t, "scatter/cases/*", func(t *testing.T, name string) {
//		var c testCase
//		golden.JSON(t, &c, name, "case.json")
//	})
//
// What a file does not say of itself, its README, a JSON document beside it, the headers of FITS and the attributes of HDF5 do. No test
// names a member of our set, and a slow test runs all tests with sets of other names.
package golden

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Path returns a path of the reference file or folder named by elem, or skips the test. For a packed
// topic it is a copy in a temporary folder, beside the other files of its folder.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	name := path.Join(elem...)
	s := find(t, name)
	info, err := fs.Stat(s.files, name)
	if err != nil {
		missing(t, name)
	}
	if s.dir != "" {
		return filepath.Join(s.dir, filepath.FromSlash(name))
	}
	return unpack(t, s.files, name, info)
}

// JSON decodes the reference file named by elem into v, or skips the test.
func JSON(t testing.TB, v any, elem ...string) {
	t.Helper()
	name := path.Join(elem...)
	b, err := fs.ReadFile(find(t, name).files, name)
	if err != nil {
		missing(t, name)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("golden: %s: %v: compare the file with the README of its topic", name, err)
	}
}

// Glob returns the names of the reference files and folders that match a pattern
// of path.Match, sorted, or skips the test if there are none. The first element
// of the pattern is the name of a topic. Path and JSON take the names as they are.
func Glob(t testing.TB, pattern string) []string {
	t.Helper()
	names, err := fs.Glob(find(t, pattern).files, pattern)
	if err != nil {
		t.Fatalf("golden: pattern %q: %v: see path.Match for the syntax", pattern, err)
	}
	if len(names) == 0 {
		missing(t, pattern)
	}
	return names
}

// Members returns what the one * of a pattern stands for in each match of Glob, sorted: the names of the arms for
// "spectra/library/interp_*.h5", those of the cases for "scatter/cases/*/case.json".
func Members(t testing.TB, pattern string) (list []string) {
	t.Helper()
	before, after, one := strings.Cut(pattern, "*")
	if !one || strings.ContainsAny(after, "*?[") {
		t.Fatalf("golden: pattern %q: want a single *", pattern)
	}
	for _, name := range Glob(t, pattern) {
		list = append(list, name[len(before):len(name)-len(after)])
	}
	return list
}

// Has reports whether the reference has a file or folder, for tests that can do without it.
func Has(t testing.TB, elem ...string) bool {
	t.Helper()
	name := path.Join(elem...)
	_, err := fs.Stat(find(t, name).files, name)
	return err == nil
}

// Having returns those matches of Glob that are JSON objects with all of the keys. If the reference
// has no such case the test is skipped, required or not: another set may have other cases.
func Having(t testing.TB, pattern string, keys ...string) (names []string) {
	t.Helper()
	for _, name := range Glob(t, pattern) {
		var object map[string]json.RawMessage
		JSON(t, &object, name)
		if !slices.ContainsFunc(keys, func(k string) bool { return object[k] == nil }) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Skipf("golden: no %s has the keys %q", pattern, keys)
	}
	return names
}

// Each runs f as one subtest per match of Glob, named by the last element of the
// match without its extension.
func Each(t *testing.T, pattern string, f func(t *testing.T, name string)) {
	t.Helper()
	for _, name := range Glob(t, pattern) {
		t.Run(Base(name), func(t *testing.T) { f(t, name) })
	}
}

// Base returns the last element of a name without its extension.
func Base(name string) string {
	return strings.TrimSuffix(path.Base(name), path.Ext(name))
}

// missing skips or fails a test because a reference does not exist.
func missing(t testing.TB, name string) {
	t.Helper()
	if required() {
		t.Fatalf("golden: no reference %s: set EURYALE_REFERENCE to a folder that holds it, or EURYALE_REQUIRE_REFERENCE to 0 to skip such tests", name)
	}
	t.Skipf("golden: no reference %s: set EURYALE_REFERENCE to a folder that holds it", name)
}

func required() bool {
	v := os.Getenv("EURYALE_REQUIRE_REFERENCE")
	return v != "" && v != "0"
}

// Float is a float64 whose JSON may also be one of the strings NaN, NA, Inf,
// Infinity, -Inf and -Infinity, or a truth value.
type Float float64

// UnmarshalJSON reads a number or the name of a non-finite one.
func (f *Float) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"NaN"`, `"NA"`, "null":
		*f = Float(math.NaN())
	case `"Inf"`, `"Infinity"`, `"+Inf"`:
		*f = Float(math.Inf(1))
	case `"-Inf"`, `"-Infinity"`:
		*f = Float(math.Inf(-1))
	case "true":
		*f = 1
	case "false":
		*f = 0
	default:
		var x float64
		if err := json.Unmarshal(b, &x); err != nil {
			return fmt.Errorf("golden: %s is neither a number nor NaN or Inf", b)
		}
		*f = Float(x)
	}
	return nil
}
