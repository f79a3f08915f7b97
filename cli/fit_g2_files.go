// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

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
func (a *app) runFitG2Files(ctx context.Context, files []string, f g2flags, bins string) error {
	model, s, err := f.settings()
	if err != nil {
		return err
	}
	taken := map[string]string{}
	for _, file := range files {
		if other, ok := taken[fitFolder(file)]; ok && a.out != "" {
			return usage("the fits of %s and %s would both go to %s: fit them in two commands with different --out", other, file, filepath.Join(a.out, fitFolder(file)))
		}
		taken[fitFolder(file)] = file
	}
	if a.out != "" {
		if err := mayReplace(filepath.Join(a.out, "fits.csv"), "file", a.overwrite); err != nil {
			return err
		}
	}
	doc := fitsDoc{Engine: "g2", Model: model.Name, Files: []fitFileDoc{}}
	var first, verdict error
	failed := 0
	for _, file := range files {
		d := fitFileDoc{File: file, Status: "fitted", Bins: []binDoc{}}
		if a.out != "" {
			d.Folder = filepath.Join(a.out, fitFolder(file))
		}
		one, fits, err := a.fitG2File(ctx, file, d.Folder, model, s, bins)
		if ctx.Err() != nil {
			return as(exitInterrupted, ctx.Err())
		}
		if err == nil {
			d.Device, d.Bins = one.Device, one.Bins
			err = verdictOn(fits, false)
			if v := verdictOn(fits, a.strict); err == nil && verdict == nil && v != nil {
				verdict = fmt.Errorf("%s: %w", file, v)
			}
		}
		a.say("%s", file)
		if err != nil {
			d.Status, d.Message, d.Folder = "failed", errorText(err, files), ""
			a.say("  failed: %s", errorText(err, files))
			if failed++; first == nil {
				first = err
			}
		} else if !a.json {
			report.WriteFits(a.stdout, model, fits)
			a.say("")
		}
		doc.Files = append(doc.Files, d)
	}
	if a.out != "" && failed < len(files) {
		if err := writeFile(filepath.Join(a.out, "fits.csv"), fitsTable(model, doc)); err != nil {
			return err
		}
	}
	if a.json {
		if err := a.document(doc); err != nil {
			return err
		}
	}
	if first != nil {
		return as(codeOf(first), fmt.Errorf("%d of %d files failed; the first error: %w", failed, len(files), first))
	}
	return as(exitFailed, verdict)
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
	text := func(v number) string { return strconv.FormatFloat(float64(v), 'g', -1, 64) }
	for _, f := range doc.Files {
		for _, bin := range f.Bins {
			row := []string{f.File, strconv.Itoa(bin.Bin), text(bin.Q), text(bin.Phi)}
			for _, p := range model.Params {
				row = append(row, text(bin.X[p.Name]), text(bin.SD[p.Name]))
			}
			verdict := ""
			if bin.Check != nil {
				verdict = bin.Check.word
			}
			w.Write(append(row, text(bin.Reduced), bin.Status, verdict))
		}
	}
	w.Flush()
	return b.Bytes()
}
