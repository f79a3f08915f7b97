// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// CommandFault says what is wrong with the words after the name of a command, "" for nothing.
func CommandFault(root *cobra.Command, line string) string {
	c, arguments := root, false
	for _, w := range strings.Fields(line) {
		w = strings.Trim(w, "'\",.:;()[]")
		if name, isFlag := strings.CutPrefix(w, "--"); isFlag {
			name, _, _ = strings.Cut(name, "=")
			if name != "help" && name != "" && c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil {
				return c.CommandPath() + " has no flag --" + name
			}
			arguments = true
			continue
		}
		if arguments || !lowerCase.MatchString(w) {
			arguments = true
			continue
		}
		for _, one := range strings.Split(w, "|") {
			sub := slices.IndexFunc(c.Commands(), func(s *cobra.Command) bool { return s.Name() == one })
			known := c.Name() == "help" || c.Runnable() && strings.Contains(c.Long, one)
			if sub < 0 && c.HasSubCommands() && !known {
				return c.CommandPath() + " has no " + one
			}
			if sub < 0 {
				arguments = true
			} else if one == w {
				c = c.Commands()[sub]
			}
		}
	}
	return ""
}

var lowerCase = regexp.MustCompile(`^[a-z0-9|]+$`)

// HasFlag reports whether the command, or one below it, has the flag that a span of text begins with.
func HasFlag(c *cobra.Command, span string) bool {
	name := strings.FieldsFunc(span, func(r rune) bool { return r == ' ' || r == '=' })[0][2:]
	return name == "help" || c.Flags().Lookup(name) != nil || c.PersistentFlags().Lookup(name) != nil ||
		slices.ContainsFunc(c.Commands(), func(sub *cobra.Command) bool { return HasFlag(sub, span) })
}

// OfCluster reports whether flags that a page names without a command are those of euryale-cluster.
func OfCluster(p Page) bool { return strings.HasSuffix(p.Path, "cluster-queue.md") }
