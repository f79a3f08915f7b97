// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/viz"
)

// pictureFile takes the picture's file name from the end of args, or chooses one.
func (a *app) pictureFile(kind string, args []string) (out string, rest []string, err error) {
	out, rest = kind+".svg", args
	switch last := args[len(args)-1]; strings.ToLower(filepath.Ext(last)) {
	case ".svg", ".png", ".pdf":
		out, rest = last, args[:len(args)-1]
	case ".gif", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".eps", ".ps", ".svgz", ".html":
		return "", nil, usage("plot %s: %s: pictures are written as .svg, .png or .pdf", kind, last)
	}
	if len(rest) == 0 {
		return "", nil, usage("plot %s needs input: name a folder or files to draw", kind)
	}
	if foreign.Exists(out) && !a.overwrite {
		return "", nil, &exitError{code: exitCannotWrite, err: fmt.Errorf("%s exists", out), hint: "--overwrite, or another name"}
	}
	return out, rest, nil
}

// savePicture writes a figure in the format given by the file extension.
func (a *app) savePicture(kind, out string, f *viz.Figure) error {
	b, err := f.Encode(filepath.Ext(out))
	if err != nil {
		return usage("%w", err)
	}
	if err := writeFile(out, b); err != nil {
		return err
	}
	if a.json {
		return a.document(map[string]string{"plot": kind, "file": out})
	}
	a.note("wrote %s", out)
	return nil
}
