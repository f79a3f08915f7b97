// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"os"
	"regexp"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/sim/assembly/script"
)

// look says how people look at assembly scripts and their runs, which have tables also while they go on.
func look(name string, folder bool) *frame.Look {
	dir := runs.Folder(name)
	if !folder {
		return lookAtScript(name)
	}
	if command, err := dir.Command(); err != nil || command != simAssemblyCommand || !foreign.Exists(dir.Path("trace.csv")) {
		return nil
	}
	l := &frame.Look{Kind: "Runs of assembly scripts"}
	for _, p := range report.Assemblies() {
		l.Pictures = append(l.Pictures, frame.Plotted(p.Short, p.Kind, name))
	}
	if foreign.Exists(dir.Path(snapshotFile)) {
		l.Pictures = append(l.Pictures, frame.Plotted("Weights of the synapses", "weights", name))
	}
	return l
}

// scripted are the two keys that every script has.
var scripted = []*regexp.Regexp{regexp.MustCompile(`(?m)^areas:`), regexp.MustCompile(`(?m)^run:`)}

// mostScript is the size of files up to which a script is looked for in them.
const mostScript = 1 << 20

// lookAtScript says how people look at a script: by what it does, if it is small enough to be run on the spot.
func lookAtScript(name string) *frame.Look {
	if !frame.Ends(name, ".yaml", ".yml") {
		return nil
	}
	if info, err := os.Stat(name); err != nil || info.Size() > mostScript {
		return nil
	}
	text, err := foreign.ReadFile(name)
	if err != nil || !scripted[0].Match(text) || !scripted[1].Match(text) {
		return nil
	}
	l := &frame.Look{Kind: "Assembly scripts", Content: true, Works: []string{simAssemblyCommand}}
	if s, err := script.Parse(name, text); err == nil && tooLarge(s) {
		l.Note = fmt.Sprintf("The script has %d neurons and %d steps, which is too much to run on the spot: start it with Sim assembly, whose run shows its pictures while it goes on.", neurons(s), s.Rounds)
		return l
	}
	for _, p := range report.Assemblies() {
		sight := frame.Plotted(p.Short, "script", name, "--show="+p.Kind)
		sight.Title += ", run on the spot"
		l.Pictures = append(l.Pictures, sight)
	}
	return l
}
