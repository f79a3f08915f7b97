// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !js

package xpcs

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/xpcs/maskpage"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/localweb"
	"github.com/euryale-dev/euryale/models/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

// runMaskPage lets people draw a mask in a page until they are done.
func runMaskPage(ctx context.Context, a *frame.App, out string, f maskFlags) error {
	if f.Image != "" && f.Image != f.Edit {
		return exit.Usage("--edit %s and --image %s name two images: give only one", f.Edit, f.Image)
	}
	switch strings.ToLower(filepath.Ext(out)) {
	case ".h5", ".hdf", ".hdf5", ".tif", ".tiff", ".npy":
	default:
		return exit.Usage("%s: a mask is written as .h5, .hdf, .hdf5, .tif, .tiff or .npy: choose one of these extensions", out)
	}
	recipe, geometry := out+".recipe.json", out+".geometry.json"
	if _, err := a.Claim(out); err != nil {
		return err
	}
	if there(geometry) { // what was kept wins over --from, but not over numbers that are given
		f.From = []string{geometry}
		if b, err := foreign.ReadFile(geometry); err == nil && f.Dynamic == usualBins {
			if kept, err := xpcs.ReadSetup(b); err == nil && kept.Dynamic[0] > 0 {
				f.Dynamic = fmt.Sprintf("%dx%d", kept.Dynamic[0], kept.Dynamic[1])
			}
		}
	}
	if f.QMap == "" {
		f.QMap = strings.TrimSuffix(out, filepath.Ext(out)) + "-qmap.hdf"
	}
	for _, name := range []string{out, f.QMap} {
		if err := a.MayWrite(name, "file", true); err != nil {
			return err
		}
	}
	config, err := f.page(a, out, recipe)
	if err != nil {
		return err
	}
	server, err := localweb.Listen(f.Listen)
	if err != nil {
		return exit.With(exit.WrongUsage, err)
	}
	last := maskDoc{Steps: config.Recipe.Steps}
	config.Autosave = func(r mask.Recipe, s xpcs.Setup) error {
		last.Steps = r.Steps
		if err := writeRecipe(recipe, r); err != nil {
			return err
		}
		return writeSetup(geometry, s)
	}
	config.SaveMask = func(m *mask.Mask, replace bool) error {
		last.File, last.Kept = out, m.Count()
		return writeMask(out, m, replace || a.Overwrite)
	}
	config.SaveQMap = func(q *nexus.QMap, replace bool) error {
		if there(f.QMap) && !replace && !a.Overwrite {
			return fmt.Errorf("%s: %w", f.QMap, fs.ErrExist)
		}
		last.QMap = f.QMap
		return exit.With(exit.CannotWrite, nexus.WriteQMap(f.QMap, q))
	}
	config.Done = server.Close
	begin := config.Bins
	begin.Geometry = config.Geometry
	if err := config.Autosave(config.Recipe, begin); err != nil { // steps of the command line, and whether the folder can be written
		server.Close()
		return err
	}
	page, err := maskpage.New(config)
	if err != nil {
		server.Close()
		return exit.With(exit.Data, err)
	}
	fmt.Fprintf(a.Stderr, "Edit the mask at %s\nSteps are saved to %s. To finish, press Done in the page or Ctrl-C here.\n", server.URL(), recipe)
	if err := server.Serve(ctx, page); err != nil {
		return exit.With(exit.Failed, err)
	}
	if last.File == "" {
		last.Kept = page.Mask().Count()
		a.Note("no mask was saved; continue with: euryale mask %s --edit %s", foreign.Typed(out), foreign.Typed(f.Edit))
		if ctx.Err() != nil {
			return exit.With(exit.Interrupted, ctx.Err())
		}
	}
	last.Engine, last.Image, last.Recipe, last.Shape = "xpcs", f.Edit, recipe, [2]int{config.Image.Height, config.Image.Width}
	if last.File == "" && !a.JSON {
		return nil
	}
	return maskDone(a, last)
}

// page returns what the page begins with: the steps that were kept, if there are any, and otherwise those of the command line.
func (f *maskFlags) page(a *frame.App, out, recipe string) (maskpage.Settings, error) {
	image, g, err := f.canvas(f.Edit)
	if err != nil {
		return maskpage.Settings{}, err
	}
	bins, err := f.binFlags.setup(g, f.Edit)
	if err != nil {
		return maskpage.Settings{}, err
	}
	src, err := f.source(image, g)
	if err != nil {
		return maskpage.Settings{}, err
	}
	from := f.Recipe
	if there(recipe) {
		if f.Recipe != "" || len(f.steps) > 0 {
			return maskpage.Settings{}, &exit.Error{Code: exit.WrongUsage, Err: fmt.Errorf("%s has the steps of an earlier session: leave out --recipe and step flags to continue from it, or delete it to start again", recipe)}
		}
		from = recipe
	}
	h, err := f.history(a, from, src, g)
	if err != nil {
		return maskpage.Settings{}, err
	}
	return maskpage.Settings{Name: filepath.Base(f.Edit), Image: image, Geometry: g, Bins: bins, Files: f.known(), Open: f.openOf(image.Height, image.Width), Recipe: h.Recipe(),
		MaskName: out, QMapName: f.QMap, RecipeName: recipe}, nil
}
