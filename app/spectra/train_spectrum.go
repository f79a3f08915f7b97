// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/spectra"
)

// trainSpectrumFlags are the flags of train spectrum.
type trainSpectrumFlags struct {
	setups   []string
	settings spectra.TrainSettings
	noPCA    bool
	minutes  float64
}

func trainSpectrum(a *frame.App) *cobra.Command {
	var f trainSpectrumFlags
	c := &cobra.Command{
		Use:   "spectrum LIBRARY OUT",
		Short: "Train networks that interpolate template spectra",
		Long: `Train a neural network for each arm of a library of template spectra. The
network maps the parameters of a star to its spectrum, smoothly where
interpolation on a grid has kinks. LIBRARY is a folder of rvspecfit or a file in
the open format, with a grid, a triangulation or plain templates. OUT is a
folder or a file OUT.h5; fit spectra reads both.

Training ends when the loss, the mean error of the log spectra relative to their
spread, no longer falls. If the command is interrupted or killed, its state
stays beside OUT, and the same command continues with exactly the same results.

  euryale train spectrum templates networks
  euryale train spectrum lib.h5 nn.h5 --width 128 --npc 100 --num-epochs 20000
`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return runTrainSpectrum(c.Context(), a, args[0], args[1], f)
		},
	}
	c.Flags().SetNormalizeFunc(underscores)
	s, t := c.Flags(), &f.settings
	s.StringSliceVar(&f.setups, "setup", nil, "arms to train (default all)")
	s.IntVar(&t.Width, "width", 256, "width of the hidden layers")
	s.IntVar(&t.Hidden, "nlayers", 2, "number of hidden layers")
	s.IntVar(&t.Components, "npc", 200, "width of the last hidden layer, at most the number of templates")
	s.IntVar(&t.Batch, "batch", 100, "number of templates per update")
	s.Float64Var(&t.LR, "learning-rate", 1e-3, "initial learning rate of Adam")
	s.IntVar(&t.Patience, "patience", 40, "number of epochs without a lower loss after which the learning rate is halved")
	s.IntVar(&t.Epochs, "num-epochs", 1000000, "largest number of epochs")
	s.Float64Var(&t.Validation, "validation", 0, "fraction of the templates to hold out for validation, below 0.5")
	s.BoolVar(&f.noPCA, "no-pca-init", false, "start the last layer from random weights (default: from principal components)")
	return c
}

// networkDoc is what is told of one network.
type networkDoc struct {
	Setup     string       `json:"setup"`
	Templates int          `json:"templates"`
	Epochs    int          `json:"epochs"`
	Loss      frame.Number `json:"loss"`
	Converged bool         `json:"converged"`
	Median    frame.Number `json:"error_median_percent"` // of the flux of a pixel
	Most      frame.Number `json:"error_q99_percent"`
	Worst     frame.Number `json:"error_max_percent"`
	Seconds   float64      `json:"seconds"`
	Verdict   string       `json:"verdict"`
}

// libraryOf reads all arms of a library. For training it prefers their templates to networks.
func libraryOf(name string, setups []string, training bool) (arms []*rvspecfit.Library, ccfs []*rvspecfit.CCF, err error) {
	if _, err := os.Stat(name); err != nil {
		return nil, nil, err
	}
	c, err := rvspecfit.OpenLibrary(name)
	if err != nil {
		return nil, nil, err
	}
	if c.Format != rvspecfit.FolderFormat {
		return partOf(name, c, setups)
	}
	if len(setups) == 0 {
		for _, pre := range []string{"interp_", "specs_"} {
			found, err := filepath.Glob(filepath.Join(name, pre+"*.h5"))
			if err != nil {
				return nil, nil, err
			}
			for _, f := range found {
				s := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), pre), ".h5")
				if !slices.Contains(setups, s) {
					setups = append(setups, s)
				}
			}
		}
		slices.Sort(setups)
	}
	if len(setups) == 0 {
		return nil, nil, fmt.Errorf("%s has no interp_SETUP.h5 or specs_SETUP.h5, so it is not a template library", name)
	}
	for _, s := range setups {
		l, err := rvspecfit.Load(name, s)
		if file := filepath.Join(name, "specs_"+s+".h5"); (err != nil || training && l.Network != nil) && foreign.Exists(file) {
			l, err = rvspecfit.LoadTemplates(file, s)
		}
		if err != nil {
			return nil, nil, err
		}
		arms = append(arms, l)
		for _, continuum := range []bool{true, false} {
			c, err := rvspecfit.LoadCCF(name, s, continuum)
			if err == nil {
				ccfs = append(ccfs, c)
			} else if !errors.Is(err, fs.ErrNotExist) {
				return nil, nil, err
			}
		}
	}
	return arms, ccfs, nil
}

// partOf reads some arms of a library, or all of them if none are named, with all of their templates for cross-correlation.
func partOf(name string, c *rvspecfit.Contents, setups []string) (arms []*rvspecfit.Library, ccfs []*rvspecfit.CCF, err error) {
	names, err := c.Arms()
	if err != nil {
		return nil, nil, err
	}
	if len(setups) > 0 {
		if names = slices.DeleteFunc(names, func(s string) bool { return !slices.Contains(setups, s) }); len(names) != len(setups) {
			return nil, nil, fmt.Errorf("%s does not have all of the arms %s", name, strings.Join(setups, ", "))
		}
	}
	if arms, err = c.Read(names); err != nil || c.Correlation == nil {
		return arms, nil, err
	}
	for _, s := range names {
		for _, continuum := range []bool{true, false} {
			found, err := c.Correlation([]string{s}, continuum)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, nil, err
			}
			ccfs = append(ccfs, slices.DeleteFunc(found, func(c *rvspecfit.CCF) bool { return c == nil })...)
		}
	}
	return arms, ccfs, nil
}

// templatesOf returns mapped parameters and log spectra of the templates of an arm.
func templatesOf(l *rvspecfit.Library) (points, logFlux []float64, err error) {
	if l.Network != nil || l.Spectra == nil {
		return nil, nil, fmt.Errorf("arm %s is a network and has no templates: train on the library that it was trained on", l.Setup)
	}
	dim, n := l.Points.Shape()[0], l.Points.Shape()[1]
	v := l.Points.Float64s()
	set := l.Grid == nil && l.Triangulation == nil
	for i := range n {
		for k := range dim {
			x := v[k*n+i]
			if set && slices.Contains(l.Mapper.Log, k) {
				x = math.Log10(x)
			}
			points = append(points, x)
		}
	}
	logFlux = l.Spectra.Float64s()[:n*len(l.Lam)] // corners of a triangulation follow
	if !l.LogSpec {
		logFlux = slices.Clone(logFlux)
		for i, x := range logFlux {
			logFlux[i] = math.Log(x)
		}
	}
	return points, logFlux, nil
}

const trainKind, trainVersion = "SPECTRUM-TRAINING", 1

func runTrainSpectrum(ctx context.Context, a *frame.App, name, out string, f trainSpectrumFlags) error {
	t := f.settings
	t.RandomStart, t.Seed, t.Threads = f.noPCA, a.Seed, a.Threads
	open := strings.HasSuffix(strings.ToLower(out), ".h5")
	if err := mayWriteLibrary(a, out, open, true); err != nil { // what exists is looked at below, because a run may go on
		return err
	}
	arms, ccfs, err := libraryOf(name, f.setups, true)
	if err != nil {
		return exit.Input(err)
	}
	state := strings.TrimSuffix(out, ".h5") + ".training"
	work := ""
	files := []string{out}
	if !open {
		files = nil
	}
	for _, l := range arms {
		points, logFlux, err := templatesOf(l)
		if err != nil {
			return exit.With(exit.Data, err)
		}
		work += trainingKey(l, points, logFlux, t) + "\n"
		if !open {
			files = append(files, filepath.Join(out, "interp_"+l.Setup+".h5"))
		}
	}
	// A run that was killed while it wrote its results has said so before, and writes them again.
	writing := filepath.Join(state, "writing")
	if before, err := foreign.ReadFile(writing); err != nil || string(before) != work {
		for _, file := range files {
			if foreign.Exists(file) && !a.Overwrite {
				return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s exists", file), Hint: "--overwrite, or another name"}
			}
		}
	}
	if err := os.MkdirAll(state, 0o777); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	var trained []*rvspecfit.Library
	docs := []networkDoc{}
	for _, l := range arms {
		lib, doc, err := trainArm(ctx, a, l, t, state)
		if err != nil {
			return err
		}
		trained, docs = append(trained, lib), append(docs, *doc)
		a.Note("%s: %d epochs, loss %.4g; errors of the flux %.2g %% (median), %.2g %% (99 of 100 pixels), %.2g %% (worst). %s", l.Setup, doc.Epochs, float64(doc.Loss), float64(doc.Median), float64(doc.Most), float64(doc.Worst), doc.Verdict)
	}
	err = atomicfile.Write(writing, true, func(w io.Writer) error {
		_, err := io.WriteString(w, work)
		return err
	})
	switch {
	case err != nil:
	case open:
		err = rvspecfit.WriteOpen(out, trained, ccfs)
	default:
		for _, l := range trained {
			if err = saveArm(out, l, nil); err != nil {
				break
			}
		}
		for _, c := range ccfs {
			if err == nil {
				err = c.Save(out)
			}
		}
	}
	if err == nil {
		err = os.RemoveAll(state)
	}
	if err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	if a.JSON {
		return a.Document(map[string]any{"engine": "spectra", "library": out, "networks": docs})
	}
	a.Note("next: euryale fit spectra --library %s FILE uses it", foreign.Typed(out))
	return nil
}

// trainArm trains the network of one arm, from where an earlier run of the same work has ended.
func trainArm(ctx context.Context, a *frame.App, l *rvspecfit.Library, t spectra.TrainSettings, dir string) (*rvspecfit.Library, *networkDoc, error) {
	points, logFlux, err := templatesOf(l)
	if err != nil {
		return nil, nil, exit.With(exit.Data, err)
	}
	dim, n := len(l.ParNames), len(points)/len(l.ParNames)
	key := trainingKey(l, points, logFlux, t)
	t.Components = min(t.Components, n, len(l.Lam))
	file := filepath.Join(dir, l.Setup)
	if t.Resume, err = readTraining(file, key); errors.Is(err, errOtherWork) {
		a.Note("%s: the state in %s is that of other templates or other settings: starting over", l.Setup, file)
	} else if err != nil {
		return nil, nil, err
	}
	if t.Resume != nil {
		a.Note("%s: continuing after epoch %d", l.Setup, t.Resume.Epoch)
	}
	start, told := time.Now(), time.Now()
	t.Progress = func(p spectra.TrainProgress) {
		if time.Since(told) > 5*time.Second {
			told = time.Now()
			a.Note("%s: epoch %d, loss %.4g, learning rate %.2g, %.1f epochs/s", l.Setup, p.Epoch, p.Loss, p.LR, float64(p.Epoch)/time.Since(start).Seconds())
		}
	}
	t.Save = func(s spectra.TrainState) error {
		return atomicfile.Write(file, true, func(w io.Writer) error {
			return checkpoint.Write(w, trainKind, trainVersion, func(e *checkpoint.Encoder) {
				e.String(key)
				e.Value(s)
			})
		})
	}
	r, err := spectra.Train(ctx, points, dim, logFlux, t)
	switch {
	case ctx.Err() != nil && r != nil:
		if err := t.Save(r.TrainState); err != nil {
			return nil, nil, exit.With(exit.CannotWrite, err)
		}
		return nil, nil, &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted in arm %s after epoch %d; the state is kept in %s", l.Setup, r.Epoch, dir), Hint: "the same command, which continues"}
	case err != nil:
		return nil, nil, exit.With(exit.WrongUsage, err)
	}
	doc := &networkDoc{Setup: l.Setup, Templates: n, Epochs: r.Epoch, Loss: frame.Number(r.Loss), Converged: r.Converged, Seconds: time.Since(start).Seconds()}
	if err := doc.judge(r.Network, points, logFlux, dim); err != nil {
		return nil, nil, exit.With(exit.Bug, err)
	}
	templates := &spectra.Templates{Name: l.Setup, Lam: l.Lam, Log: l.LogStep, LogParams: l.Mapper.Log, Interpolator: r.Network}
	lib, err := templates.Files(l.ParNames)
	if err != nil {
		return nil, nil, exit.With(exit.Bug, err)
	}
	lib.Revision, lib.Command = l.Revision, a.Command
	return lib, doc, nil
}

// trainingKey names the work on an arm: its templates and the settings.
func trainingKey(l *rvspecfit.Library, points, logFlux []float64, t spectra.TrainSettings) string {
	n := len(points) / len(l.ParNames)
	return fmt.Sprint(l.Setup, n, len(l.Lam), sum(points), sum(logFlux), t.Width, t.Hidden, min(t.Components, n, len(l.Lam)), t.Batch, t.LR, t.Patience, t.Validation, t.RandomStart, t.Seed)
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// errOtherWork says that a state belongs to other templates or settings.
var errOtherWork = errors.New("other work")

// readTraining returns the state of an earlier run of the same work, nil if there is none, or errOtherWork.
func readTraining(file, key string) (*spectra.TrainState, error) {
	f, err := foreign.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, exit.Input(err)
	}
	defer f.Close()
	var s spectra.TrainState
	same := false
	err = checkpoint.Read(f, trainKind, trainVersion, func(d *checkpoint.Decoder) {
		if same = d.String() == key; same {
			d.Value(&s)
		} else {
			d.Rest()
		}
	})
	if err != nil {
		return nil, &exit.Error{Code: exit.Data, Err: fmt.Errorf("%s: %w", file, err), Hint: "delete it to start again"}
	}
	if !same {
		return nil, errOtherWork
	}
	return &s, nil
}

// judge compares the network with its templates.
func (d *networkDoc) judge(n *spectra.Network, points, logFlux []float64, dim int) error {
	const rows = 64
	x := ad.Input("x", rows, dim)
	log, _ := n.Interpolate(x)
	p, err := ad.Compile([]*ad.Node{log}, ad.Settings{Inputs: []*ad.Node{x}})
	if err != nil {
		return err
	}
	s := p.NewState()
	count, pixels := len(points)/dim, n.Pixels()
	errs := make([]float64, 0, len(logFlux))
	for lo := 0; lo < count; lo += rows {
		m := min(rows, count-lo)
		for i := range rows {
			copy(s.Input(0)[i*dim:(i+1)*dim], points[(lo+min(i, m-1))*dim:])
		}
		if err := s.Run(); err != nil {
			return err
		}
		for i, v := range s.Output(0)[:m*pixels] {
			errs = append(errs, 100*math.Abs(math.Expm1(v-logFlux[lo*pixels+i])))
		}
	}
	slices.Sort(errs)
	at := func(q float64) frame.Number { return frame.Number(errs[int(q*float64(len(errs)-1))]) }
	d.Median, d.Most, d.Worst = at(0.5), at(0.99), at(1)
	switch {
	case !d.Converged:
		d.Verdict = "Training has not converged: give it more epochs."
	case d.Most < 1:
		d.Verdict = "At a signal-to-noise ratio of 100 its errors hide in the noise."
	default:
		d.Verdict = fmt.Sprintf("Above a signal-to-noise ratio of about %.2g its errors show: parameters are biased and verdicts bad. Try a wider network (--width, --npc), or a denser library.", 100/float64(d.Most))
	}
	return nil
}
