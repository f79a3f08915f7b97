// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/models/xpcs"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/viz/term"
)

// correlateFlags are the flags of correlate.
type correlateFlags struct {
	framesFlags
	xpcs.Request
	QMap           string
	Bins           string
	Skip           string
	Prefix, Suffix string
	MaxMemory      int
	Report         bool
	Watch          string
	Idle           time.Duration
}

func correlateCommand(a *frame.App) *cobra.Command {
	var f correlateFlags
	c := &cobra.Command{
		Use:   "correlate FRAMES... --qmap QMAP.hdf",
		Short: "Correlate the frames of a detector",
		Long: `Correlate the frames of each file and write NAME_results.hdf to --out or to the
working directory. A result holds g2 from the multi-tau method, the two-time
correlation, or both, with errors and the covariance of the points; intensities
against q and time; and the mean image. The viewers of beamline 8-ID read these
files, and euryale fit g2 fits them.

Frames can be HDF5 (with bitshuffle, LZ4, Blosc and other compressions), IMM,
event lists of Rigaku detectors, NumPy arrays, raw numbers, TIFF files of many
pages, EDF files of many images, or a folder with a series of numbered TIFF, EDF
or CBF files. Missing numbers and empty files of a series are named, and their
frames are bad. Memory does not grow with the number of frames. Pixels without a
count in most frames, or in so many that a quarter of them would be bad, dead
pixels among lit ones and pixels below 0 on average are left out with a note;
those that show only over the whole movie, and areas without any count, are
named, to be masked. Other frames with pixels without a count inside the bins,
frames whose mean intensity is outside --low to --high, and frames named by
--skip are bad. Each is replaced by the frame half the movie away, so that all
delays are kept; this is reported and recorded in the result.

Existing results are kept unless --overwrite is given, so the same command
continues after an interruption. A file that fails is reported, and the others
are still correlated. --watch DIR correlates files as they arrive in a folder
until Ctrl-C, or until no file has arrived for --idle. A file that changes later
is correlated again.

  euryale correlate A003_00001.h5 --qmap qmap.hdf
  euryale correlate *.imm --qmap qmap.hdf --frame-time 1ms --out results
  euryale correlate scan_0012/ --qmap qmap.hdf --frame-time 10ms
  euryale correlate --watch raw --qmap qmap.hdf --correlation both --out results
`,
		RunE: func(c *cobra.Command, args []string) error {
			if f.Correlation == "multitau" {
				if err := frame.Ignored(c, "--correlation both", "bins", "smooth", "no-age-errors"); err != nil {
					return err
				}
			}
			if f.Watch == "" {
				if err := frame.Ignored(c, "--watch", "idle"); err != nil {
					return err
				}
			}
			return runCorrelate(c.Context(), a, args, f)
		},
	}
	f.add(c)
	return c
}

func (f *correlateFlags) add(c *cobra.Command) {
	f.framesFlags.add(c)
	frame.AddSettings(c, "correlate", &f.Request)
	s := c.Flags()
	s.StringVar(&f.QMap, "qmap", "", "q-map file, or a result file that contains a q map (required)")
	s.StringVar(&f.Bins, "bins", "", "bins to compute the two-time correlation of, such as 1,2,5-7 (default all)")
	s.StringVar(&f.Skip, "skip", "", "frames to treat as bad, counted from 0, such as 10,200-210")
	s.StringVar(&f.Prefix, "prefix", "", "text to put before the names of the results")
	s.StringVar(&f.Suffix, "suffix", "", "text to put after the names of the results, before _results.hdf")
	s.IntVar(&f.MaxMemory, "max-memory", 2048, "memory for sums, in MiB; movies that need more are read several times")
	s.BoolVar(&f.Report, "report", false, "write a report with pictures, NAME_report, beside each result")
	s.StringVar(&f.Watch, "watch", "", "watch this folder and correlate its files as they arrive")
	s.DurationVar(&f.Idle, "idle", 0, "stop watching after this long without a new file (default never)")
}

// job returns what is the same for all files.
func (f *correlateFlags) job(threads int) (xpcs.Job, error) {
	j := f.Request.Job()
	j.Settings.Threads, j.Settings.MaxBytes = threads, int64(f.MaxMemory)<<20
	if err := frame.CheckSettings(&f.Request); err != nil {
		return j, err
	}
	switch {
	case f.QMap == "":
		return j, exit.Usage("correlate needs a q map: give --qmap FILE; euryale qmap makes one")
	case f.MaxMemory < 1:
		return j, exit.Usage("--max-memory %d: want at least 1", f.MaxMemory)
	case f.Idle < 0:
		return j, exit.Usage("--idle %v: want a time such as 10m", f.Idle)
	}
	for flag, text := range map[string]string{"prefix": f.Prefix, "suffix": f.Suffix} {
		if strings.ContainsAny(text, `/\`) {
			return j, exit.Usage("--%s %q: want a name without a folder; use --out to choose the folder", flag, text)
		}
	}
	var err error
	if j.Settings.Bins, err = numbersOf("bins", f.Bins, 1); err != nil {
		return j, err
	}
	if j.Gate.Skip, err = numbersOf("skip", f.Skip, 0); err != nil {
		return j, err
	}
	if j.Map, err = nexus.OpenQMap(f.QMap); err != nil {
		return j, exit.Input(err)
	}
	return j, nil
}

// numbersOf reads a list such as 1,2,5-7.
func numbersOf(flag, text string, least int) ([]int, error) {
	var all []int
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.Atoi(from)
		b := a
		if isRange && err == nil {
			b, err = strconv.Atoi(to)
		}
		if err != nil || a < least || b < a || b-a > 1<<24 {
			return nil, exit.Usage("--%s %q: want numbers from %d on and ranges, such as 1,2,5-7", flag, part, least)
		}
		for i := a; i <= b; i++ {
			all = append(all, i)
		}
	}
	return all, nil
}

// correlatedDoc is what is told of one file.
type correlatedDoc struct {
	File     string   `json:"file"`
	Status   string   `json:"status"` // written, exists, failed or interrupted
	Message  string   `json:"message,omitempty"`
	Result   string   `json:"result"`
	Frames   int      `json:"frames,omitempty"` // correlated, after selection
	Replaced int      `json:"replaced_frames,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	Seconds  float64  `json:"seconds"`

	err error // why it failed
}

// correlateDoc is the JSON document of correlate.
type correlateDoc struct {
	Device string          `json:"device"` // where it was computed: see docs/guide/gpu.md
	Engine string          `json:"engine"`
	QMap   string          `json:"qmap"`
	Files  []correlatedDoc `json:"files"`
}

func runCorrelate(ctx context.Context, a *frame.App, files []string, f correlateFlags) error {
	j, err := f.job(a.Threads)
	j.Settings.Backend = a.Backend(a.Threads)
	if err != nil {
		return err
	}
	if len(files) == 0 && f.Watch == "" {
		return exit.Usage("correlate needs input: name files of frames, or use --watch with a folder")
	}
	owner := map[string]string{}
	for _, name := range files {
		if err := claim(a, owner, name, f); err != nil {
			return err
		}
	}
	if err := frame.MayFill(cmp.Or(a.Out, ".")); err != nil {
		return err
	}
	if a.Out != "" {
		if err := os.MkdirAll(a.Out, 0o777); err != nil {
			return exit.With(exit.CannotWrite, err)
		}
	}
	noteFewPixels(a, j.Map.Maps.Mask)
	doc := correlateDoc{Engine: "xpcs", QMap: f.QMap, Files: []correlatedDoc{}}
	failed := error(nil)
	notes := a.NotesOn("file")
	one := func(name string, again bool) {
		before := slices.IndexFunc(doc.Files, func(d correlatedDoc) bool { return again && d.File == name })
		own := before >= 0 && doc.Files[before].Status == "written" // results of others are left as they are
		d, err := correlatedDoc{File: name, Status: "failed"}, claim(a, owner, name, f)
		if err == nil {
			d, err = correlateFile(ctx, a, notes, name, len(files) > 1 || f.Watch != "", own || a.Overwrite, j, f)
		} else {
			d.Message = err.Error()
			say(a, "%s: failed: %v", name, err)
		}
		if before >= 0 {
			doc.Files = slices.Delete(doc.Files, before, before+1)
		}
		d.err = err
		if doc.Files = append(doc.Files, d); f.Watch != "" {
			err = errors.Join(err, correlationsPage(a, doc.Files))
		}
		if err != nil && failed == nil {
			failed = err
		}
	}
	for _, name := range files {
		if one(name, false); ctx.Err() != nil {
			break
		}
	}
	if f.Watch != "" && ctx.Err() == nil {
		if err := watch(ctx, a, f, one); err != nil {
			return err
		}
	}
	notes.Others()
	if a.JSON {
		doc.Device = a.Where()
		if err := a.Document(doc); err != nil {
			return err
		}
	}
	failed = exit.Output(failed, failed)
	switch n := len(doc.Files); {
	case ctx.Err() != nil && f.Watch == "":
		return &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted: %d of %s had been started; the results written so far are complete", n, errtext.Count(len(files), "file")), Hint: "the same command again, which skips finished files"}
	case failed != nil && n > 1:
		lost := frame.LostOf("file", n)
		for _, d := range doc.Files {
			if d.err != nil {
				lost.Keep(d.File, exit.Output(d.err, d.err))
			}
		}
		return cmp.Or(lost.Err("correlated"), exit.Input(failed)) // the page of all results may have failed alone
	}
	return exit.Input(failed)
}

// resultName returns the name of the result of a file of frames.
func resultName(a *frame.App, name string, f correlateFlags) string {
	stem := filepath.Base(frame.Absolute(name))
	if st, err := os.Stat(name); err != nil || !st.IsDir() {
		stem = strings.TrimSuffix(stem, filepath.Ext(stem))
	}
	return filepath.Join(a.Out, f.Prefix+stem+f.Suffix+"_results.hdf")
}

// claim notes which file a result is of; another file with the same result is an error.
func claim(a *frame.App, owner map[string]string, name string, f correlateFlags) error {
	result := resultName(a, name, f)
	if first := owner[result]; first != "" && filepath.Clean(first) != filepath.Clean(name) {
		return exit.Usage("%s and %s would both be written to %s: correlate them in two commands with different --out, --prefix or --suffix", first, name, result)
	}
	owner[result] = name
	return nil
}

func correlateFile(ctx context.Context, a *frame.App, notes *frame.Notes, name string, several, overwrite bool, j xpcs.Job, f correlateFlags) (correlatedDoc, error) {
	start := time.Now()
	d := correlatedDoc{File: name, Result: resultName(a, name, f)}
	err := correlateInto(ctx, a, &d, overwrite, j, f)
	d.Seconds = time.Since(start).Seconds()
	switch {
	case errors.Is(err, context.Canceled):
		d.Status, d.Message = "interrupted", "interrupted; nothing was written"
		return d, nil
	case err != nil:
		d.Status, d.Message = "failed", err.Error()
		if several {
			say(a, "%s: failed: %v", name, err)
		}
	case d.Status == "exists":
		say(a, "%s: %s exists and was kept; use --overwrite to replace it", name, d.Result)
		for _, n := range d.Notes {
			notes.Now(name, n)
		}
	default:
		say(a, "%s: %s in %.3g s: %s", name, errtext.Count(d.Frames, "frame"), d.Seconds, d.Result)
		for _, n := range d.Notes {
			notes.Now(name, n)
		}
	}
	return d, err
}

// say prints a line about results.
func say(a *frame.App, format string, args ...any) {
	if !a.JSON {
		fmt.Fprint(a.Stdout, a.Renamed(fmt.Sprintf(format, args...)), "\n")
	}
}

func correlateInto(ctx context.Context, a *frame.App, d *correlatedDoc, overwrite bool, j xpcs.Job, f correlateFlags) error {
	if _, err := os.Stat(d.Result); err != nil || overwrite {
		release, err := a.Claim(d.Result)
		if err != nil {
			return err
		}
		defer release()
	}
	if result, err := os.Stat(d.Result); err == nil && !overwrite { // written before, or by the process that had just claimed it
		d.Status = "exists"
		if err := otherFrames(d); err != nil {
			return err
		}
		if movie, err := os.Stat(d.File); err == nil && movie.ModTime().After(result.ModTime()) {
			d.Notes = []string{fmt.Sprintf("the frames were changed at %s, after %s was written; --overwrite correlates them again", movie.ModTime().Format(time.DateTime), d.Result)}
		}
		if f.Report && !there(filepath.Join(reportFolder(d.Result), "report.html")) { // the process ended between both
			return correlationPage(a, d)
		}
		return nil
	}
	movie, meta, err := f.open(d.File)
	if err != nil {
		return err
	}
	defer movie.Close()
	if t := movie.Metadata().FrameTime; f.FrameTime.Given && t > 0 && math.Abs(f.FrameTime.Value-t) > 1e-3*t {
		a.Note("%s: --frame-time %g s is used in place of the %g s that the file has", d.File, f.FrameTime.Value, t)
	}
	if movie.Frames == 1 && movie.Format == "pictures" {
		return exit.With(exit.Data, fmt.Errorf("%s is a single picture, and a correlation needs at least 2 frames: name the folder of the series in place of its files, such as correlate %s/", d.File, filepath.Dir(d.File)))
	}
	j.Frames, j.Metadata, j.FrameTime, j.CountTime, j.Start = movie, meta, meta.FrameTime, meta.CountTime, meta.Start
	bar := framesBar(a, &j)
	done, err := xpcs.Correlate(ctx, j, d.Result)
	bar()
	if err != nil {
		return err
	}
	d.Status, d.Frames, d.Replaced, d.Notes = "written", done.Frames, len(done.Replaced), done.Notes()
	if f.Report {
		return correlationPage(a, d)
	}
	return nil
}

// otherFrames returns an error if a result that exists is that of other frames.
func otherFrames(d *correlatedDoc) error {
	r, err := nexus.Open(d.Result)
	if err != nil {
		return nil // it is left as it is
	}
	defer r.Close()
	if of := r.Attrs["frames"]; of != "" && filepath.Base(of) != filepath.Base(d.File) {
		return exit.With(exit.CannotWrite, fmt.Errorf("%s exists and is the result of %s: choose another name with --out, --prefix or --suffix, or replace it with --overwrite", d.Result, of))
	}
	return nil
}

// reportFolder returns the folder of the page of a result.
func reportFolder(result string) string {
	return strings.TrimSuffix(result, "_results.hdf") + "_report"
}

// correlationPage writes the page of a result.
func correlationPage(a *frame.App, d *correlatedDoc) error {
	r, err := nexus.Open(d.Result)
	if err != nil {
		return err
	}
	defer r.Close()
	dir := reportFolder(d.Result)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	return a.WhileWaiting("drawing the report of "+d.Result, func() error {
		return exit.With(exit.CannotWrite, report.Correlation(r, d.Notes, a.Page(a.Seed)).Save(dir))
	})
}

// correlationsPage writes the page of all results.
func correlationsPage(a *frame.App, files []correlatedDoc) error {
	var list []report.Correlated
	for _, d := range files {
		c := report.Correlated{Frames: d.File, Result: d.Result, Notes: d.Notes}
		if d.Status == "failed" {
			c.Failed = d.Message
		}
		list = append(list, c)
	}
	return frame.WriteFile(filepath.Join(a.Out, "correlations.html"), []byte(report.Correlations(list, a.Page(a.Seed)).HTML()))
}

// framesBar shows the progress of a correlation; the function that it returns ends the display.
func framesBar(a *frame.App, j *xpcs.Job) (end func()) {
	var bar *term.Bar
	last, was, begin := 0, "", time.Now()
	end = func() {
		if bar != nil {
			bar.Close()
		}
	}
	j.Progress = func(what string, done, all int) {
		if bar == nil || what != was {
			end()
			set := term.BarSettings{Name: "frames, " + what, Total: all, Begin: begin}
			if a.Quiet {
				set.Mode = term.Quiet
			}
			bar, last, was = term.NewBar(a.Screen, set), 0, what
		}
		bar.Add(done-last, 0)
		last, begin = done, time.Now() // of what comes next
	}
	return end
}
