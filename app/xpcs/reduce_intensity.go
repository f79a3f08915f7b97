// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/models/xpcs/reduce"
)

// intensityFlags are the flags of reduce intensity.
type intensityFlags struct {
	Window, Every int
	Spectrum      bool
	Cut           float64
}

func reduceIntensity(a *frame.App) *cobra.Command {
	var f intensityFlags
	c := &cobra.Command{
		Use:   "intensity RESULT.hdf [OUT.csv|.xlsx|.parquet]",
		Short: "Extract the intensity against time, or its spectrum",
		Long: `Extract the intensity of the frames (counts per pixel) against time (s). The
table holds its moving average over --window frames, thinned to every n-th point
with --every; or, with --spectrum, the modulus of its Fourier transform against
frequency (Hz), with the mean removed. Lines of the spectrum that exceed --cut
times its median are reported. They come from vibrations or from pulsations of
the source, and they also appear in g2.

The table is written to the file that is named last, in the format of its
extension, or else to standard output.

  euryale reduce intensity A003_results.hdf trace.csv --window 50 --every 10
  euryale reduce intensity A003_results.hdf spectrum.csv --spectrum
`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if !f.Spectrum {
				if err := frame.Ignored(c, "--spectrum", "cut"); err != nil {
					return err
				}
			}
			return runReduceIntensity(a, args, f)
		},
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
	Engine    string         `json:"engine"`
	File      string         `json:"file"`
	Step      frame.Number   `json:"step_s"` // from one frame to the next
	Window    int            `json:"window"`
	Time      []frame.Number `json:"time_s"`
	Mean      []frame.Number `json:"mean"`
	Frequency []frame.Number `json:"frequency_hz,omitempty"`
	Amplitude []frame.Number `json:"amplitude,omitempty"`
	Lines     []spectralDoc  `json:"lines"`
}

// spectralDoc is a line of a spectrum.
type spectralDoc struct {
	Frequency frame.Number `json:"frequency_hz"`
	Amplitude frame.Number `json:"amplitude"`
}

func runReduceIntensity(a *frame.App, args []string, f intensityFlags) error {
	out, files, err := a.TableFile("reduce intensity", args)
	if err != nil {
		return err
	}
	if len(files) != 1 || !(f.Cut > 0) {
		return exit.Usage("reduce intensity: got %d result files and --cut %g: want one file and a positive cut; the output must end in .csv, .xlsx or .parquet", len(files), f.Cut)
	}
	doc, err := f.reduce(files[0])
	if err != nil {
		return err
	}
	for _, l := range doc.Lines {
		a.Note("the spectrum has a line at %.6g Hz", float64(l.Frequency))
	}
	table := sideBySide("time (s)", []column{{"mean (counts per pixel)", doc.Time, doc.Mean}})
	if f.Spectrum {
		table = sideBySide("frequency (Hz)", []column{{"amplitude (counts per pixel, summed)", doc.Frequency, doc.Amplitude}})
	}
	return a.Tabled(out, table, doc)
}

// reduce computes the moving average and the spectrum of a file.
func (f intensityFlags) reduce(name string) (*intensityDoc, error) {
	r, err := nexus.Open(name)
	if err != nil {
		return nil, exit.Input(err)
	}
	defer r.Close()
	if r.Trace == nil || len(r.Trace.Mean) < 2 {
		return nil, exit.With(exit.Data, fmt.Errorf("%s has no intensity against time: want the dataset /xpcs/spatial_mean/intensity_vs_time", name))
	}
	t := r.Trace
	step := (t.Frame[1] - t.Frame[0]) * r.FrameTime
	at, mean, err := reduce.Smooth(t.Mean, f.Window, f.Every)
	if err != nil {
		return nil, exit.Usage("%w", err)
	}
	frequency, amplitude, err := reduce.Spectrum(t.Mean, step)
	if err != nil {
		return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", name, err))
	}
	doc := &intensityDoc{Engine: "xpcs", File: name, Step: frame.Number(step), Window: f.Window, Mean: frame.Numbers(mean), Lines: []spectralDoc{}}
	for _, i := range at { // of the middle of the window
		doc.Time = append(doc.Time, frame.Number(t.Frame[i]*r.FrameTime-step*float64(f.Window-1)/2))
	}
	for _, i := range reduce.Lines(amplitude, f.Cut) {
		doc.Lines = append(doc.Lines, spectralDoc{frame.Number(frequency[i]), frame.Number(amplitude[i])})
	}
	if f.Spectrum {
		doc.Frequency, doc.Amplitude = frame.Numbers(frequency), frame.Numbers(amplitude)
	}
	return doc, nil
}
