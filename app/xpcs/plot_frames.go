// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/report"
)

// plotFramesFlags are the settings of plot frames.
type plotFramesFlags struct {
	framesFlags
	frame  int
	linear bool
}

func plotFrames(a *frame.App) *cobra.Command {
	var f plotFramesFlags
	c := &cobra.Command{
		Use:   "frames FRAMES [OUT.svg|png|pdf]",
		Short: "Draw frames of a detector",
		Long: fmt.Sprintf(`Draw the mean of the frames of a movie, or of %d of them at equal distances if
there are more, over q where the file has the geometry. --frame draws one frame.
Pixels without counts are grey. The picture is written to OUT if it is given, or
else to frames.svg.

  euryale plot frames A003.h5
  euryale plot frames A003.h5 first.png --frame 1 --linear
`, mostAveraged),
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			out, args, err := a.PictureOfOne("frames", args)
			if err != nil {
				return err
			}
			movie, meta, err := f.movie(args[0])
			if err != nil {
				return err
			}
			defer movie.Close()
			title, counts, err := f.counts(c.Context(), movie)
			if err != nil {
				return err
			}
			figure, err := report.Frame(title, counts, movie.Height, movie.Width, meta, f.linear)
			if err != nil {
				return exit.InFile(args[0], err)
			}
			return a.SavePicture("frames", out, figure)
		},
	}
	f.addFormat(c)
	c.Flags().IntVar(&f.frame, "frame", 0, "number of the frame to draw, from 1 (default the mean of all)")
	c.Flags().BoolVar(&f.linear, "linear", false, "linear colours (default logarithmic)")
	return c
}

// mostAveraged is the number of frames of which the mean is drawn.
const mostAveraged = 200

// counts returns what is drawn, and its title.
func (f *plotFramesFlags) counts(ctx context.Context, movie *frames.File) (title string, mean []float64, err error) {
	name := filepath.Base(movie.Name)
	if f.frame < 0 || f.frame > movie.Frames {
		return "", nil, exit.Usage("--frame %d: want a number from 1 to %d", f.frame, movie.Frames)
	}
	which, title := []int{f.frame - 1}, fmt.Sprintf("%s, frame %d of %d", name, f.frame, movie.Frames)
	if f.frame == 0 {
		n := min(movie.Frames, mostAveraged)
		which, title = make([]int, n), fmt.Sprintf("%s, mean of %s", name, errtext.Count(n, "frame"))
		for i := range which {
			which[i] = i * movie.Frames / n
		}
		if n < movie.Frames {
			title += fmt.Sprintf(" of %d", movie.Frames)
		}
	}
	one, mean, seen := make([]float32, movie.Height*movie.Width), make([]float64, movie.Height*movie.Width), make([]float64, movie.Height*movie.Width)
	for _, k := range which {
		if ctx.Err() != nil {
			return "", nil, exit.With(exit.Interrupted, ctx.Err())
		}
		if err := movie.Dense(k, one); err != nil {
			return "", nil, exit.With(exit.Data, err)
		}
		for i, v := range one {
			if v == v {
				mean[i], seen[i] = mean[i]+float64(v), seen[i]+1
			}
		}
	}
	for i := range mean {
		if mean[i] /= seen[i]; seen[i] == 0 {
			mean[i] = math.NaN()
		}
	}
	return title, mean, nil
}
