// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"os"

	"github.com/euryale-dev/euryale/data/maskfile"
)

// picturesName is the format of pictures as frames.
const picturesName = "pictures"

func init() {
	register(picturesName, format{extensions: maskfile.StackEndings, open: openPictures})
}

// album is a stack of pictures as frames.
type album struct {
	*maskfile.Stack
	marked func(v float32) bool // tells the marks that the frames have; nil for none
}

var (
	_ source   = (*album)(nil)
	_ markable = (*album)(nil)
)

func openPictures(f *File, in *os.File, _ int64, _ Settings) error {
	k, err := maskfile.OpenStack(f.Name, maskfile.Settings{MaxPixels: f.most})
	if err != nil {
		return err
	}
	if err := f.size(k.Height, k.Width); err != nil {
		k.Close()
		return err
	}
	in.Close() // the stack has opened it again
	f.Frames, f.Mark, f.source = k.Images, k.Mark(), &album{Stack: k}
	return nil
}

func (a *album) dense(first int, dst []float32) error {
	pixels := a.Height * a.Width
	for i := 0; i < len(dst); i += pixels {
		if err := a.picture(first+i/pixels, dst[i:i+pixels]); err != nil {
			return err
		}
	}
	return nil
}

// picture reads one picture, with NaN where its numbers are marks.
func (a *album) picture(k int, dst []float32) error {
	mark := a.Mark()
	err := a.Read(k, func(i int, v float64) {
		dst[i] = float32(v)
		if v == mark && mark > 0 {
			dst[i] = nan
		}
	})
	withoutMarks(dst, a.marked)
	return err
}

func (a *album) events(first, n int, dst *Events) error {
	return fromDense(a, a.Height*a.Width, first, n, dst)
}

func (a *album) close() error { return a.Close() }

func (a *album) mark(is func(v float32) bool) { a.marked = is }

func (a *album) class() int { return numberTypes[a.Type].class }
