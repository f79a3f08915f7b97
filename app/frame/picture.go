// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/viz"
)

// PictureFile takes the picture's file name from the end of args, or chooses one.
func (a *App) PictureFile(kind string, args []string) (out string, rest []string, err error) {
	out, rest = kind+".svg", args
	switch last := args[len(args)-1]; strings.ToLower(filepath.Ext(last)) {
	case ".svg", ".png", ".pdf":
		out, rest = last, args[:len(args)-1]
	case ".gif", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".eps", ".ps", ".svgz", ".html":
		if len(args) == 1 { // it is what is drawn
			break
		}
		return "", nil, exit.Usage("plot %s: %s: pictures are written as .svg, .png or .pdf", kind, last)
	}
	if len(rest) == 0 {
		return "", nil, exit.Usage("plot %s needs input: name a folder or files to draw", kind)
	}
	if a.shown != nil {
		return out, rest, nil
	}
	return out, rest, a.MayWrite(out, "file", a.Overwrite)
}

// PictureOfOne is PictureFile for pictures of one file or folder.
func (a *App) PictureOfOne(kind string, args []string) (out string, rest []string, err error) {
	out, rest, err = a.PictureFile(kind, args)
	if err == nil && len(rest) > 1 {
		err = exit.Usage("plot %s: %s: one file is drawn, and pictures are written as .svg, .png or .pdf", kind, rest[1])
	}
	return out, rest, err
}

// SavePicture writes a figure in the format given by the file extension.
func (a *App) SavePicture(kind, out string, f *viz.Figure) error {
	if a.shown != nil {
		a.shown(f)
		return nil
	}
	b, err := f.Encode(filepath.Ext(out))
	if err != nil {
		return exit.Usage("%w", err)
	}
	if err := WriteFile(out, b); err != nil {
		return err
	}
	if a.JSON {
		return a.Document(map[string]string{"plot": kind, "file": out})
	}
	a.Note("wrote %s", out)
	return nil
}

// Draw executes a command line that plots, such as plot g2 A003_results.hdf, and returns its picture in place of writing it. What the
// command says goes to stderr, and the exit code is that of Run; without a picture it is not exit.OK.
func Draw(ctx context.Context, fields []Field, program string, args []string, stderr io.Writer) (f *viz.Figure, code int) {
	a := New(fields, program, io.Discard, stderr)
	a.shown = func(drawn *viz.Figure) { f = drawn }
	code = a.run(ctx, args)
	if f == nil && code == exit.OK {
		code = exit.WrongUsage
	}
	return f, code
}
