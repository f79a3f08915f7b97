// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/setting"
)

// The table of settings in CLI.md is made from their declarations (go test ./app -run Settings -update).
func TestSettingsAreDocumented(t *testing.T) {
	const file, begin, end = "../docs/CLI.md", "<!-- made from the declarations -->\n", "<!-- end -->\n"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	have, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no part between %q and %q", file, begin, end)
	}
	want := "\n" + settingsTable() + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != want {
		t.Errorf("the table of settings in %s differs from the declarations: run go test ./app -run Settings -update", file)
	}
}

// settingsTable lists all settings of commands, those of the same commands together.
func settingsTable() string {
	type row struct {
		setting.Setting
		commands []string
	}
	var rows []*row
	known := map[string]*row{}
	root, all := apptest.Commands()
	for _, c := range all {
		name := strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			s, ok := frame.SettingOf(f)
			if !ok {
				return
			}
			key := s.Name + s.About
			if known[key] == nil {
				known[key] = &row{Setting: s}
				rows = append(rows, known[key])
			}
			known[key].commands = append(known[key].commands, name)
		})
	}
	slices.SortStableFunc(rows, func(a, b *row) int { return strings.Compare(a.commands[0], b.commands[0]) })
	var out strings.Builder
	out.WriteString("| flag | commands | meaning | values | default |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		flag := "--" + r.Name
		if form := r.Form(); form != "" {
			flag += " " + form
		}
		about, values := r.About, r.Values()
		if r.Unit != "" {
			about += ", in " + r.Unit
		}
		if values != "" && r.Choices != nil && strings.Contains(about, r.Choices[0]) {
			values = strings.Join(r.Choices, ", ")
		}
		cells := []string{"`" + flag + "`", strings.Join(r.commands, ", "), about, values, defaultOf(r.Setting)}
		fmt.Fprintf(&out, "| %s |\n", strings.ReplaceAll(strings.Join(cells, " | "), "\n", " "))
	}
	return out.String()
}

// defaultOf says what holds where a flag is not given.
func defaultOf(s setting.Setting) string {
	switch {
	case s.Zero != "" && s.IsZero():
		return s.Zero
	case s.Kind() == "bool" && s.IsZero():
		return "false"
	case s.IsZero() && s.Kind() != "float64" && s.Kind() != "int" && s.Kind() != "int64":
		return ""
	}
	return s.Text()
}
