// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/models/expr"
)

// packages are the names with which packages begin the texts of their errors.
var packages = strings.Fields(`arrow assembly autodiff basic batch build ccf cells check connectome correlate csv cuda cyrsoxs
	delaunay demo device diag dist dl expr fitfile fits formula frames g2 geometry gorgonia gp hdf5 homodyne idata infer interp
	kernels language lib libconfig lines localweb mask maskfile maskpage morph motion ndimage nemo netcdf nexus nn noise nrrd nvrtc optim
	partition peer pretend queue reduce report rsoxs runs rvspecfit safetensors script smooth speckle spectra stancsv survey take
	template tensor torch transport twotime viz work xpcs zarr`)

// errorText returns the text of an error without the names of packages, which mean nothing to the user. The
// name of a package stands at the beginning of an error's text, and so within the text of the errors that wrap
// it. The name of a file or folder that the user gave is not removed.
func errorText(err error, args []string) string {
	text := err.Error()
	var inner []error
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		inner = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		inner = e.Unwrap()
	}
	for _, e := range inner {
		if e == nil || e.Error() == "" {
			continue
		}
		if at := strings.LastIndex(text, e.Error()); at >= 0 {
			text = text[:at] + errorText(e, args) + text[at+len(e.Error()):]
		}
	}
	name, rest, found := strings.Cut(text, ": ")
	if !found || rest == "" || !slices.Contains(packages, name) || slices.Contains(args, name) && exists(name) {
		return text
	}
	return rest
}

// lowered begins a sentence as the continuation of another.
func lowered(sentence string) string {
	r := []rune(strings.TrimSuffix(sentence, "."))
	if len(r) > 1 && unicode.IsUpper(r[0]) && !unicode.IsUpper(r[1]) {
		r[0] = unicode.ToLower(r[0])
	}
	return string(r)
}

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

var unknownName = regexp.MustCompile(`uses (\S+), which is neither a parameter nor a column: correct the name, or declare it`)

// problemError completes the error of a model that a problem file describes: a name that a formula cannot use
// may be that of a column of labels.
func problemError(p *expr.Problem, err error) error {
	if err == nil || p == nil {
		return err
	}
	found := unknownName.FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	c, ok := p.Data[found[1]]
	if !ok || len(c.Labels) == 0 {
		return err
	}
	said := fmt.Sprintf("uses %s, which is a column of labels such as %q and not of numbers: write its numbers without quotation marks, or use it only as an index", found[1], c.Labels[0])
	before, _, _ := strings.Cut(errorText(err, nil), found[0])
	return errors.New(before + said)
}
