// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// Euryale is the name of the program that comes with the module. Texts in this package call the program so.
const Euryale = "euryale"

// rename makes the help of all commands, and texts that are printed later, call the program by its own name.
func (a *App) rename(root *cobra.Command) {
	if a.Program == Euryale {
		return
	}
	verbs := []string{"VERB"}
	for _, c := range root.Commands() {
		verbs = append(verbs, c.Name())
	}
	a.calls = regexp.MustCompile(`\beuryale( (?:` + strings.Join(verbs, "|") + `)\b| --)`)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.Short, c.Long = a.Renamed(c.Short), a.Renamed(c.Long)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// Renamed calls the program in a text by its own name.
func (a *App) Renamed(text string) string {
	if a.calls == nil {
		return text
	}
	return a.calls.ReplaceAllString(text, a.Program+"$1")
}

// Print writes text to standard output in which the program has its own name.
func (a *App) Print(format string, args ...any) {
	fmt.Fprint(a.Stdout, a.Renamed(fmt.Sprintf(format, args...)))
}
