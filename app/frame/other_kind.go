// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// fileKind is what a file holds, and commands that take it, with FILE in the place of its name.
type fileKind struct {
	what  string
	takes []string
}

// drawsTakers are commands that take draws.
var drawsTakers = []string{"summary FILE", "diagnose FILE", "plot trace FILE", "compare FILE OTHER", "loo FILE", "convert FILE OUT.nc"}

// hdf5Kinds tell HDF5 files apart by a path that only they have.
var hdf5Kinds = []struct {
	paths []string
	fileKind
}{
	{[]string{"xpcs/multitau", "xpcs/twotime", "exchange/norm-0-g2", "exchange/C2T_all"}, fileKind{"a file of correlations", []string{"fit g2 FILE", "plot g2 FILE", "sample g2 FILE", "reduce ages FILE", "reduce saxs FILE", "reduce intensity FILE", "average FILE OTHER OUT.hdf", "convert FILE OUT.csv", "fit twotime FILE", "sample twotime FILE", "correlate FRAMES --qmap FILE", "qmap QMAP.hdf --from FILE", "mask MASK.h5 --image FILE"}}},
	{[]string{"qmap/dynamic_roi_map", "xpcs/qmap", "xpcs/dqmap"}, fileKind{"a q map", []string{"correlate FRAMES --qmap FILE", "plot qmap FILE", "qmap QMAP.hdf --mask FILE", "mask MASK.h5 --from FILE", "average RESULT OTHER OUT.hdf --qmap FILE"}}},
	{[]string{"Euler_Angles", "Vector_Morphology"}, fileKind{"a morphology", []string{"sim rsoxs FILE", "plot morphology FILE", "plot volume FILE"}}},
	{[]string{"K0"}, fileKind{"a simulated pattern", []string{"plot pattern FILE", "reduce rsoxs FILE"}}},
	{[]string{"arms"}, fileKind{"a library of template spectra", []string{"fit spectra SPECTRUM --library FILE", "plot library FILE"}}},
	{[]string{"posterior"}, fileKind{"a file of draws", drawsTakers}},
	{[]string{"entry/data/data", "entry/data/data_000001", "exchange/data"}, fileKind{"a file of frames", []string{"correlate FILE --qmap QMAP.hdf", "qmap QMAP.hdf --from FILE", "mask MASK.h5 --image FILE", "fit geometry FILE"}}},
}

// tables tell tables apart by names of their columns.
var tables = []struct {
	columns [][]string // every list has one of the names
	fileKind
}{
	{[][]string{{"tau", "delay", "t_el"}, {"g2"}}, fileKind{"a table of g2", []string{"fit g2 FILE", "sample g2 FILE"}}},
	{[][]string{{"wave", "wavelength", "lambda", "loglam"}, {"flux"}}, fileKind{"a spectrum", []string{"fit spectra FILE --library LIBRARY.h5", "sample spectrum FILE --library LIBRARY.h5", "plot spectrum FILE --library LIBRARY.h5"}}},
	{[][]string{{"filename"}, {"teff"}}, fileKind{"a catalogue of template spectra", []string{"build library FILE LIBRARY.h5"}}},
	{[][]string{{"lp__"}}, fileKind{"a file of draws", drawsTakers}},
}

// formatKinds are the formats that tell no more than where such files may be used, by their first bytes.
var formatKinds = []struct {
	head string
	fileKind
}{
	{"SIMPLE  =", fileKind{"a FITS file", []string{"fit spectra FILE --library LIBRARY.h5", "sample spectrum FILE --library LIBRARY.h5", "plot spectrum FILE --library LIBRARY.h5", "plot table FILE", "fit curve FILE"}}},
	{"II*\x00", fileKind{"a TIFF picture", []string{"mask MASK.h5 --image FILE", "qmap QMAP.hdf --mask FILE", "correlate FILE --qmap QMAP.hdf", "fit geometry FILE", "plot mask FILE"}}},
	{"MM\x00*", fileKind{"a TIFF picture", []string{"mask MASK.h5 --image FILE", "qmap QMAP.hdf --mask FILE", "correlate FILE --qmap QMAP.hdf", "fit geometry FILE", "plot mask FILE"}}},
}

// CommandsForFiles lists the commands that are named for files of some kind.
func CommandsForFiles() (lines []string) {
	for _, d := range foreign.Documents() {
		lines = append(lines, d.Takes...)
	}
	for _, k := range hdf5Kinds {
		lines = append(lines, k.takes...)
	}
	for _, k := range tables {
		lines = append(lines, k.takes...)
	}
	for _, k := range formatKinds {
		lines = append(lines, k.takes...)
	}
	return lines
}

// otherKind adds to the error of a command what a file is that it was given, if it is none of those that the command takes in that place,
// and which commands take it. A document in the place of another is the whole error, since what its reader says is about something else.
func (a *App) otherKind(c *cobra.Command, err error) error {
	var e *exit.Error
	if hint := a.otherWay(c); hint != "" && errors.As(err, &e) && (e.Code == exit.NoInput || e.Code == exit.CannotWrite || e.Code == exit.WrongUsage) {
		return &exit.Error{Code: e.Code, Err: err, Hint: hint}
	}
	if !errors.As(err, &e) || e.Code != exit.Data && e.Code != exit.NoInput && e.Code != exit.WrongUsage && e.Code != exit.Config {
		return err
	}
	command := strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
	for place, name := range givenFiles(c, command) {
		head := headOf(name)
		if head == nil {
			continue
		}
		if d, keys := foreign.DocumentOf(head); d != nil {
			if !takenBy(d.Takes, command) {
				return a.otherDocument(place, name, d, keys)
			}
			continue
		}
		if k := kindOfFile(name, head); k != nil && e.Hint == "" && !takenIn(k.takes, command, place) && strings.Contains(err.Error(), filepath.Base(name)) {
			return &exit.Error{Code: e.Code, Err: err, Hint: fmt.Sprintf("%s is %s: %s", name, k.what, a.commandsFor(k.takes, name))}
		}
	}
	return err
}

// otherWay returns the command line with the input and the output the other way round, if the input does not exist and the output is a file that commands read,
// or "".
func (a *App) otherWay(c *cobra.Command) string {
	args := c.Flags().Args()
	if len(args) > 0 && c.Name() == "plot" { // after its kind
		args = args[1:]
	}
	last := len(args) - 1
	if !strings.Contains(c.Use, "OUT") || last != 1 || foreign.Exists(args[0]) || !foreign.Exists(args[last]) {
		return ""
	}
	if head := headOf(args[last]); head == nil || kindOfFile(args[last], head) == nil {
		return "" // no input of a command
	}
	words := c.CommandPath()
	if c.Name() == "plot" {
		words += " " + c.Flags().Arg(0)
	}
	return fmt.Sprintf("%s %s %s, if they are the wrong way round", words, foreign.Typed(args[last]), foreign.Typed(args[0]))
}

// otherDocument is the error of a document that the command does not take.
func (a *App) otherDocument(place, name string, d *foreign.Document, keys []string) error {
	hint := "name the folder of the run, " + foreign.Typed(filepath.Dir(name))
	if len(d.Takes) > 0 {
		hint = a.commandsFor(d.Takes, name)
	}
	return &exit.Error{Code: exit.Data, Err: fmt.Errorf("%s holds %s (%s), which %s does not take", name, d.What, foreign.Named(keys), place), Hint: hint}
}

// commandsFor writes the first two of some commands with the name of a file.
func (a *App) commandsFor(takes []string, name string) string {
	lines := make([]string, 0, 2)
	for _, t := range takes[:min(2, len(takes))] {
		lines = append(lines, a.Program+" "+strings.ReplaceAll(t, "FILE", foreign.Typed(name)))
	}
	return strings.Join(lines, ", or ")
}

// takenBy reports whether a command is one of those that take a file, in whatever place.
func takenBy(takes []string, command string) bool {
	return slices.ContainsFunc(takes, func(t string) bool { return alike(t, command) })
}

// alike reports whether a command line is one of a command. Kinds of plots are alike, and so is all work on batches.
func alike(line, command string) bool {
	verb, _, _ := strings.Cut(line, " ")
	own, _, _ := strings.Cut(command, " ")
	return strings.HasPrefix(line+" ", command+" ") || verb == own && (verb == "plot" || verb == "batch")
}

// takenIn reports whether a command takes a file in a place: as an argument, or by the flag that follows the command there.
func takenIn(takes []string, command, place string) bool {
	flag := strings.TrimSpace(strings.TrimPrefix(place, command))
	return slices.ContainsFunc(takes, func(t string) bool {
		return alike(t, command) && strings.Contains(t, strings.TrimSpace(flag+" FILE")) && (flag != "" || !strings.Contains(t, "--") || strings.Index(t, "FILE") < strings.Index(t, "--"))
	})
}

// notInputs are the flags that name what is written or continued, or what may hold anything.
var notInputs = []string{"out", "resume", "overwrite", "save-recipe", "data"} // data of Stan may have any keys

// givenFiles yields the arguments and the values of flags that are names of files, with the words for their places.
func givenFiles(c *cobra.Command, command string) func(yield func(place, name string) bool) {
	return func(yield func(place, name string) bool) {
		for _, name := range c.Flags().Args() {
			if !yield(command, name) {
				return
			}
		}
		on := true
		c.Flags().Visit(func(f *pflag.Flag) {
			if on && f.Value.Type() == "string" && !slices.Contains(notInputs, f.Name) {
				on = yield(command+" --"+f.Name, f.Value.String())
			}
		})
	}
}

// mostHead is how much of a file is read to tell its kind, in bytes.
const mostHead = 1 << 20

// headOf returns the beginning of a file, or nil if there is none that can be read.
func headOf(name string) []byte {
	if st, err := os.Stat(name); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	f, err := foreign.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, mostHead))
	if err != nil {
		return nil
	}
	return head
}

// kindOfFile tells what a file holds, or returns nil.
func kindOfFile(name string, head []byte) *fileKind {
	for i, k := range formatKinds {
		if bytes.HasPrefix(head, []byte(k.head)) {
			return &formatKinds[i].fileKind
		}
	}
	if foreign.NotText(head) == "" {
		return kindOfTable(head)
	}
	f, err := hdf5.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	for i, k := range hdf5Kinds {
		if slices.ContainsFunc(k.paths, f.Has) {
			return &hdf5Kinds[i].fileKind
		}
	}
	return nil
}

// kindOfTable tells what a table holds by its first line that is no comment.
func kindOfTable(head []byte) *fileKind {
	r := csv.NewReader(bytes.NewReader(foreign.Unmarked(head)))
	r.Comment, r.TrimLeadingSpace = '#', true
	names, err := r.Read()
	if err != nil {
		return nil
	}
	for i, n := range names {
		names[i] = strings.ToLower(strings.TrimSpace(n))
	}
	for i, t := range tables {
		if !slices.ContainsFunc(t.columns, func(any []string) bool {
			return !slices.ContainsFunc(any, func(n string) bool { return slices.Contains(names, n) })
		}) {
			return &tables[i].fileKind
		}
	}
	return nil
}
