// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler_test

import (
	"regexp"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// expect compares what a pass makes of outputs with lines, in which indents and
// empty lines do not count.
func expect(t *testing.T, pass, lines string, outputs ...*ad.Node) {
	t.Helper()
	p, err := ad.Compile(outputs, ad.Settings{Backend: ad.CPU{Threads: 1, SIMD: "go"}})
	if err != nil {
		t.Fatal(err)
	}
	got, in := []string{}, false
	for line := range strings.Lines(p.Explain()) {
		if !strings.HasPrefix(line, " ") {
			in = strings.TrimSpace(line) == pass
		} else if in {
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := regexp.MustCompile(`\n\s*`).Split(strings.TrimSpace(lines), -1)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s makes\n%s\nwant\n%s", pass, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func vector(name string) *ad.Node { return ad.Input(name, 100) }
