// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/report"
)

// fitsDoc is the JSON document of fit g2 of several files.
type fitsDoc struct {
	Engine string       `json:"engine"`
	Model  string       `json:"model"`
	Files  []fitFileDoc `json:"files"`
}

// fitFileDoc is what is told of one file.
type fitFileDoc struct {
	File    string   `json:"file"`
	Status  string   `json:"status"` // fitted or failed
	Message string   `json:"message,omitempty"`
	Folder  string   `json:"folder,omitempty"`
	Device  string   `json:"device,omitempty"`
	Bins    []binDoc `json:"bins"`
}

// fitFolder returns the name of the folder of a file's fits.
func fitFolder(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(strings.TrimSuffix(base, filepath.Ext(base)), "_results")
}

// runFitG2Files fits several files one after another.
func runFitG2Files(ctx context.Context, a *frame.App, files []string, f g2.Request, bins string) error {
	model, s, err := f.Resolve()
	if err != nil {
		return frame.SettingError(err)
	}
	taken := map[string]string{}
	for _, file := range files {
		if other, ok := taken[fitFolder(file)]; ok && a.Out != "" {
			return exit.Usage("the fits of %s and %s would both go to %s: fit them in two commands with different --out", other, file, filepath.Join(a.Out, fitFolder(file)))
		}
		taken[fitFolder(file)] = file
	}
	if a.Out != "" {
		if err := frame.MayReplace(filepath.Join(a.Out, "fits.csv"), "file", a.Overwrite); err != nil {
			return err
		}
	}
	doc := fitsDoc{Engine: "g2", Model: model.Name, Files: []fitFileDoc{}}
	var first, verdict error
	failed := 0
	for _, file := range files {
		d := fitFileDoc{File: file, Status: "fitted", Bins: []binDoc{}}
		if a.Out != "" {
			d.Folder = filepath.Join(a.Out, fitFolder(file))
		}
		one, fits, err := fitG2File(ctx, a, file, d.Folder, model, s, bins)
		if ctx.Err() != nil {
			return exit.With(exit.Interrupted, ctx.Err())
		}
		if err == nil {
			d.Device, d.Bins = one.Device, one.Bins
			err = verdictOn(fits, false)
			if v := verdictOn(fits, a.Strict); err == nil && verdict == nil && v != nil {
				verdict = fmt.Errorf("%s: %w", file, v)
			}
		}
		say(a, "%s", file)
		if err != nil {
			d.Status, d.Message, d.Folder = "failed", exit.Text(err, files), ""
			say(a, "  failed: %s", exit.Text(err, files))
			if failed++; first == nil {
				first = err
			}
		} else if !a.JSON {
			report.WriteFits(a.Stdout, model, fits)
			say(a, "")
		}
		doc.Files = append(doc.Files, d)
	}
	if a.Out != "" && failed < len(files) {
		if err := frame.WriteFile(filepath.Join(a.Out, "fits.csv"), fitsTable(model, doc)); err != nil {
			return err
		}
	}
	if a.JSON {
		if err := a.Document(doc); err != nil {
			return err
		}
	}
	if first != nil {
		return exit.With(exit.CodeOf(first), fmt.Errorf("%d of %d files failed; the first error: %w", failed, len(files), first))
	}
	return exit.With(exit.Failed, verdict)
}

// fitsTable returns a table with a row for each bin of each file.
func fitsTable(model g2.Model, doc fitsDoc) []byte {
	var b bytes.Buffer
	w := foreign.CSV(&b)
	head := []string{"file", "bin", "q", "phi"}
	for _, p := range model.Params {
		head = append(head, p.Name, p.Name+"_sd")
	}
	w.Write(append(head, "chi2_reduced", "status", "model"))
	text := func(v frame.Number) string { return strconv.FormatFloat(float64(v), 'g', -1, 64) }
	for _, f := range doc.Files {
		for _, bin := range f.Bins {
			row := []string{f.File, strconv.Itoa(bin.Bin), text(bin.Q), text(bin.Phi)}
			for _, p := range model.Params {
				row = append(row, text(bin.X[p.Name]), text(bin.SD[p.Name]))
			}
			verdict := ""
			if bin.Check != nil {
				verdict = bin.Check.Word
			}
			w.Write(append(row, text(bin.Reduced), bin.Status, verdict))
		}
	}
	w.Flush()
	return b.Bytes()
}
