// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"go/ast"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/internal/docs"
)

// Command lines in documents have subcommands and flags that exist, whether they begin
// with the command's name or with a verb.
func TestCommandLinesOfDocuments(t *testing.T) {
	root, _ := apptest.Commands()
	pages, err := docs.Pages("..")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, p := range pages {
		lines := p.Commands("euryale")
		for _, s := range p.Spans {
			verb, rest, _ := strings.Cut(s.Text, " ")
			isVerb := slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == verb })
			switch {
			case isVerb && rest != "" && strings.HasPrefix(p.Path, "docs/"):
				lines = append(lines, s)
			case strings.HasPrefix(s.Text, "--") && !docs.OfCluster(p) && !docs.HasFlag(root, s.Text):
				t.Errorf("%s:%d: no command has %s", p.Path, s.Line, s.Text)
			}
		}
		for _, l := range lines {
			found++
			if f := docs.CommandFault(root, l.Text); f != "" {
				t.Errorf("%s:%d: %s: %s", p.Path, l.Line, l.Text, f)
			}
		}
	}
	if found < 50 {
		t.Errorf("%d command lines in documents: they are not found any more", found)
	}
}

var called = regexp.MustCompile("(?:^|\\n *|`|Try: )euryale ([^\\n`]*)")

// So have those of help texts, hints and messages.
func TestCommandLinesOfTheCode(t *testing.T) {
	root, all := apptest.Commands()
	check := func(where, text string) {
		for _, m := range called.FindAllStringSubmatch(text, -1) {
			line, _, _ := strings.Cut(m[1], "  ")
			line, _, _ = strings.Cut(line, " #")
			if f := docs.CommandFault(root, line); f != "" {
				t.Errorf("%s: euryale %s: %s", where, line, f)
			}
		}
	}
	for _, c := range all {
		check(c.CommandPath(), c.Long)
		check(c.CommandPath(), c.Example)
	}
	code, err := docs.Parse(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range code.Files {
		ast.Inspect(f.Ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && !f.Test() {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					check(code.Fset.Position(lit.Pos()).String(), text)
				}
			}
			return true
		})
	}
}

// Every command stands in docs/CLI.md.
func TestEveryCommandIsDocumented(t *testing.T) {
	pages, err := docs.Pages(apptest.Root("docs"))
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, p := range pages {
		for _, s := range p.Spans {
			words := append(strings.Fields(s.Text), "")
			for _, thing := range strings.Split(words[1], "|") {
				told[words[0]] = true
				told[words[0]+" "+thing] = p.Path == "CLI.md" || told[words[0]+" "+thing]
			}
		}
	}
	_, all := apptest.Commands()
	for _, c := range all {
		path := strings.TrimPrefix(c.CommandPath(), "euryale ")
		verb, _, _ := strings.Cut(path, " ")
		if !c.HasSubCommands() && !c.Hidden && verb != "completion" && verb != "help" && !told[path] {
			t.Errorf("docs/CLI.md does not have %s", path)
		}
	}
}

var (
	inUsage = regexp.MustCompile(`\bdefault (-?[0-9][0-9.e+-]*)`)
	inText  = regexp.MustCompile("`--([a-z-]+)` \\(([0-9][0-9.]*)( [a-z%]+)?[),]|`--([a-z-]+)`, ([0-9][0-9.]*)( [a-z]+)? by default")
)

// Defaults of flags that documents and the usage of flags state are those of the flags.
func TestDefaultsOfFlags(t *testing.T) {
	_, all := apptest.Commands()
	values := map[string][]string{}
	for _, c := range all {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			values[f.Name] = append(values[f.Name], f.DefValue)
			if m := inUsage.FindStringSubmatch(f.Usage); m != nil && f.DefValue != m[1] && f.DefValue != "0" && f.DefValue != "0s" && f.DefValue != "" {
				t.Errorf("%s --%s: the usage says %q, the default is %s", c.CommandPath(), f.Name, f.Usage, f.DefValue)
			}
		})
	}
	text, err := os.ReadFile(apptest.Root("docs", "CLI.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range inText.FindAllStringSubmatch(strings.Join(strings.Fields(string(text)), " "), -1) {
		found++
		name, want := m[1]+m[4], m[2]+strings.TrimSpace(m[3])+m[5]+strings.TrimSpace(m[6])
		if !slices.Contains(values[name], want) {
			t.Errorf("docs/CLI.md: --%s %s: the defaults are %v", name, want, values[name])
		}
	}
	if found < 3 {
		t.Errorf("%d defaults of flags in docs/CLI.md: they are not found any more", found)
	}
}
