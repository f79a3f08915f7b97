// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// ownWords replaces the texts with which the parser of the command line refuses arguments and flags. A command that
// only holds others refuses what is none of them.
func ownWords(c *cobra.Command) {
	c.SetFlagErrorFunc(flagError)
	spelled(c)
	if c.HasParent() && c.HasSubCommands() && c.RunE == nil && c.Run == nil {
		var names []string
		for _, sub := range c.Commands() {
			names = append(names, sub.Name())
		}
		c.Args, c.RunE = nil, func(c *cobra.Command, args []string) error {
			return refuseOther(c.Name(), args, names)
		}
		annotated(c, "holder", "yes")
	}
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if err == nil {
				return nil
			}
			return &exit.Error{Code: exit.WrongUsage, Err: argumentsError(c, args), Hint: c.CommandPath() + " --help"}
		}
	}
	for _, sub := range c.Commands() {
		ownWords(sub)
	}
}

// flagError says what is wrong with a flag.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		err = fmt.Errorf("there is no flag -%s: long names begin with --, and a negative number is written after =, as in --flag=-1", unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		var all []string
		c.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
		err = fmt.Errorf("%s has no flag --%s", c.CommandPath(), unknown.GetSpecifiedName())
		if near := spelling.Meant(unknown.GetSpecifiedName(), all); near != "" {
			err = fmt.Errorf("%w: did you mean --%s?", err, near)
		}
	case errors.As(err, &empty):
		err = fmt.Errorf("--%s needs a value", empty.GetFlag().Name)
	case errors.As(err, &invalid):
		f, value := invalid.GetFlag(), invalid.GetValue()
		if wrong := (*setting.Error)(nil); errors.As(err, &wrong) {
			err = fmt.Errorf("--%s %s", f.Name, wrong.Text)
		} else if want := wantedValue(f.Value.Type(), value); want != "" {
			err = fmt.Errorf("--%s %s: want %s", f.Name, value, want)
		} else {
			err = fmt.Errorf("--%s %s: %w", f.Name, value, invalid.Unwrap())
		}
	}
	return &exit.Error{Code: exit.WrongUsage, Err: err, Hint: c.CommandPath() + " --help"}
}

// Ignored returns an error if one of some flags was given that does nothing where needs, such as "--watch", was not given.
func Ignored(c *cobra.Command, needs string, flags ...string) error {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return exit.Usage("--%s does nothing without %s: leave it out, or add %s", name, needs, needs)
		}
	}
	return nil
}

// wantedValue describes the values of a flag of one of the parser's types, and how to write one that was meant.
func wantedValue(kind, value string) string {
	switch kind {
	case "int", "int64", "uint", "uint64":
		x, err := strconv.ParseFloat(value, 64)
		switch {
		case err == nil && x < 0 && kind[0] == 'u':
			return "a whole number from 0"
		case err == nil && x == math.Trunc(x) && math.Abs(x) < 1e15:
			return fmt.Sprintf("a whole number, written %.0f", x)
		case err == nil && math.Abs(x) >= 1e15:
			return "a smaller whole number"
		}
		return "a whole number"
	case "float64":
		if d := foreign.Decimal(value); d != "" {
			return d + ", as the decimal sign is a point"
		}
		return "a number"
	case "bool":
		return "true or false, or leave the value out"
	case "duration":
		return "a time, such as 10s or 2h"
	}
	return ""
}

// parserError says which command was probably meant, if err is the parser's error that there is none of a name, and which
// flags are missing, if err is that.
func parserError(root, called *cobra.Command, err error) error {
	var word string
	if err == nil {
		return nil
	}
	if list, ok := strings.CutPrefix(err.Error(), "required flag(s) "); ok {
		var flags []string
		for _, name := range strings.Split(strings.TrimSuffix(list, " not set"), ", ") {
			flags = append(flags, "--"+strings.Trim(name, `"`))
		}
		path := strings.TrimPrefix(called.CommandPath(), root.Name()+" ")
		return &exit.Error{Code: exit.WrongUsage, Err: fmt.Errorf("%s needs %s", path, strings.Join(flags, " and ")), Hint: called.CommandPath() + " --help"}
	}
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q", &word); n == 0 {
		return err
	}
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	hint := root.Name() + " --help"
	if near := spelling.Meant(word, names); near != "" {
		hint = root.Name() + " " + near
	} else if word == "version" {
		hint = root.Name() + " --version"
	}
	return &exit.Error{Code: exit.WrongUsage, Err: fmt.Errorf("there is no command %s", foreign.Typed(word)), Hint: hint}
}

// helpCommand makes the command help, which refuses commands that do not exist.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [VERB [THING]]", Short: "Print the help of a command", Long: "Print the help of a command, as COMMAND --help does.\n",
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
			if at, rest, err := c.Root().Find(args); err == nil && len(rest) == 0 {
				for _, sub := range at.Commands() {
					out = append(out, sub.Name())
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			at, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return &exit.Error{Code: exit.WrongUsage, Err: fmt.Errorf("there is no command %s", strings.Join(args, " ")), Hint: c.Root().Name() + " --help"}
			}
			at.InitDefaultHelpFlag()
			at.InitDefaultVersionFlag()
			return at.Help()
		},
	}
}

// isProgram reports whether a file is a program of Stan by its name.
func isProgram(file string) bool { return strings.HasSuffix(file, ".stan") }

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
			text := inWords(word)
			if len(args) > 0 && len(required) > 1 && strings.TrimSuffix(word, "...") == strings.TrimSuffix(required[0], "...") {
				text = "another " + strings.ReplaceAll(strings.TrimPrefix(text, "a "), " or a ", " or ")
			}
			missing = append(missing, text)
		}
		return fmt.Errorf("%s needs %s", path, strings.Join(missing, ", and "))
	}
	most := len(required) + optional
	extra := args[min(most, len(args)-1)]
	switch {
	case c.Flags().Lookup("problem") != nil && most == 0:
		return fmt.Errorf("%s takes no file %s: did you mean --problem %s?", path, extra, extra)
	case most == 1 && c.Flags().Lookup("data") != nil && !c.Flags().Changed("data") && !(isProgram(args[0]) && isProgram(extra)): // a program of Stan and its data
		file, data := args[0], extra
		if isProgram(data) {
			file, data = data, file
		}
		return fmt.Errorf("%s takes one file, %s: did you mean --data %s?", path, file, data)
	case most == 0:
		return fmt.Errorf("%s takes no arguments besides its flags: leave out %s", path, extra)
	}
	limit := ""
	if optional > 0 {
		limit = "at most "
	}
	return fmt.Errorf("%s takes %s%s: leave out %s", path, limit, errtext.Count(most, "argument"), extra)
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
