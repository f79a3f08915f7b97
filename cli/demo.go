// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"

	"github.com/euryale-dev/euryale/runs"
)

// demonstration returns how a demonstration runs another command, whose results go to a subfolder of its own ("": to the folder itself), and
// how it tells what comes next. With --json there is one document for all of it.
func (a *app) demonstration(dir runs.Folder) (sub func(name string) *app, step func(text string)) {
	sub = func(name string) *app {
		b := *a
		b.out = string(dir)
		if name != "" {
			b.out = dir.Path(name)
		}
		if a.json {
			b.json, b.stdout = false, io.Discard
		}
		return &b
	}
	return sub, func(text string) {
		if !a.json {
			a.print("\n== %s\n", text)
		}
	}
}
