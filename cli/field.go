// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/runs"
)

// field is what a field of science, or the work with draws or lists, brings to the command line. To add one, write its
// package and add it to allFields.
type field struct {
	commands []command
	// Result says what a run folder has in place of draws, or returns nil if it is of no command of the field that makes none.
	result func(dir runs.Folder, command string) *runResult
	// Explained reports whether info explains a file, and explain does it.
	explained func(name string) bool
	explain   func(a *app, name string) error
	// Converted reports whether convert takes a file that holds no draws, and convertFile writes it in another format.
	converted   func(name string) bool
	convertFile func(a *app, in, out, to string, c conversion) error
}

// command is a command below a verb, or a verb of its own.
type command struct {
	verb  string // fit, sample and so on; "" for a verb of its own
	make  func(a *app) *cobra.Command
	takes takes
}

// takes says which of the global flags a command accepts.
type takes int

const (
	takesOut       takes = 1 << iota // --out names a folder for results
	takesResume                      // --resume continues a run
	takesDevice                      // --device chooses where graphs are computed
	onProcessor                      // the work takes long and is done by the processor, whatever device is chosen
	takesPrecision                   // --precision 32 is possible
)

// of marks a command as one that takes these flags.
func (t takes) of(c *cobra.Command) *cobra.Command {
	for _, m := range []struct {
		takes      takes
		key, value string
	}{{takesOut, "folder", "yes"}, {takesResume, "resume", "yes"}, {takesDevice, "device", "graphs"}, {onProcessor, "device", "processor"}, {takesPrecision, "precision", "32 or 64"}} {
		if t&m.takes != 0 {
			annotated(c, m.key, m.value)
		}
	}
	return c
}

// runResult is what a run folder has in place of draws.
type runResult struct {
	what string // the run in words, such as "sim assembly" in quotation marks
	file string // file with the results, without which the run is not finished, or ""
	look string // command that shows them, or ""
}

// verbs are the verbs that need a second word, with what they do.
var verbs = []struct{ name, short string }{
	{"sim", "Simulate scattering, correlations or neurons"},
	{"reduce", "Reduce images and correlations to curves"},
	{"fit", "Fit models to data by least squares"},
	{"sample", "Sample from a posterior"},
	{"invert", "Recover morphologies from scattering"},
	{"build", "Make libraries of template spectra"},
	{"train", "Train connections and networks"},
	{"bench", "Measure speed"},
	{"demo", "Show what the program does, on built-in data"},
}

// below makes the commands of all fields that stand below a verb.
func (a *app) below(verb string) (all []*cobra.Command) {
	for _, f := range a.fields {
		for _, c := range f.commands {
			if c.verb == verb {
				all = append(all, c.takes.of(c.make(a)))
			}
		}
	}
	return all
}

// commands makes all commands.
func (a *app) commands() []*cobra.Command {
	all := a.below("")
	for _, v := range verbs {
		all = append(all, thing(v.name, v.short, a.below(v.name)...))
	}
	return all
}

// conversion holds the options that the user can give the writers.
type conversion struct {
	compress  int
	overwrite bool
	twotime   bool // of result files: also the two-time correlation
	plain     bool // of result files as CSV: no covariance
}
