// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/cli"
)

// header stands before the functions.
const header = `# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0

# Made from the commands of the program by go run ./internal/python commands.

"""A function for each command of the program, with its flags as keywords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from .program import Common, Data, Text, call
from .results import Fit, Posterior, Result, Run

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
`

// commands returns the text of the module with a function for each command.
func commands() (string, error) {
	var names []string
	var body strings.Builder
	repeated := map[string]bool{}
	root := cli.Command()
	for _, c := range leaves(root) {
		f, err := functionOf(strings.TrimPrefix(c.CommandPath(), root.Name()+" "), c)
		if err != nil {
			return "", err
		}
		names = append(names, f.name)
		c.NonInheritedFlags().VisitAll(func(flag *pflag.Flag) {
			if kind := flag.Value.Type(); kind == "stringArray" || kind == "file" {
				repeated[flag.Name] = true
			}
		})
		body.WriteString("\n\n" + f.text())
	}
	return header + quoted(names) + "]\n\nREPEATED = {\n" + quoted(slices.Sorted(maps.Keys(repeated))) + "}\n\"\"\"Flags of which each value stands alone; those of others are joined by commas.\"\"\"\n" + body.String(), nil
}

// quoted lists names as lines of a list.
func quoted(names []string) string {
	lines := wrap("\""+strings.Join(names, "\", \"")+"\",", 96)
	return "    " + strings.Join(lines, "\n    ") + "\n"
}

// leaves lists the commands that do something and are not the parser's own.
func leaves(c *cobra.Command) (all []*cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.Hidden || sub.Deprecated != "" || sub.Name() == "completion" || sub.Name() == "help" {
			continue
		}
		if !sub.HasSubCommands() || strings.Contains(sub.Use, " ") {
			all = append(all, sub)
		}
		all = append(all, leaves(sub)...)
	}
	return all
}

// function is a function of Python.
type function struct {
	command, name, short, returns string
	places, keywords              []parameter
}

// parameter is an argument of a function.
type parameter struct {
	name, flag, kind, about, otherwise string
	several                            bool // a place that takes one or a sequence
}

// optional says whether a place may be left out.
func (p parameter) optional() bool { return p.otherwise != "" }

// notName is what a name of Python cannot have.
var notName = regexp.MustCompile(`[^a-z0-9_]+`)

// identifier returns a name as Python writes it.
func identifier(text string) string {
	name := notName.ReplaceAllString(strings.ToLower(text), "_")
	if slices.Contains([]string{"from", "lambda", "global", "is", "in", "not", "class", "with", "as", "if", "for", "import"}, name) {
		name += "_"
	}
	return name
}

// functionOf describes a command.
func functionOf(command string, c *cobra.Command) (f function, err error) {
	f = function{command: command, name: identifier(command), short: c.Short, returns: "Result"}
	switch verb, _, _ := strings.Cut(command, " "); verb {
	case "fit":
		f.returns = "Fit"
	case "sample":
		f.returns = "Posterior"
	case "invert", "train":
		f.returns = "Run"
	}
	if command == "sim assembly" {
		f.returns = "Run"
	}
	f.places = placesOf(c.Use)
	c.NonInheritedFlags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden && flag.Name != "help" && flag.Deprecated == "" {
			f.keywords = append(f.keywords, keyword(flag))
		}
	})
	for i, p := range f.places {
		if slices.ContainsFunc(f.keywords, func(k parameter) bool { return k.name == p.name }) {
			f.places[i].name += "_file"
		}
	}
	known := map[string]bool{"out": true, "seed": true, "threads": true, "device": true, "precision": true}
	for _, p := range append(slices.Clone(f.places), f.keywords...) {
		if known[p.name] {
			return f, fmt.Errorf("%s: two parameters are called %q", command, p.name)
		}
		known[p.name] = true
	}
	return f, nil
}

// word is an argument in the usage line of a command: FILE, FILE..., [OUT.svg|png], RUN|FILE.
var word = regexp.MustCompile(`^(\[?)([A-Z]+)[^\]]*?(\.\.\.)?(\]?)$`)

// placesOf reads the arguments of a usage line, such as "g2 FILE... [flags]".
func placesOf(use string) (places []parameter) {
	words := strings.Fields(use)[1:]
	for i := 0; i < len(words); i++ {
		if strings.HasPrefix(strings.TrimPrefix(words[i], "["), "--") { // a flag and its value
			i++
			continue
		}
		m := word.FindStringSubmatch(words[i])
		if m == nil {
			continue
		}
		p := parameter{name: identifier(m[2]), kind: "Data", several: m[3] != ""}
		if p.name == "out" || p.name == "outdir" {
			p.name, p.kind = "output", "Text"
		}
		if m[1] != "" {
			p.otherwise = "None"
		}
		if n := len(places); n > 0 && places[n-1].name == p.name {
			places[n-1].several = true
			continue
		}
		places = append(places, p)
	}
	return places
}

// kinds are the types of flags that are not texts.
var kinds = map[string]string{
	"bool": "bool", "int": "int", "int64": "int", "uint64": "int", "float64": "float",
	"stringArray": "Text | Sequence[Text]", "stringSlice": "Text | Sequence[Text]", "string": "Text",
	"float64Slice": "float | Sequence[float]", "intSlice": "int | Sequence[int]", "int64Slice": "int | Sequence[int]",
}

// taken are flags whose value may be data of Python instead of the name of a file.
var taken = []string{"data", "problem", "init"}

// forms are the types of settings that are repeated with a name each.
var forms = map[string]string{
	"name=value":                 "Mapping[str, float]",
	"name=lo:hi":                 "Mapping[str, Sequence[float]]",
	"name=distribution(numbers)": "Mapping[str, str]",
}

// keyword describes a flag.
func keyword(f *pflag.Flag) parameter {
	_, about := pflag.UnquoteUsage(f)
	p := parameter{name: identifier(f.Name), flag: f.Name, kind: kinds[f.Value.Type()], about: about, otherwise: "None"}
	if s, ok := frame.SettingOf(f); ok {
		switch {
		case forms[s.Form()] != "":
			p.kind = forms[s.Form()]
			p.about = strings.Replace(p.about, ", as "+s.Form()+"; repeatable", "", 1)
		case s.Choices != nil:
			p.kind = "Literal[\"" + strings.Join(s.Choices, "\", \"") + "\"]"
		}
	}
	switch {
	case p.kind == "bool":
		p.otherwise = "False"
		if f.DefValue == "true" {
			p.otherwise = "True"
		}
	case p.kind == "":
		p.kind = "Text | float"
	case slices.Contains(taken, f.Name):
		p.kind = strings.ReplaceAll(p.kind, "Text", "Data")
	}
	if f.DefValue != "" && !strings.Contains(p.about, "default") && !slices.Contains([]string{"0", "[]", "0s", "false"}, f.DefValue) {
		p.about += " (default " + f.DefValue + ")"
	}
	return p
}

// text writes a function.
func (f function) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "def %s(\n", f.name)
	for _, p := range f.places {
		kind, otherwise := p.kind, ""
		if p.several {
			kind += " | Sequence[" + p.kind + "]"
		}
		if p.optional() {
			kind, otherwise = kind+" | None", " = None"
		}
		fmt.Fprintf(&b, "    %s: %s%s,\n", p.name, kind, otherwise)
	}
	if len(f.keywords) > 0 {
		b.WriteString("    *,\n")
	}
	for _, p := range f.keywords {
		kind := p.kind
		if kind != "bool" {
			kind += " | None"
		}
		fmt.Fprintf(&b, "    %s: %s = %s,\n", p.name, kind, p.otherwise)
	}
	fmt.Fprintf(&b, "    **common: Unpack[Common],\n) -> %s:\n    \"\"\"%s.\n", f.returns, strings.TrimSuffix(f.short, "."))
	if len(f.keywords) > 0 {
		b.WriteString("\n    Parameters\n    ----------\n")
	}
	for _, p := range f.keywords {
		fmt.Fprintf(&b, "    %s : %s\n", p.name, p.kind)
		for _, line := range wrap(sentence(p.about), 96) {
			b.WriteString("        " + line + "\n")
		}
	}
	fmt.Fprintf(&b, "\n    ``euryale.help(%q)`` prints the rest; the keywords of all commands are those of `Common`.\n    \"\"\"\n", f.command)
	fmt.Fprintf(&b, "    return call(%s, %q, [%s], locals())\n", f.returns, f.command, list(f.places))
	return b.String()
}

// list quotes and joins the names of parameters.
func list(all []parameter) string {
	var names []string
	for _, p := range all {
		names = append(names, fmt.Sprintf("%q", p.name))
	}
	return strings.Join(names, ", ")
}

// sentence begins with a capital letter and ends in a point, with flags called as Python calls them.
func sentence(text string) string {
	text = flagName.ReplaceAllStringFunc(text, func(f string) string { return "`" + identifier(f[2:]) + "`" })
	text = strings.ReplaceAll(text, `\`, `\\`)
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// flagName is a flag in the text of another.
var flagName = regexp.MustCompile(`--[a-z][a-z0-9-]*[a-z0-9]`)

// wrap breaks a text into lines.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, w := range strings.Fields(text) {
		if line != "" && len(line)+1+len(w) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + w)
	}
	return append(lines, line)
}
