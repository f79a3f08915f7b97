// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"io"

	"github.com/euryale-dev/euryale/runs"
)

// DemoFolder makes the run folder of a demonstration, which has a name of its own unless --out names another.
func (a *App) DemoFolder(name string) (runs.Folder, error) {
	if a.Out == "" {
		a.Out = name
	}
	return a.MakeRundir(a.Out)
}

// Demonstration returns how a demonstration runs another command, whose results go to a subfolder of its own ("": to the folder itself), and
// how it tells what comes next. With --json there is one document for all of it.
func (a *App) Demonstration(dir runs.Folder) (sub func(name string) *App, step func(text string)) {
	sub = func(name string) *App {
		b := *a
		b.Out = string(dir)
		if name != "" {
			b.Out = dir.Path(name)
		}
		if a.JSON {
			b.JSON, b.Stdout = false, io.Discard
		}
		return &b
	}
	return sub, func(text string) {
		if !a.JSON {
			a.Print("\n== %s\n", text)
		}
	}
}
