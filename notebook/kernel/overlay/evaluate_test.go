// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// A cell that does not compile declares nothing, and the next one finds what was there before.
func TestCellsThatDoNotCompile(t *testing.T) {
	ir := newInterpreter()
	eval := func(code string) (any, error) {
		values, _, err := evaluate(ir, OutErr{os.Stdout, os.Stderr}, code, func(string, interface{}) error { return nil })
		if err != nil || len(values) == 0 {
			return nil, err
		}
		return values[0], nil
	}
	for _, c := range []struct{ code, want, failure string }{
		{code: "import \"fmt\"\nx, k, b := \"hello\", 1, true\ntype T struct{ n int }\nfunc f() string { return x }\nt := T{5}"},
		{code: "x, k, b := 7, \"a\", 2\nfmt := 3\nfunc f() int { return x }\nnew1 := 3\ny := x + z", failure: "undefined identifier: z"},
		{code: "fmt.Sprint(x, k, b, T{3 + k}, f(), t.n)", want: "hello1 true {4}hello5"},
		{code: "new1", failure: "undefined identifier"},
		{code: "x := 8\nx", want: "8"},
		{code: "_line := 3\n_caught := 4\n_line + _caught", want: "7"},
		{code: "go func() {}()\n\npanic(\"a\")", failure: "line 3 of the cell: a"},
	} {
		got, err := eval(c.code)
		switch {
		case c.failure != "" && (err == nil || !strings.Contains(err.Error(), c.failure)):
			t.Errorf("%s: %v, want %s", c.code, err, c.failure)
		case c.failure == "" && err != nil:
			t.Errorf("%s: %v", c.code, err)
		case c.want != "" && fmt.Sprint(got) != c.want:
			t.Errorf("%s: %v, want %s", c.code, got, c.want)
		}
	}
}

// Runs in several goroutines of a cell show their progress on one screen.
func TestScreen(t *testing.T) {
	var updates sync.Map
	s := &screen{publish: func(kind string, _ interface{}) error { updates.Store(kind, true); return nil }, known: map[string]bool{}}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				s.Show(s.ID(), "a", "")
				s.Show("b", "b", "<b>b</b>")
			}
		})
	}
	all.Wait()
	if _, updated := updates.Load("update_display_data"); !updated {
		t.Error("nothing was shown in place of another")
	}
}
