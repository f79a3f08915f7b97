// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

const sound = `package p

func f(a []float64, n int) (float64, error) {
	if n <= 0 && len(a) > 1 {
		return 0, err
	}
	check(a)
	for i := 0; i < n; i++ {
		a[i] += 0.57721566490153286 * a[i]
	}
	return sum(a[1:n]), fmt.Errorf("p: %d", 3)
}
`

// Each kind of fault is planted, and what comes out is Go.
func TestFaults(t *testing.T) {
	all, err := faults("p.go", []byte(sound))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range all {
		got = append(got, f.after)
		if _, err := parser.ParseFile(token.NewFileSet(), "p.go", f.plantedIn([]byte(sound)), 0); err != nil {
			t.Errorf("%s: %v", f.after, err)
		}
	}
	for _, want := range []string{
		"if n < 0 && len(a) > 1 {", "if n <= 0 || len(a) > 1 {", "if n <= 1 && len(a) > 1 {", "return 0, nil", "",
		"for i := 0; i <= n; i++ {", "a[i] -= 0.57721566490153286 * a[i]", "a[i] += 0.57722143705818196 * a[i]", "return sum(a[1:n-1]), fmt.Errorf(\"p: %d\", 3)",
		"return sum(a[1+1:n]), fmt.Errorf(\"p: %d\", 3)", "return sum(a[1:n]), nil",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not planted; these are:\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// A fault that is listed as harmless can still be planted.
func TestHarmlessFaultsApply(t *testing.T) {
	text, err := os.Open("harmless.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	harmless, err := readKnown(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range harmless {
		all, err := faultsOf("../..", []string{k.path})
		if err != nil {
			t.Error(err)
			continue
		}
		if !slices.ContainsFunc(all, k.is) {
			t.Errorf("%s: %q does not become %q any more: take it out of harmless.txt", k.path, k.before, k.after)
		}
	}
}

// Faults that must be noticed can be planted, and their packages are there.
func TestNamedFaultsApply(t *testing.T) {
	all, err := readNamed("../..")
	if err != nil || len(all) < 15 {
		t.Fatalf("%d faults: %v", len(all), err)
	}
	for _, k := range all {
		f, source, err := k.planted("../..")
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), k.path, f.plantedIn(source), 0); err != nil {
			t.Errorf("%s: %v", k.after, err)
		}
		pkg, pattern := k.tests()
		if _, err := os.Stat("../../" + pkg); err != nil || pattern == "" {
			t.Errorf("%q names no package and tests: %v", k.why, err)
		}
	}
}

// Every file named in the table of targets exists and has faults to plant.
func TestTargets(t *testing.T) {
	for _, of := range targets {
		paths, err := of.sources("../..")
		if err != nil {
			t.Error(err)
			continue
		}
		if all, err := faultsOf("../..", paths); err != nil || len(all) < 20 {
			t.Errorf("%s: %d faults, %v", of.pkg, len(all), err)
		}
	}
}
