// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/viz/term"
)

// desiFlags are the flags of fit spectra that only files of DESI have. Their names are those of
// rvs_desi_fit.
type desiFlags struct {
	Files                   []string
	FilesFrom, Queue        string
	Threads                 int
	MPI                     bool
	OutputDir               string
	NoSubdirs               bool
	TabPrefix, ModPrefix    string
	SkipExisting            bool
	FitArm                  []string
	TargetIDs               []int64
	TargetIDsFrom           string
	MinSN                   float64
	MinExpID, MaxExpID      int64
	ObjTypes                []string
	ZBestSelect             bool
	ZBestInclude            bool
	Plot                    bool
	FigureDir, FigurePrefix string
	Log, Status             string
	Throw                   bool
	Extra                   bool
	Report                  bool

	all []string // names of these flags
}

func (f *desiFlags) add(c *cobra.Command) {
	s := c.Flags()
	name := func(n string) string {
		f.all = append(f.all, n)
		return n
	}
	s.StringArrayVar(&f.Files, "input-files", nil, "further `file` to fit, like the arguments of the command; repeatable")
	s.StringVar(&f.FilesFrom, "input-file-from", "", "file that lists the files to fit, one per line")
	s.StringVar(&f.Queue, name("queue-file"), "", "DESI: file that lists files to fit; each process repeatedly removes the first line and fits that file, until none is left")
	s.IntVar(&f.Threads, "nthreads", 0, "same as --threads")
	s.BoolVar(&f.MPI, name("mpi"), false, "DESI: divide the files among the processes of an MPI launcher that were given the same list")
	s.StringVar(&f.OutputDir, name("output-dir"), "", "DESI: folder to write tables and models to (default that of --out, or the working directory)")
	s.BoolVar(&f.NoSubdirs, name("no-subdirs"), false, "DESI: write directly to the output folder (default: to subfolders named like the last two folders of the input path)")
	s.StringVar(&f.TabPrefix, name("output-tab-prefix"), "rvtab", "DESI: prefix of the file names of tables")
	s.StringVar(&f.ModPrefix, name("output-mod-prefix"), "rvmod", "DESI: prefix of the file names of models")
	s.BoolVar(&f.SkipExisting, name("skipexisting"), false, "DESI: skip files whose table already exists")
	s.StringSliceVar(&f.FitArm, name("fitarm"), nil, "DESI: arms to fit, such as b,r (default all)")
	s.Int64SliceVar(&f.TargetIDs, name("targetid"), nil, "DESI: `targets` to fit, by their numbers (default all)")
	s.Lookup(name("targetid")).DefValue = ""
	s.StringVar(&f.TargetIDsFrom, name("targetid-file-from"), "", "DESI: file that lists the targets to fit, one per line")
	s.Float64Var(&f.MinSN, name("minsn"), -1e9, "DESI: fit only spectra whose S/N exceeds this in at least one arm (default no limit)")
	s.Lookup(name("minsn")).DefValue = "0" // which is not printed
	s.Int64Var(&f.MinExpID, name("minexpid"), -1, "DESI: use only exposures with a larger number than this")
	s.Int64Var(&f.MaxExpID, name("maxexpid"), 1<<62, "DESI: use only exposures up to this number (default no limit)")
	s.Lookup(name("maxexpid")).DefValue = "0"
	s.StringSliceVar(&f.ObjTypes, name("objtypes"), nil, "DESI: regular expressions for the target types to fit, such as MWS_ANY or STD_.*")
	s.BoolVar(&f.ZBestSelect, name("zbest-select"), false, "DESI: fit only targets that the redrock or zbest file calls stars, or whose velocity it puts below 1500 km/s")
	s.BoolVar(&f.ZBestInclude, name("zbest-include"), false, "DESI: copy the columns of the redrock or zbest file without selecting targets by it")
	s.BoolVar(&f.Plot, name("doplot"), false, "DESI: draw every star with its model")
	s.StringVar(&f.FigureDir, name("figure-dir"), ".", "DESI: folder to write the pictures to")
	s.StringVar(&f.FigurePrefix, name("figure-prefix"), "fig", "DESI: prefix of the file names of pictures")
	s.StringVar(&f.Log, name("log"), "", "DESI: file to append messages to")
	s.StringVar(&f.Status, name("process-status-file"), "", "DESI: file to append one line per input file to: its name, SUCCESS, FAILURE or EXISTING, the number of fits, the seconds")
	s.BoolVar(&f.Throw, name("throw-exceptions"), false, "DESI: stop at the first file that fails (default: record the failure and continue)")
	s.BoolVar(&f.Report, name("report"), false, "DESI: write a report on the spectra with the worst verdicts to a folder beside each table")
	s.BoolVar(&f.Extra, name("extra-columns"), false, "DESI: also write the columns VRAD_ERR_MARGINAL, VSINI_ERR and MODEL_P")
}

// given returns the first flag for DESI that the user has set.
func (f *desiFlags) given(c *cobra.Command) string {
	for _, n := range f.all {
		if c.Flags().Changed(n) {
			return n
		}
	}
	return ""
}

// names returns the files to fit, without those of a queue.
func (f *desiFlags) names(args []string) ([]string, error) {
	names := slices.Concat(f.Files, args)
	if f.FilesFrom != "" {
		lines, err := linesOf(f.FilesFrom)
		if err != nil {
			return nil, err
		}
		names = append(names, lines...)
	}
	if f.Queue != "" && len(names) > 0 {
		return nil, exit.Usage("--queue-file %s already lists the files: leave out %s", f.Queue, names[0])
	}
	return names, nil
}

// linesOf returns the lines of a file that are not empty.
func linesOf(name string) (lines []string, err error) {
	b, err := foreign.ReadFile(name)
	if err != nil {
		return nil, exit.Input(err)
	}
	s := bufio.NewScanner(bytes.NewReader(b))
	for s.Scan() {
		if line := strings.TrimSpace(s.Text()); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, exit.Input(s.Err())
}

// selection returns which fibers are fitted.
func (f *desiFlags) selection() (survey.Selection, error) {
	s := survey.Selection{Arms: f.FitArm, MinExpID: f.MinExpID, MaxExpID: f.MaxExpID, MinSN: f.MinSN, TargetIDs: f.TargetIDs, ObjTypes: f.ObjTypes, StarsOnly: f.ZBestSelect, WithRedshifts: f.ZBestInclude}
	if math.IsNaN(f.MinSN) {
		return s, exit.Usage("--minsn NaN: want a number")
	}
	for _, arm := range s.Arms {
		if !slices.Contains([]string{"b", "r", "z"}, arm) {
			return s, exit.Usage("--fitarm %q: want b, r and z, separated by commas", arm)
		}
	}
	if f.TargetIDsFrom != "" {
		lines, err := linesOf(f.TargetIDsFrom)
		if err != nil {
			return s, err
		}
		for i, line := range lines {
			id, err := strconv.ParseInt(line, 10, 64)
			if err != nil {
				return s, exit.With(exit.Data, fmt.Errorf("%s: line %d: %q is not a target: want a whole number", f.TargetIDsFrom, i+1, line))
			}
			s.TargetIDs = append(s.TargetIDs, id)
		}
		if len(s.TargetIDs) == 0 {
			return s, exit.With(exit.Data, fmt.Errorf("%s lists no targets: want one TARGETID per line", f.TargetIDsFrom))
		}
	}
	return s, nil
}

// desiFileDoc is what is told of one file.
type desiFileDoc struct {
	File    string  `json:"file"`
	Status  string  `json:"status"` // SUCCESS, FAILURE, EXISTING or ELSEWHERE
	Message string  `json:"message,omitempty"`
	Table   string  `json:"table,omitempty"`
	Models  string  `json:"models,omitempty"`
	Report  string  `json:"report,omitempty"`
	Fibers  int     `json:"fibers"`
	Fitted  int     `json:"fitted"`
	Warned  int     `json:"warned"`  // with a bit in RVS_WARN
	Misfits int     `json:"misfits"` // whose verdict is that the model disagrees with the data
	Seconds float64 `json:"seconds"`

	err error     // why it failed
	was time.Time // when the table was written that was there before; zero for none
}

// desiDoc is the JSON document of fit spectra for files of DESI.
type desiDoc struct {
	Device  string        `json:"device"` // where it was computed: see docs/guide/gpu.md
	Engine  string        `json:"engine"`
	Library string        `json:"library"`
	Files   []desiFileDoc `json:"files"`
}

// desiFit is a run over files of DESI.
type desiFit struct {
	*frame.App
	p      *fitfile.Pipeline
	f      *desiFlags
	sel    survey.Selection
	dir    string
	claims batch.Claims
	fit    func(ctx context.Context, name string, job fitfile.DESIJob) (*fitfile.DESIOutcome, error) // of p
	doc    desiDoc
	log    *os.File
	first  error // why the first fiber without a fit has none
	// fibers is the number of fibers of the file that is being fitted, and kept how many of them the journal holds.
	fibers, kept int
}

func runFitDESI(ctx context.Context, a *frame.App, p *fitfile.Pipeline, names []string, f *desiFlags) (err error) {
	d := &desiFit{App: a, p: p, f: f, fit: p.DESI, doc: desiDoc{Engine: "spectra", Library: p.Library(), Files: []desiFileDoc{}}, dir: f.OutputDir}
	if d.sel, err = f.selection(); err != nil {
		return err
	}
	if d.dir == "" {
		d.dir = a.Out
	}
	if f.Log != "" {
		if d.log, err = os.OpenFile(f.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666); err != nil {
			return exit.With(exit.CannotWrite, err)
		}
		defer d.log.Close()
	}
	if err := d.checkOutputs(names); err != nil {
		return err
	}
	if f.Queue != "" {
		err = d.queue(ctx)
	} else {
		for _, name := range names {
			if err = d.one(ctx, name); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = d.elsewhere(ctx)
	}
	if a.JSON && err == nil || a.JSON && ctx.Err() != nil {
		d.doc.Device = a.Where()
		if err := a.Document(d.doc); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	return d.verdict()
}

// keptText says how many fibers of the file in which a run was interrupted the next run finds in the journal of a table.
func (d *desiFit) keptText(table string) string {
	if d.kept == 0 {
		return "no fiber was finished yet"
	}
	return fmt.Sprintf("%s of %d are kept beside the table, in %s.journal-...", errtext.Count(d.kept, "finished fiber"), d.fibers, table)
}

// checkOutputs refuses files whose tables would have the same name, or replace one.
func (d *desiFit) checkOutputs(names []string) error {
	from := map[string]string{}
	for _, name := range names {
		table, models := d.outputs(name)
		if table == models {
			return exit.Usage("--output-tab-prefix and --output-mod-prefix are both %s, so the table and the models would be one file: choose different prefixes", d.f.TabPrefix)
		}
		if other, ok := from[table]; ok {
			return exit.Usage("%s and %s would both be written to %s: leave out --no-subdirs, or use two output folders", other, name, table)
		}
		from[table] = name
		if foreign.Exists(table) && !d.f.SkipExisting && !d.f.MPI && !d.Overwrite {
			return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s exists", table), Hint: "--skipexisting, --overwrite, or another --output-dir"}
		}
		if err := frame.MayFill(filepath.Dir(table)); err != nil {
			return err
		}
	}
	return nil
}

// outputs returns the names of the table and the models of a file.
func (d *desiFit) outputs(name string) (table, models string) {
	dir := d.dir
	if !d.f.NoSubdirs {
		if full, err := filepath.Abs(name); err == nil {
			parent := filepath.Dir(full)
			if two := filepath.Join(filepath.Base(filepath.Dir(parent)), filepath.Base(parent)); d.dir != "" {
				dir = filepath.Join(dir, two)
			}
		}
	}
	base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".gz"), ".fz")
	return filepath.Join(dir, d.f.TabPrefix+"_"+base), filepath.Join(dir, d.f.ModPrefix+"_"+base)
}

// say notes a line for the user, and in the log.
func (d *desiFit) say(format string, v ...any) {
	d.Note(format, v...)
	if d.log != nil {
		fmt.Fprintf(d.log, "%s %s\n", time.Now().UTC().Format(time.RFC3339), fmt.Sprintf(format, v...)) // the log is for reading; a full disk is found by the tables
	}
}

// code is the exit code of a file that failed: one that cannot be written differs from one that cannot be read.
func (doc *desiFileDoc) code() int {
	if code := exit.CodeOf(exit.With(exit.Data, doc.err)); code == exit.CannotWrite || atomicfile.Writing(doc.err) {
		return exit.CannotWrite
	}
	return exit.Data
}

// one fits one file. The error returned ends the run; that of a file does so only with --throw-exceptions.
func (d *desiFit) one(ctx context.Context, name string) error {
	start := time.Now()
	doc := desiFileDoc{File: name}
	doc.Table, doc.Models = d.outputs(name)
	d.first, d.fibers, d.kept = nil, 0, 0
	err := d.file(ctx, name, &doc)
	if err == nil && doc.Status == "SUCCESS" && doc.Fibers > 0 && doc.Fitted == 0 && ctx.Err() == nil {
		err = fmt.Errorf("none of %s could be fitted%s", errtext.Count(doc.Fibers, "fiber"), d.why())
	}
	doc.Seconds = time.Since(start).Seconds()
	if err != nil {
		doc.Status, doc.Message, doc.err = "FAILURE", err.Error(), err
	}
	if ctx.Err() != nil {
		doc.Message = "interrupted"
		d.doc.Files = append(d.doc.Files, doc)
		return &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted in %s; %s", name, d.keptText(doc.Table)), Hint: "the same command, which continues (with --skipexisting it skips finished files)"}
	}
	d.doc.Files = append(d.doc.Files, doc)
	if e := d.status(&doc); e != nil {
		return e
	}
	switch {
	case err != nil && d.f.Throw:
		return exit.Input(err)
	case err != nil:
		d.say("%s: failed: %v", name, err)
	case doc.Status == "EXISTING":
		d.say("%s: %s exists, left out", name, doc.Table)
	case doc.Status == "ELSEWHERE":
		d.say("%s: another process fits it, left for later", name)
	default:
		d.say("%s: %s, %d fitted in %.1f s; %d with warnings, in %d the model disagrees with the data: %s", name, errtext.Count(doc.Fibers, "fiber"), doc.Fitted, doc.Seconds, doc.Warned, doc.Misfits, doc.Table)
	}
	return nil
}

// elsewhere waits for the files that other processes have claimed. A file whose process has ended without its
// table, also on another machine, is fitted here.
func (d *desiFit) elsewhere(ctx context.Context) error {
	for i := range d.doc.Files {
		if d.doc.Files[i].Status != "ELSEWHERE" {
			continue
		}
		f := d.doc.Files[i]
		made := func() (bool, error) { return !modified(f.Table).Equal(f.was), nil }
		d.say("%s: waiting for the process that fits it; if that has ended, it is fitted here in a minute", f.File)
		claim, err := d.claims.Wait(ctx, f.Table+".claim", made)
		if err != nil {
			return &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("%s is being fitted by another process: %w", f.File, err), Hint: "the same command"}
		}
		if claim != nil {
			if err := claim.Release(); err != nil {
				return exit.With(exit.CannotWrite, err)
			}
		}
		if ok, _ := made(); ok {
			d.others(&d.doc.Files[i])
			continue
		}
		if err := d.one(ctx, f.File); err != nil {
			return err
		}
		last := len(d.doc.Files) - 1
		d.doc.Files[i], d.doc.Files = d.doc.Files[last], d.doc.Files[:last]
	}
	return nil
}

// others looks at a table that another process has made. Unless processes share the work on purpose, one that another command line made is
// not what this run was to make.
func (d *desiFit) others(doc *desiFileDoc) {
	made := survey.OtherCommand(doc.Table, d.Line)
	if made == "" || d.f.MPI || d.f.Queue != "" {
		return
	}
	doc.err = exit.With(exit.CannotWrite, fmt.Errorf("%s was made meanwhile by another process, with another command line (%s): fit again with --overwrite, or into another --output-dir", doc.Table, made))
	doc.Status, doc.Message = "FAILURE", doc.err.Error()
	d.say("%s: failed: %v", doc.File, doc.err)
}

// named puts the name of the file before a message that lacks it.
func (doc *desiFileDoc) named() string {
	if strings.Contains(doc.Message, doc.File) {
		return doc.Message
	}
	return doc.File + ": " + doc.Message
}

// modified returns when a file was written; zero if it is not there.
func modified(name string) time.Time {
	st, err := os.Stat(name)
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// file fits a file and fills doc. What panics in it is an error of this file.
func (d *desiFit) file(ctx context.Context, name string, doc *desiFileDoc) (err error) {
	defer func() {
		if r := recover(); r != nil {
			crash := fmt.Sprintf("crash_%d_%s.log", os.Getpid(), time.Now().UTC().Format("20060102T150405.000"))
			p := given.Recovered(r)
			err = fmt.Errorf("the program %s (see %s)", p.Error(), crash)
			if e := os.WriteFile(crash, fmt.Appendf(nil, "%s\n%v\n%s", name, p, p.Report()), 0o666); e != nil {
				err = errors.Join(err, e)
			}
		}
	}()
	doc.was = modified(doc.Table)
	if foreign.Exists(doc.Table) && (d.f.SkipExisting || d.f.MPI) {
		doc.Status = "EXISTING"
		return nil
	}
	if foreign.Exists(doc.Table) && !d.Overwrite {
		return fmt.Errorf("%s exists: use --skipexisting, --overwrite, or another --output-dir", doc.Table)
	}
	if err := os.MkdirAll(filepath.Dir(doc.Table), 0o777); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	claim, err := d.claims.Take(doc.Table + ".claim")
	if err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	if claim == nil {
		doc.Status = "ELSEWHERE"
		return nil
	}
	defer func() { err = errors.Join(err, claim.Release()) }()
	if !modified(doc.Table).Equal(doc.was) { // another process has just finished it
		doc.Status = "EXISTING"
		d.others(doc)
		return doc.err
	}
	var bar *term.Bar
	job := fitfile.DESIJob{Select: d.sel, Table: doc.Table, Models: doc.Models, More: d.f.Extra, Command: d.Line, Software: [][2]string{{"euryale", frame.Version()}},
		Note: func(text string) { d.say("%s", text) },
		Started: func(fibers, before int) {
			d.fibers, d.kept = fibers, before
			if before > 0 {
				d.say("%s: %d of %d fibers are kept from an earlier run", name, before, fibers)
			}
			bar = term.NewBar(d.Screen, d.BarSettings("stars", fibers-before))
		},
		Done: func(fibers, failed int) {
			bar.Add(fibers, failed)
			d.kept += fibers
		}}
	page := &report.SpectraFits{Files: []string{name}, Library: d.p.Library()}
	job.Fitted = func(id int64, star *spectra.Star, o *fitfile.Outcome) {
		if d.f.Plot {
			d.draw(id, star, o)
		}
		if d.f.Report {
			page.Keep(star, o)
		}
	}
	// A process that was taken for dead finds the table of the one that took over, and leaves it.
	made := false
	job.New, job.Wanted = doc.was.IsZero(), func() bool {
		made = !modified(doc.Table).Equal(doc.was)
		return !made
	}
	out, err := d.fit(ctx, name, job)
	if bar != nil {
		bar.Close()
	}
	if err == nil && made || job.New && errors.Is(err, fs.ErrExist) {
		doc.Status = "EXISTING"
		return exit.With(exit.CannotWrite, survey.RemoveJournal(doc.Table))
	}
	if err == nil && d.f.Report {
		dir := strings.TrimSuffix(doc.Table, ".fits") + "_report"
		err = errors.Join(os.MkdirAll(dir, 0o777), page.Page(d.Page(0)).Save(dir))
		doc.Report = filepath.Join(dir, "report.html")
	}
	if out != nil {
		doc.Fibers, doc.Fitted, doc.Warned, doc.Misfits = out.Fibers, out.Fitted, out.Warned, out.Misfits
		if d.first == nil {
			d.first = out.FirstFail
		}
	}
	doc.Status = "SUCCESS"
	return err
}

// draw writes the picture of a star.
func (d *desiFit) draw(id int64, star *spectra.Star, o *fitfile.Outcome) {
	f, err := report.Star(star, &o.Fit)
	if err == nil {
		err = os.MkdirAll(d.f.FigureDir, 0o777)
	}
	var b []byte
	if err == nil {
		b, err = f.Encode(".png")
	}
	if err == nil {
		err = frame.WriteFile(filepath.Join(d.f.FigureDir, fmt.Sprintf("%s_%d.png", d.f.FigurePrefix, id)), b)
	}
	if err != nil {
		d.say("no picture of target %d: %v", id, err)
	}
}

// status adds a line to the status file.
func (d *desiFit) status(doc *desiFileDoc) error {
	if d.f.Status == "" || doc.Status == "ELSEWHERE" {
		return nil
	}
	f, err := os.OpenFile(d.f.Status, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	_, err = fmt.Fprintf(f, "%s %s %d %.2f\n", doc.File, doc.Status, doc.Fibers, doc.Seconds)
	return exit.With(exit.CannotWrite, errors.Join(err, f.Close()))
}

// queue fits the files of a queue, whose lines processes take away one by one.
func (d *desiFit) queue(ctx context.Context) error {
	for {
		name, err := pop(ctx, d.f.Queue)
		if err != nil || name == "" {
			return err
		}
		if err := d.one(ctx, name); err != nil {
			if ctx.Err() != nil {
				if e := putBack(d.f.Queue, name); e != nil {
					return fmt.Errorf("%w; %s could not be put back into %s: %w", err, name, d.f.Queue, e)
				}
			}
			return err
		}
	}
}

// The queue file is renamed while a process changes it, as rvspecfit does, so that both can share one.
const queuePatience = 200 * time.Millisecond

// locked calls change with the lines of a queue and writes what it returns.
func locked(ctx context.Context, queue string, change func(lines []string) []string) error {
	host, _ := os.Hostname()
	mine := fmt.Sprintf("%s.%s.%d", queue, host, os.Getpid())
	for try := 0; ; try++ {
		err := os.Rename(queue, mine)
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrNotExist) {
			return exit.With(exit.CannotWrite, err)
		}
		if try == 0 {
			continue
		}
		if try > 300 {
			return &exit.Error{Code: exit.NoInput, Err: fmt.Errorf("%s does not exist; it was waited for during %v", queue, 300*queuePatience), Hint: heldQueue(queue)}
		}
		select {
		case <-ctx.Done():
			return exit.With(exit.Interrupted, context.Cause(ctx))
		case <-time.After(queuePatience):
		}
	}
	lines, err := linesOf(mine)
	if err == nil {
		text := strings.Join(change(lines), "\n")
		if text != "" {
			text += "\n"
		}
		err = frame.WriteFile(mine, []byte(text))
	}
	return errors.Join(err, exit.With(exit.CannotWrite, os.Rename(mine, queue)))
}

// heldQueue says what to do about a queue that is not there.
func heldQueue(queue string) string {
	found, err := filepath.Glob(queue + ".*")
	if err != nil || len(found) == 0 {
		return "another --queue-file"
	}
	return fmt.Sprintf("if no process works on it any more, rename %s to %s", found[0], queue)
}

// pop takes the first line of a queue away; "" if it is empty.
func pop(ctx context.Context, queue string) (name string, err error) {
	err = locked(ctx, queue, func(lines []string) []string {
		if len(lines) == 0 {
			return nil
		}
		name = lines[0]
		return lines[1:]
	})
	return name, err
}

// putBack makes a name the first line of a queue.
func putBack(queue, name string) error {
	return locked(context.Background(), queue, func(lines []string) []string { return append([]string{name}, lines...) })
}

// why says why the first fiber without a fit has none, if this run knows.
func (d *desiFit) why() string {
	if d.first == nil {
		return ""
	}
	return ", first " + d.first.Error()
}

// verdict returns an error if files failed, or if no fiber of any could be fitted.
func (d *desiFit) verdict() error {
	failed, fibers, fitted, misfits, read := 0, 0, 0, 0, 0
	var first desiFileDoc
	for _, f := range d.doc.Files {
		fibers, fitted, misfits = fibers+f.Fibers, fitted+f.Fitted, misfits+f.Misfits
		if f.Status == "SUCCESS" {
			read++
		}
		if f.Status == "FAILURE" {
			if failed == 0 {
				first = f
			}
			failed++
		}
	}
	if len(d.doc.Files) > 1 {
		d.say("%s: %s, %d fitted, in %d the model disagrees with the data", errtext.Count(len(d.doc.Files), "file"), errtext.Count(fibers, "fiber"), fitted, misfits)
	}
	switch {
	case failed > 0 && len(d.doc.Files) == 1:
		return exit.With(first.code(), errors.New(first.named()))
	case failed > 0:
		return exit.With(first.code(), fmt.Errorf("%d of %d files failed; the first is %s", failed, len(d.doc.Files), first.named()))
	case fibers == 0 && read > 0 && read == len(d.doc.Files):
		return exit.With(exit.Data, errors.New("no fiber was selected: the flags that select fibers, such as --targetid, --objtypes and --minsn, leave none"))
	case d.Strict && misfits+fibers-fitted > 0:
		return exit.With(exit.Failed, fmt.Errorf("of %d fibers, %d could not be fitted, and in %d the model disagrees with the data", fibers, fibers-fitted, misfits))
	}
	return nil
}
