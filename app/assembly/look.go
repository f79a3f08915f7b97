// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
)

// look says how people look at runs of assembly scripts.
func look(name string, folder bool) *frame.Look {
	dir := runs.Folder(name)
	if !folder {
		return nil
	}
	if command, err := dir.Command(); err != nil || command != simAssemblyCommand || !foreign.Exists(dir.Path("summary.json")) {
		return nil
	}
	l := &frame.Look{Kind: "Runs of assembly scripts"}
	for _, p := range report.Assemblies() {
		l.Pictures = append(l.Pictures, frame.Plotted(p.Short, p.Kind, name))
	}
	return l
}
