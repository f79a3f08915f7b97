// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package app_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

// words are the arguments that the usage of a command names.
var words = regexp.MustCompile(`\[?(--[a-z]+ )?[A-Z][A-Z]+[A-Za-z0-9.|]*`)

// Every command that takes a file shows the line feed and the escape character of its name as characters: a name cannot write a line of
// its own, nor steer the terminal.
func TestNamesOfFilesStayOnTheirLine(t *testing.T) {
	const name, shown = "a\nError: b\x1b[31m.csv", `a\nError: b\x1b[31m`
	t.Chdir(t.TempDir())
	t.Setenv("EURYALE_DEVICE", "cpu")
	_, all := apptest.Commands()
	called, told := 0, 0
	for _, c := range all {
		slots := words.FindAllString(strings.TrimPrefix(c.Use, c.Name()), -1)
		if c.HasSubCommands() || len(slots) == 0 || c.Name() == "help" || c.Name() == "view" { // which shows the file until it is stopped
			continue
		}
		for _, there := range []bool{true, false} {
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
			if there {
				if err := os.WriteFile(name, []byte(apptest.DecayCSV("")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			args := strings.Fields(c.CommandPath())[1:]
			for _, s := range slots {
				if flag, _, ok := strings.Cut(strings.Trim(s, "["), " "); ok && strings.HasPrefix(flag, "--") {
					args = append(args, flag)
				}
				args = append(args, name)
			}
			if c.Flags().Lookup("out") != nil {
				args = append(args, "--out", "out\nof "+c.Name())
			}
			_, out, stderr := apptest.Do(t, args...)
			called++
			if text := out + stderr; strings.Contains(text, shown) {
				told++
			}
			if text := out + stderr; strings.Contains(text, "\nError: b") || strings.Contains(text, "out\nof") || strings.Contains(text, "\x1b") {
				t.Errorf("%q: %q", args, text)
			}
		}
	}
	if t.Logf("%d of %d calls name the file", told, called); told < called/2 {
		t.Error("too few calls name the file for a test of names")
	}
}

// The same holds for names that a command finds in a folder or in a list.
func TestNamesInListsStayOnTheirLine(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"data/x\nError: y.csv": "tau,g2\n1,2\n", "data/z.csv": apptest.DecayCSV(""), "l.yaml": "work: fit g2\nfiles: data/*.csv\nmodel: single\n"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shown := 0
	for _, args := range [][]string{{"batch", "l.yaml"}, {"batch", "run", "l"}, {"batch", "merge", "l"}, {"batch", "status", "l"}} {
		code, out, stderr := apptest.Do(t, args...)
		if text := out + stderr; strings.Contains(text, "x\nError: y") {
			t.Errorf("%q: %q", args, text)
		} else if strings.Contains(text, `x\nError: y`) {
			shown++
		}
		if code != exit.OK {
			t.Errorf("%q: exit %d: %s", args, code, stderr)
		}
	}
	if shown == 0 {
		t.Error("no command names the file")
	}
}
