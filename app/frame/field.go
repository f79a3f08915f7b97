// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/data/table"
	"github.com/euryale-dev/euryale/runs"
)

// Field is what a field of science, or the work with draws or lists, brings to the command line. To add one, write its
// package and add it to the list in app/fields.go.
type Field struct {
	Commands []Command
	// Result says what a run folder has in place of draws, or returns nil if it is of no command of the field that makes none.
	Result func(dir runs.Folder, command string) *RunResult
	// Explained reports whether info explains a file, and Explain does it.
	Explained func(name string) bool
	Explain   func(a *App, name string) error
	// Converted reports whether convert takes a file that holds no draws, and ConvertFile writes it in another format.
	Converted   func(name string) bool
	ConvertFile func(a *App, in, out, to string, c Conversion) error
	// Look says how people look at a file or folder, or returns nil if it is none of the field's. It is asked for every file of a folder that
	// view shows, so it reads no more than the beginning of a file.
	Look func(name string, folder bool) *Look
	// Explore says what view lists that is no file: pictures of what commands compute on the spot.
	Explore func() *Look
	// FitTables make the tables of the documents of fits, by their engine, where a row is not a parameter.
	FitTables map[string]func(docs []json.RawMessage) (*table.Table, error)
}

// Command is a command below a verb, or a verb of its own.
type Command struct {
	Verb  string // the verb, such as fit; "" for a verb of its own
	New   func(a *App) *cobra.Command
	Takes Takes
}

// Takes says which of the global flags a command accepts.
type Takes int

const (
	TakesOut       Takes = 1 << iota // --out names a folder for results
	TakesResume                      // --resume continues a run
	TakesDevice                      // --device chooses where graphs are computed
	OnProcessor                      // the work takes long and is done by the processor, whatever device is chosen
	TakesPrecision                   // --precision 32 is possible
	Continues                        // the same command goes on where it was interrupted, without --resume
)

// Of marks a command as one that takes these flags.
func (t Takes) Of(c *cobra.Command) *cobra.Command {
	for _, m := range []struct {
		Takes      Takes
		key, value string
	}{{TakesOut, "folder", "yes"}, {TakesResume, "resume", "yes"}, {TakesDevice, "device", "graphs"}, {OnProcessor, "device", "processor"}, {TakesPrecision, "precision", "32 or 64"}, {Continues, "again", "yes"}} {
		if t&m.Takes != 0 {
			annotated(c, m.key, m.value)
		}
	}
	return c
}

// RunResult is what a run folder has in place of draws.
type RunResult struct {
	What string // the run in words, such as "sim assembly" in quotation marks
	File string // file with the results, without which the run is not finished, or ""
	Look string // command that shows them, or ""
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

// Below makes the commands of all fields that stand below a verb.
func (a *App) Below(verb string) (all []*cobra.Command) {
	for _, f := range a.Fields {
		for _, c := range f.Commands {
			if c.Verb == verb {
				all = append(all, c.Takes.Of(c.New(a)))
			}
		}
	}
	return all
}

// commands makes all commands.
func (a *App) commands() []*cobra.Command {
	all := a.Below("")
	for _, v := range verbs {
		all = append(all, thing(v.name, v.short, a.Below(v.name)...))
	}
	return all
}

// Conversion holds the options that the user can give the writers.
type Conversion struct {
	Compress  int
	Zarr      int // version of the Zarr format, 2 or 3
	Overwrite bool
	Twotime   bool // the two-time correlation of a result file, too
	Plain     bool // the CSV file of a result, without the covariance
}
