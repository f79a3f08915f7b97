// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// ownWords replaces the texts with which the parser of the command line refuses arguments.
func ownWords(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if err == nil {
				return nil
			}
			return &exitError{code: exitUsage, err: argumentsError(c, args), hint: c.CommandPath() + " --help"}
		}
	}
	for _, sub := range c.Commands() {
		ownWords(sub)
	}
}

// argumentsError says which argument of a command is missing, or which is one too many.
func argumentsError(c *cobra.Command, args []string) error {
	path := strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
	required, optional := arguments(c)
	if len(args) < len(required) {
		if c.Name() == "plot" && len(args) > 0 {
			path, required, args = path+" "+args[0], required[1:], args[1:]
		}
		var missing []string
		for _, word := range required[len(args):] {
			missing = append(missing, inWords(word))
		}
		return fmt.Errorf("%s needs %s", path, strings.Join(missing, ", and "))
	}
	most := len(required) + optional
	extra := args[min(most, len(args)-1)]
	switch {
	case c.Flags().Lookup("problem") != nil && most == 0:
		return fmt.Errorf("%s takes no file %s: did you mean --problem %s?", path, extra, extra)
	case most == 0:
		return fmt.Errorf("%s takes no arguments besides its flags: leave out %s", path, extra)
	}
	limit := ""
	if optional > 0 {
		limit = "at most "
	}
	return fmt.Errorf("%s takes %s%s: leave out %s", path, limit, counted(most, "argument"), extra)
}

// arguments returns the required arguments of a command, and how many more it takes, from its line of usage.
func arguments(c *cobra.Command) (required []string, optional int) {
	for _, word := range strings.Fields(c.Use)[1:] {
		switch {
		case strings.HasPrefix(word, "-"), strings.HasPrefix(word, "[-"):
			return required, optional
		case strings.HasPrefix(word, "["):
			optional++
		default:
			required = append(required, word)
		}
	}
	return required, optional
}

// inWords describes an argument of a line of usage, such as RUN|FILE...
func inWords(word string) string {
	known := map[string]string{"RUN": "a run", "FILE": "a file", "DIR": "a folder", "FOLDER": "a folder", "OUTDIR": "a folder for the output", "KIND": "a kind of picture", "IMAGE": "an image", "FRAMES": "files of frames",
		"CATALOGUE": "a catalogue", "LIBRARY": "a library", "N": "a number", "OUT": "a name for the output"}
	var parts []string
	for _, p := range strings.Split(strings.TrimSuffix(word, "..."), "|") {
		stem, ext, _ := strings.Cut(p, ".")
		text := known[stem]
		if text == "" {
			text = "a file"
		}
		if ext != "" && ext != "..." {
			text += " (." + ext + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " or ")
}
