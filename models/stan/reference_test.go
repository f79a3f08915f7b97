// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/stan/internal/check"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
)

// refused are functions of Stan's reference that are not here, with the reason.
var refused = map[string]string{
	"wiener_lcdf_unnorm":  "only the density of first passage times is here, not their distribution function",
	"wiener_lccdf_unnorm": "only the density of first passage times is here, not their distribution function",
}

// TestFunctionsReference looks up every function of the index of Stan's functions reference (2.38, testdata/functions.txt): the name with
// the types of the arguments and of the result, where the index names a set of types one of it, the name of a distribution before ~, or of a function that takes another one.
func TestFunctionsReference(t *testing.T) {
	b, err := os.ReadFile("testdata/functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		name, _, _ := strings.Cut(strings.Fields(line)[0], "(")
		_, missing := refused[name]
		if done := offered(name, line); done == missing {
			t.Errorf("%s: offered %t, although the list of refusals says %q", line, done, refused[name])
		}
	}
}

// offered says whether a function of the reference may be called.
func offered(name, line string) bool {
	lib := catalogue{}
	if strings.HasSuffix(line, "~") {
		return offered1(lib, name+"_lpdf") || offered1(lib, name+"_lpmf")
	}
	name = check.Density(name)
	if _, solver := lib.Solver(name); solver || strings.HasSuffix(line, "(...)") {
		return true
	}
	args, result, ok := strings.Cut(line[strings.Index(line, "(")+1:], ") => ")
	if !ok {
		return offered1(lib, name)
	}
	types := parseTypes(args)
	return slices.ContainsFunc(lib.Overloads(name), func(o typing.Overload) bool {
		_, r, _, ok := o.Match(types)
		return ok && typing.Equal(r, parseTypes(result)[0])
	})
}

func offered1(lib catalogue, name string) bool {
	_, solver := lib.Solver(name)
	return solver || len(lib.Overloads(name)) > 0
}

// parseTypes reads a list of types.
func parseTypes(s string) (list []typing.Type) {
	for s != "" {
		if in, ok := strings.CutPrefix(s, "tuple("); ok {
			end := strings.Index(in, ")")
			list = append(list, typing.Type{Kind: typing.Tuple, Elems: parseTypes(in[:end])})
			s = strings.TrimPrefix(in[end+1:], ", ")
			continue
		}
		word, rest, _ := strings.Cut(s, ", ")
		list, s = append(list, typing.Parse(word)), rest
	}
	return list
}
