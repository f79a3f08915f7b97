// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/table"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/report"
)

// fitsDoc is the JSON document of fit g2 of several files.
type fitsDoc struct {
	Engine string            `json:"engine"`
	Model  string            `json:"model"`
	Units  map[string]string `json:"units"` // of q, phi, age and the parameters
	Files  []fitFileDoc      `json:"files"`
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
	folders := a.Out != "" && !table.Known(a.Out)
	taken := map[string]string{}
	for _, file := range files {
		if other, ok := taken[fitFolder(file)]; ok && folders {
			return exit.Usage("the fits of %s and %s would both go to %s: fit them in two commands with different --out", other, file, filepath.Join(a.Out, fitFolder(file)))
		}
		taken[fitFolder(file)] = file
	}
	all := a.Out
	if folders {
		all = filepath.Join(a.Out, frame.FitsFile)
		if err := os.MkdirAll(a.Out, 0o777); err != nil {
			return exit.With(exit.CannotWrite, err)
		}
	}
	if folders {
		err = a.MayWrite(all, "file", a.Overwrite)
	} else {
		_, err = a.OpenOutputs(files...)
	}
	if err != nil {
		return err
	}
	doc := fitsDoc{Engine: "g2", Model: model.Name, Units: fitUnits(model, g2.Curve{}), Files: []fitFileDoc{}}
	var fitted []fitDoc
	var verdict error
	lost := frame.LostOf("file", len(files))
	for _, file := range files {
		d := fitFileDoc{File: file, Status: "fitted", Bins: []binDoc{}}
		if folders {
			d.Folder = filepath.Join(a.Out, fitFolder(file))
		}
		open := func() (to frame.Outputs, err error) {
			if folders {
				to.Folder, err = a.MakeRundir(d.Folder)
			}
			return to, err
		}
		one, fits, err := fitG2File(ctx, a, file, open, model, s, bins)
		if ctx.Err() != nil {
			return exit.With(exit.Interrupted, ctx.Err())
		}
		if err == nil {
			d.Device, d.Bins = one.Device, one.Bins
			fitted = append(fitted, one)
			err = verdictOn(fits, false)
			if v := verdictOn(fits, a.Strict); err == nil && verdict == nil && v != nil {
				verdict = fmt.Errorf("%s: %w", file, v)
			}
		}
		say(a, "%s", file)
		if err != nil {
			d.Status, d.Message, d.Folder = "failed", exit.Text(err, files), ""
			say(a, "  failed: %s", exit.Text(err, files))
			if !lost.Keep(file, err) {
				return err
			}
		} else if !a.JSON {
			report.WriteFits(a.Stdout, model, fits, a.Verbose)
			say(a, "")
		}
		doc.Files = append(doc.Files, d)
	}
	if all != "" && len(fitted) > 0 {
		if err := exit.With(exit.CannotWrite, fitsTable(fitted...).Save(all, a.Overwrite)); err != nil {
			return err
		}
		a.Note("wrote %s", all)
	}
	if a.JSON {
		if err := a.Document(doc); err != nil {
			return err
		}
	}
	if err := lost.Err("fitted"); err != nil {
		return err
	}
	return exit.With(exit.Failed, verdict)
}
