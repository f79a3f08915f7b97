// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/models/xpcs/reduce"
)

// intensityFlags are the flags of reduce intensity.
type intensityFlags struct {
	Window, Every int
	Spectrum      bool
	Cut           float64
}

func (a *app) reduceIntensity() *cobra.Command {
	var f intensityFlags
	c := &cobra.Command{
		Use:   "intensity RESULT.hdf [OUT.csv]",
		Short: "Extract the intensity against time, or its spectrum",
		Long: `Extract the intensity of the frames (counts per pixel) against time (s). The
table holds its moving average over --window frames, thinned to every n-th point
with --every; or, with --spectrum, the modulus of its Fourier transform against
frequency (Hz), with the mean removed. Lines of the spectrum that exceed --cut
times its median are reported. They come from vibrations or from pulsations of
the source, and they also appear in g2.

The table is written to OUT.csv if it is given, or else to standard output.

  euryale reduce intensity A003_results.hdf trace.csv --window 50 --every 10
  euryale reduce intensity A003_results.hdf spectrum.csv --spectrum
`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error { return a.runReduceIntensity(args, f) },
	}
	s := c.Flags()
	s.IntVar(&f.Window, "window", 1, "number of frames in the moving average")
	s.IntVar(&f.Every, "every", 1, "keep every n-th point of the moving average")
	s.BoolVar(&f.Spectrum, "spectrum", false, "write the spectrum instead of the intensities")
	s.Float64Var(&f.Cut, "cut", 8, "height above which a line of the spectrum is reported, in medians of the spectrum")
	return c
}

// intensityDoc is the JSON document of reduce intensity.
type intensityDoc struct {
	Engine    string        `json:"engine"`
	File      string        `json:"file"`
	Step      number        `json:"step_s"` // from one frame to the next
	Window    int           `json:"window"`
	Time      []number      `json:"time_s"`
	Mean      []number      `json:"mean"`
	Frequency []number      `json:"frequency_hz,omitempty"`
	Amplitude []number      `json:"amplitude,omitempty"`
	Lines     []spectralDoc `json:"lines"`
}

// spectralDoc is a line of a spectrum.
type spectralDoc struct {
	Frequency number `json:"frequency_hz"`
	Amplitude number `json:"amplitude"`
}

func (a *app) runReduceIntensity(args []string, f intensityFlags) error {
	out, files, err := a.tableFile("reduce intensity", args)
	if err != nil {
		return err
	}
	if len(files) != 1 || !(f.Cut > 0) {
		return usage("reduce intensity: got %d result files and --cut %g: want one file and a positive cut; the output must end in .csv", len(files), f.Cut)
	}
	doc, err := f.reduce(files[0])
	if err != nil {
		return err
	}
	for _, l := range doc.Lines {
		a.note("the spectrum has a line at %.6g Hz", float64(l.Frequency))
	}
	table := sideBySide("time (s)", []column{{"mean (counts per pixel)", doc.Time, doc.Mean}})
	if f.Spectrum {
		table = sideBySide("frequency (Hz)", []column{{"amplitude", doc.Frequency, doc.Amplitude}})
	}
	return a.tabled(out, table, doc)
}

// reduce computes the moving average and the spectrum of a file.
func (f intensityFlags) reduce(name string) (*intensityDoc, error) {
	r, err := nexus.Open(name)
	if err != nil {
		return nil, input(err)
	}
	defer r.Close()
	if r.Trace == nil || len(r.Trace.Mean) < 2 {
		return nil, as(exitData, fmt.Errorf("%s has no intensity against time: want the dataset /xpcs/spatial_mean/intensity_vs_time", name))
	}
	t := r.Trace
	step := (t.Frame[1] - t.Frame[0]) * r.FrameTime
	at, mean, err := reduce.Smooth(t.Mean, f.Window, f.Every)
	if err != nil {
		return nil, usage("%w", err)
	}
	frequency, amplitude, err := reduce.Spectrum(t.Mean, step)
	if err != nil {
		return nil, as(exitData, fmt.Errorf("%s: %w", name, err))
	}
	doc := &intensityDoc{Engine: "xpcs", File: name, Step: number(step), Window: f.Window, Mean: numbers(mean), Lines: []spectralDoc{}}
	for _, i := range at { // of the middle of the window
		doc.Time = append(doc.Time, number(t.Frame[i]*r.FrameTime-step*float64(f.Window-1)/2))
	}
	for _, i := range reduce.Lines(amplitude, f.Cut) {
		doc.Lines = append(doc.Lines, spectralDoc{number(frequency[i]), number(amplitude[i])})
	}
	if f.Spectrum {
		doc.Frequency, doc.Amplitude = numbers(frequency), numbers(amplitude)
	}
	return doc, nil
}
