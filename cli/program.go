// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// euryale is the name of the program that comes with the module. Texts in this package call the program so.
const euryale = "euryale"

// rename makes the help of all commands, and texts that are printed later, call the program by its own name.
func (a *app) rename(root *cobra.Command) {
	if a.program == euryale {
		return
	}
	verbs := []string{"VERB"}
	for _, c := range root.Commands() {
		verbs = append(verbs, c.Name())
	}
	a.calls = regexp.MustCompile(`\beuryale( (?:` + strings.Join(verbs, "|") + `)\b| --)`)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.Short, c.Long = a.renamed(c.Short), a.renamed(c.Long)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// renamed calls the program in a text by its own name.
func (a *app) renamed(text string) string {
	if a.calls == nil {
		return text
	}
	return a.calls.ReplaceAllString(text, a.program+"$1")
}

// print writes text to standard output in which the program has its own name.
func (a *app) print(format string, args ...any) {
	fmt.Fprint(a.stdout, a.renamed(fmt.Sprintf(format, args...)))
}
