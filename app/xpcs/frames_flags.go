// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/internal/setting"
)

// framesFlags are the flags of commands that read frames.
type framesFlags struct {
	frames.Settings
	Shape     string
	Metadata  string
	FrameTime frame.Quantity
	limit     *frame.PixelLimit
}

func (f *framesFlags) add(c *cobra.Command) {
	f.addFormat(c)
	f.FrameTime.Units = frame.TimeUnits
	c.Flags().StringVar(&f.Metadata, "metadata", "", "HDF5 file with the times and the geometry (default the file of the frames and NAME_metadata.hdf beside it)")
	c.Flags().Var(&f.FrameTime, "frame-time", "time between frames, in s or with a unit such as ms or us (default from the metadata)")
}

// addFormat adds the flags that say how frames are stored.
func (f *framesFlags) addFormat(c *cobra.Command) {
	s := c.Flags()
	f.limit = frame.AddPixelLimit(c)
	s.StringVar(&f.Dataset, "dataset", "", "path of the frames in HDF5 files (default: the usual places)")
	s.StringVar(&f.Format, "format", "", "format of the frames: "+setting.Listed(frames.Formats())+" (default: detected from the file)")
	s.StringVar(&f.Shape, "shape", "", "size of a frame as rows x columns, such as 512x1024; for raw and rigaku")
	s.StringVar(&f.Settings.Type, "type", "", "number type of raw files, such as <u2, >u4 or f4 (default <u2)")
	s.Int64Var(&f.Offset, "offset-bytes", 0, "number of bytes before the first frame of a raw file")
	frame.CompleteFlag(c, "format", frames.Formats())
}

var shapePattern = regexp.MustCompile(`^([0-9]+)\s*[xX,]\s*([0-9]+)$`)

// shapeOf reads rows x columns.
func shapeOf(flag, text string) (rows, cols int, err error) {
	m := shapePattern.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, exit.Usage("--%s %q: want rows x columns, such as 512x1024", flag, text)
	}
	rows, err = strconv.Atoi(m[1])
	if err == nil {
		cols, err = strconv.Atoi(m[2])
	}
	if err != nil || rows < 1 || cols < 1 {
		return 0, 0, exit.Usage("--%s %q: want two positive numbers", flag, text)
	}
	return rows, cols, nil
}

// open opens the frames of a file and what is known about the measurement, of which the time between frames must be.
func (f *framesFlags) open(name string) (*frames.File, *frames.Metadata, error) {
	movie, meta, err := f.movie(name)
	if err != nil {
		return nil, nil, err
	}
	if f.FrameTime.Given && f.FrameTime.Value <= 0 {
		movie.Close()
		return nil, nil, exit.Usage("--frame-time %v: want a time above 0", &f.FrameTime)
	}
	if meta.FrameTime = f.FrameTime.Or(meta.FrameTime); math.IsNaN(meta.FrameTime) {
		movie.Close()
		if err := meta.FaultOf("FrameTime"); err != nil {
			return nil, nil, &exit.Error{Code: exit.Data, Err: err, Hint: "--frame-time gives the time between frames in its place"}
		}
		return nil, nil, exit.Usage("%s does not record the time between frames: give --frame-time, or --metadata with a file that has it", name)
	}
	return movie, meta, nil
}

// movie opens the frames of a file and what is known about the measurement.
func (f *framesFlags) movie(name string) (*frames.File, *frames.Metadata, error) {
	s := f.Settings
	s.MaxPixels = f.limit.Pixels()
	if f.Shape != "" {
		var err error
		if s.Height, s.Width, err = shapeOf("shape", f.Shape); err != nil {
			return nil, nil, err
		}
	}
	movie, err := frames.Open(name, s)
	if err != nil {
		return nil, nil, exit.Input(err)
	}
	if s.Type != "" && movie.Format != "raw" {
		movie.Close()
		return nil, nil, exit.Usage("--type %s is the number type of raw files, but %s is %s: leave it out%s", s.Type, name, movie.Format,
			map[bool]string{true: "; --correlation " + s.Type + " chooses the correlation"}[slices.Contains([]string{"multitau", "twotime", "both"}, s.Type)])
	}
	if s.Offset != 0 && movie.Format != "raw" {
		movie.Close()
		return nil, nil, exit.Usage("--offset-bytes is for raw files, but %s is %s: leave it out", name, movie.Format)
	}
	meta := movie.Metadata()
	if f.Metadata != "" {
		own := meta
		if meta, err = frames.ReadMetadata(f.Metadata); err != nil {
			movie.Close()
			return nil, nil, exit.Input(err)
		}
		meta.Complete(own)
	}
	return movie, meta, nil
}
