// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/batch/work"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/internal/tier"
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

// row is a flag of some commands.
type row struct {
	flag, about, values string
	commands, defaults  []string // the same number
}

// settingsTable lists all flags of commands, those of the same commands together.
func settingsTable() string {
	var rows []*row
	known := map[string]*row{}
	root, all := apptest.Commands()
	for _, c := range all {
		name := strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
		if c == root || c.Name() == "help" || strings.HasPrefix(name, "completion") {
			continue
		}
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || f.Hidden {
				return
			}
			r, otherwise := rowOf(f)
			key := r.flag + r.about + r.values
			if known[key] == nil {
				known[key] = &r
				rows = append(rows, &r)
			}
			known[key].commands, known[key].defaults = append(known[key].commands, name), append(known[key].defaults, otherwise)
		})
	}
	slices.SortStableFunc(rows, func(a, b *row) int { return strings.Compare(a.commands[0], b.commands[0]) })
	var out strings.Builder
	out.WriteString("| flag | commands | meaning | values | default |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		cells := []string{"`" + r.flag + "`", strings.Join(r.commands, ", "), r.about, r.values, r.otherwise()}
		text := strings.ReplaceAll(strings.ReplaceAll(strings.Join(cells, "\x00"), "|", "\\|"), "\n", " ")
		fmt.Fprintf(&out, "| %s |\n", strings.ReplaceAll(text, "\x00", " | "))
	}
	return out.String()
}

// rowOf describes a flag, and what holds where it is not given.
func rowOf(f *pflag.Flag) (r row, otherwise string) {
	s, declared := frame.SettingOf(f)
	if !declared {
		return plainRow(f)
	}
	r = row{flag: "--" + s.Name, about: s.About, values: s.Values()}
	if form := s.Form(); form != "" {
		r.flag += " " + form
	}
	if s.Unit != "" {
		r.about += ", in " + s.Unit
	}
	if r.values != "" && s.Choices != nil && strings.Contains(r.about, s.Choices[0]) {
		r.values = strings.Join(s.Choices, ", ")
	}
	return r, defaultOf(s)
}

// otherwisely is what the text of a flag says of its default.
var otherwisely = regexp.MustCompile(`;? ?\(?(the default is|default:?) ([^()]*)\)?`)

// plainRow describes a flag that only one command, or commands of one kind, have.
func plainRow(f *pflag.Flag) (r row, otherwise string) {
	kind, about := pflag.UnquoteUsage(f)
	otherwise = f.DefValue
	if m := otherwisely.FindStringSubmatch(about); m != nil {
		about, otherwise = strings.Replace(about, m[0], "", 1), strings.TrimSpace(m[2])
	} else if slices.Contains([]string{"0", "[]", "0s"}, otherwise) {
		otherwise = ""
	}
	otherwise = strings.Trim(otherwise, "[]")
	if named, ok := map[string]string{"string": "TEXT", "stringArray": "TEXT", "strings": "TEXT,...", "int": "N", "float": "NUMBER", "duration": "TIME"}[kind]; ok {
		kind = named
	}
	if kind != "" {
		kind = " " + kind
	}
	return row{flag: "--" + f.Name + kind, about: about}, otherwise
}

// otherwise lists the default of most commands, and those of others with their names.
func (r *row) otherwise() string {
	with := map[string][]string{}
	for i, d := range r.defaults {
		with[d] = append(with[d], r.commands[i])
	}
	all := slices.SortedFunc(maps.Keys(with), func(a, b string) int {
		return cmp.Or(len(with[b])-len(with[a]), strings.Compare(a, b))
	})
	text := all[0]
	for _, d := range all[1:] {
		text += fmt.Sprintf("; %s: %s", strings.Join(with[d], ", "), d)
	}
	return text
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

// doors are the kinds of work that do what a command does, with the rest of a command line and of a configuration that mention no file that is there.
var doors = map[string]struct{ line, list string }{
	"fit g2":      {"fit g2 none", "files: none"},
	"sample g2":   {"sample g2 none --bin 1", "files: none"},
	"fit spectra": {"fit spectra none --library none", "files: none"},
	"sample stan": {"sample stan none.stan", "program: none\nfiles: none"},
	"sim rsoxs":   {"sim rsoxs none", "files: none"},
	"correlate":   {"correlate none --qmap none --correlation both", "files: none\nqmap: none"},
	"sbc":         {"sbc --problem none", "problem: none"},
	"chains":      {"sample expr --problem none", "problem: none"},
}

// elsewhere are settings of commands that lists have not, or have with another default, with the reason.
var elsewhere = map[string]string{
	"checkpoint": "of run folders", "no-report": "of run folders", "retries": "a list tries items again",
	"chains draws": "the number after which they stop", "chains chains": "R-hat compares two", "precision": "a flag of all commands",
}

// wrongs are values as flags and configurations write them, some of which each setting refuses.
func wrongs(s setting.Setting) [][2]string {
	switch {
	case s.Name == "prior":
		return [][2]string{{"tau=foo(1)", `{tau: "foo(1)"}`}, {"tau=normal(1)", `{tau: "normal(1)"}`}, {"tau=", `{tau: ""}`}}
	case s.Form() == "name=lo:hi":
		return [][2]string{{"tau=1:0", "{tau: [1, 0]}"}, {"tau=nan:1", "{tau: [.nan, 1]}"}, {"taw=0:1", "{taw: [0, 1]}"}, {"tau=0:", "{tau: [0, null]}"}, {"tau=1", "{tau: [1]}"}, {"tau=-1:1", "{tau: [-1, 1]}"}}
	case s.Form() == "name=value":
		return [][2]string{{"tau=nan", "{tau: .nan}"}, {"tau=inf", "{tau: .inf}"}, {"tau=x", "{tau: x}"}, {"tau=", "{tau: }"}, {"=1", `{"": 1}`}}
	case s.Kind() == "string":
		return [][2]string{{"", `""`}, {"nonsense", "nonsense"}}
	case s.Kind() == "bool":
		return [][2]string{{"maybe", "maybe"}}
	}
	all := [][2]string{{"x", "x"}, {"", `""`}, {"nan", ".nan"}, {"inf", ".inf"}, {"1.5", "1.5"}}
	for _, n := range []string{"0", "-1", "1", "3", "64", "101", "65537", "3000000000"} {
		all = append(all, [2]string{n, n})
	}
	return all
}

// A setting has the same name, meaning and default as a flag and as a key of a work list, and the same values are refused for the same reasons.
func TestSettingsMeanTheSameInLists(t *testing.T) {
	tier.SlowOnly(t)
	t.Chdir(t.TempDir())
	_, all := apptest.Commands()
	for kind, door := range doors {
		c := all[slices.IndexFunc(all, func(c *cobra.Command) bool {
			return strings.HasPrefix(door.line, strings.TrimPrefix(c.CommandPath(), "euryale ")+" ") && !c.HasSubCommands()
		})]
		settings, err := work.Settings(kind)
		if err != nil || len(settings) == 0 {
			t.Fatalf("%s: %v", kind, err)
		}
		keys := map[string]setting.Setting{}
		for _, s := range settings {
			keys[s.Name] = s
		}
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			s, declared := frame.SettingOf(f)
			if !declared || elsewhere[s.Name] != "" {
				return
			}
			own, has := keys[s.Name]
			delete(keys, s.Name)
			if !has {
				t.Errorf("lists of %s have no %s", kind, s.Key())
				return
			}
			if elsewhere[kind+" "+s.Name] != "" {
				return
			}
			if own.About != s.About || own.Values() != s.Values() || own.Text() != f.DefValue {
				t.Errorf("%s: --%s is %q, %s, default %q; the key is %q, %s, default %q", kind, s.Name, s.About, s.Values(), f.DefValue, own.About, own.Values(), own.Text())
			}
			for _, value := range wrongs(s) {
				sameRefusal(t, kind, door.line, door.list, s, value)
			}
		})
		for name := range keys {
			if kind != "chains" && elsewhere[name] == "" {
				t.Errorf("%s has no flag --%s", c.CommandPath(), name)
			}
		}
	}
}

// sameRefusal gives a value as a flag and as a key.
func sameRefusal(t *testing.T, kind, line, list string, s setting.Setting, value [2]string) {
	t.Helper()
	code, _, stderr := apptest.Do(t, append(strings.Fields(line), "--"+s.Name+"="+value[0])...)
	if err := os.WriteFile("list.yaml", []byte("work: "+kind+"\n"+s.Key()+": "+value[1]+"\n"+list+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	listed, _, told := apptest.Do(t, "batch", "list.yaml")
	if (code == exit.WrongUsage) != (listed == exit.Config) || code == 0 || listed == 0 {
		t.Errorf("%s: --%s=%s ends with %d, the key with %d: %s%s", kind, s.Name, value[0], code, listed, stderr, told)
		return
	}
	if code != exit.WrongUsage {
		return
	}
	if strings.Contains(told, "list.yaml: "+s.Key()+":") {
		t.Errorf("%s: %s: the line is missing: %s", kind, s.Key(), told)
	}
	if why := refusal(s, value[0]); why != "" && !(strings.Contains(stderr, why) && strings.Contains(told, why)) {
		t.Errorf("%s: %s: want %q\n%s%s", kind, s.Name, why, stderr, told)
	}
}

// refusal is what a declaration says of a value out of bounds or not among the choices, "" for others.
func refusal(s setting.Setting, value string) string {
	if s.Form() != "" || s.Set(value) != nil {
		return ""
	}
	return s.Given()
}
