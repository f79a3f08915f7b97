// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data"
	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/setting"
	sim "github.com/euryale-dev/euryale/sim/xpcs"
)

// imageFlags say how the image of a detector is read.
type imageFlags struct {
	Dataset string
	Format  string
	Type    string
	Frames  int
	limit   *frame.PixelLimit
	compact bool // whether the image may be in single precision
}

func (f *imageFlags) add(c *cobra.Command) {
	s := c.Flags()
	f.limit = frame.AddPixelLimit(c)
	s.StringVar(&f.Dataset, "dataset", "", "path of the image, the frames or the mask in HDF5 files (default: the usual places)")
	s.StringVar(&f.Format, "format", "", "format of frames: "+setting.Listed(frames.Formats())+"; raw needs --shape (default: detected from the file)")
	s.StringVar(&f.Type, "type", "", "number type of raw files, such as <u2, >u4 or f4 (default <u2)")
	s.IntVar(&f.Frames, "frames", 100, "number of frames to average into the image, from the first")
	frame.CompleteFlag(c, "format", frames.Formats())
}

// read reads the image of a detector: the mean of a result file, a picture, or the mean of the first frames of a movie. The shape is
// that of the flag --shape, for raw files.
func (f *imageFlags) read(name, shape string) (*maskfile.Image, error) {
	if f.Frames < 1 {
		return nil, exit.Usage("--frames %d: want 1 or more", f.Frames)
	}
	if f.Format == "" && f.Dataset == "" {
		if m := resultImage(name); m != nil {
			return m, nil
		}
	}
	var picture error
	if f.Format == "" && f.Dataset == "" && !f.isFrames(name) || f.Format == "" && f.Dataset != "" {
		m, err := maskfile.ReadImage(name, maskfile.Settings{Key: f.Dataset, MaxPixels: f.limit.Pixels(), Compact: f.compact})
		if err == nil {
			return m, nil
		}
		if bad := (*data.FormatError)(nil); errors.As(err, &bad) && bad.Format == "hdf5" { // the dataset is there and damaged
			return nil, exit.Input(err)
		}
		picture = err
	}
	if picture != nil && maskfile.NoFrames(name) {
		return nil, exit.Input(picture)
	}
	m, err := f.mean(name, shape)
	if err != nil && picture != nil && strings.EqualFold(filepath.Ext(name), ".npy") && !strings.Contains(picture.Error(), " axes") { // it is no movie
		err = picture
	}
	if err != nil && picture != nil && strings.Contains(picture.Error(), "datasets have two axes") {
		err = fmt.Errorf("%w, and it does not contain exactly one image: name the dataset with --dataset", err)
	}
	return m, exit.Input(err)
}

// isFrames reports whether a file is HDF5 with frames. Beside them it may hold pictures that are not their mean, such as the bad
// pixels of the detector or its flat field.
func (f *imageFlags) isFrames(name string) bool {
	movie, err := frames.Open(name, frames.Settings{MaxPixels: f.limit.Pixels()})
	if err != nil {
		return false
	}
	defer movie.Close()
	return movie.Format == "hdf5"
}

// resultImage returns the mean image of a result file, or nil.
func resultImage(name string) *maskfile.Image {
	r, err := nexus.Open(name)
	if err != nil {
		return nil
	}
	defer r.Close()
	m, err := r.ReadImage()
	if err != nil {
		return nil
	}
	return &maskfile.Image{Height: m.Rows, Width: m.Cols, Values: m.Data}
}

// mostMissing is the share of frames in which a pixel may have no number and still have a mean.
const mostMissing = 0.05

// mean returns the mean of the first frames, in each pixel over those in which it is a number: NaN is a pixel that is none in more than
// one frame in twenty, such as one that is often full. Frames of which most pixels are no numbers do not count.
func (f *imageFlags) mean(name, shape string) (*maskfile.Image, error) {
	s := frames.Settings{Format: f.Format, Dataset: f.Dataset, Type: f.Type, MaxPixels: f.limit.Pixels()}
	if shape != "" {
		var err error
		if s.Height, s.Width, err = shapeOf("shape", shape); err != nil {
			return nil, err
		}
	}
	movie, err := frames.Open(name, s)
	if err != nil {
		return nil, err
	}
	defer movie.Close()
	n := min(f.Frames, movie.Frames)
	switch {
	case n < 1:
		return nil, fmt.Errorf("%s has no complete frame: use a file with at least one", name)
	}
	m := &maskfile.Image{Height: movie.Height, Width: movie.Width, Values: make([]float64, movie.Height*movie.Width)}
	one, good := make([]float32, len(m.Values)), 0
	var missing []uint32 // frames in which each pixel is no number; nil until one is
	for k := range n {
		if err := movie.Dense(k, one); err != nil {
			return nil, err
		}
		if blank(one) {
			continue
		}
		good++
		for i, v := range one {
			if v == v {
				m.Values[i] += float64(v)
				continue
			}
			if missing == nil {
				missing = make([]uint32, len(m.Values))
			}
			missing[i]++
		}
	}
	for i := range m.Values {
		numbers := good
		if missing != nil {
			numbers -= int(missing[i])
		}
		if m.Values[i] /= float64(numbers); float64(numbers) < (1-mostMissing)*float64(good) {
			m.Values[i] = math.NaN()
		}
	}
	return m, nil
}

// blank reports whether most pixels of a frame are no numbers.
func blank(frame []float32) bool {
	none := 0
	for _, v := range frame {
		if v != v {
			none++
		}
	}
	return 2*none > len(frame)
}

// fitShape gives a geometry the shape of an image; one that has another is an error.
func fitShape(g *sim.Geometry, m *maskfile.Image, name string) error {
	if g.Height != 0 && (g.Height != m.Height || g.Width != m.Width) {
		return exit.With(exit.Data, fmt.Errorf("%s has %d x %d pixels, but the geometry has %d x %d: use the geometry of this detector", name, m.Height, m.Width, g.Height, g.Width))
	}
	g.Height, g.Width = m.Height, m.Width
	return nil
}
