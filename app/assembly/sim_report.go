// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/report"
)

// assemblyDoc is the JSON document of sim assembly; it is also written to summary.json.
type assemblyDoc struct {
	Device   string            `json:"device"` // where it was computed: see docs/guide/gpu.md
	Engine   string            `json:"engine"`
	Mode     string            `json:"mode"`
	Seed     uint64            `json:"seed"`
	Script   string            `json:"script"`
	Steps    int               `json:"steps"`
	Areas    []assemblyArea    `json:"areas"`
	Measures []assemblyMeasure `json:"measures"`
	Warnings []assemblyWarning `json:"warnings"`
	Profile  []assemblyUsage   `json:"profile,omitempty"`
	Memory   assemblyMemory    `json:"memory"`
	Timing   struct {
		Total float64 `json:"total_s"`
	} `json:"timing"`
	Run string `json:"run"`
}

type assemblyArea struct {
	Name    string `json:"area"`
	N       int    `json:"n"`
	K       int    `json:"k"`
	Lazy    bool   `json:"lazy"`
	Support int    `json:"support"` // number of neurons that ever fired
	Fired   int    `json:"fired"`   // number of neurons that fire in the last step
}

type assemblyMeasure struct {
	Name     string       `json:"name"`
	Quantity string       `json:"quantity"`
	Step     int          `json:"step"`
	Value    frame.Number `json:"value"`
	Branch   bool         `json:"branch"`
}

type assemblyWarning struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text"`
}

type assemblyUsage struct {
	Operation string  `json:"operation"`
	Calls     int     `json:"calls"`
	Time      float64 `json:"time_s"`
	Bytes     int     `json:"bytes"` // lower bound on the bytes moved
}

type assemblyMemory struct {
	Brain int `json:"brain_bytes"`          // bytes held by synapses and counts at the end
	Peak  int `json:"peak_bytes,omitempty"` // largest number of such bytes at any time; only with --profile
}

func (r *assemblyRun) document() (*assemblyDoc, error) {
	result, b := r.run.Result(), r.run.Brain()
	d := &assemblyDoc{Engine: "assembly", Mode: result.Mode, Seed: result.Seed, Script: r.cfg.File, Steps: r.script.Rounds,
		Areas: []assemblyArea{}, Measures: []assemblyMeasure{}, Warnings: []assemblyWarning{}, Run: string(r.dir)}
	for _, x := range r.script.Areas {
		support, err := b.Support(x.Name)
		if err != nil {
			return nil, exit.With(exit.Bug, err)
		}
		w, err := b.Winners(x.Name)
		if err != nil {
			return nil, exit.With(exit.Bug, err)
		}
		d.Areas = append(d.Areas, assemblyArea{x.Name, x.N, x.K, x.Lazy, support, len(w)})
	}
	for _, m := range result.Measures {
		d.Measures = append(d.Measures, assemblyMeasure{m.Name, m.Quantity, m.Step, frame.Number(m.Value), m.Branch})
	}
	for _, w := range result.Warnings {
		d.Warnings = append(d.Warnings, assemblyWarning{w.Line, w.Column, w.What})
	}
	d.Memory.Brain = b.Bytes()
	if r.cfg.Profile {
		p := b.Profile()
		d.Memory.Peak = p.Peak
		for _, u := range p.Usage() {
			d.Profile = append(d.Profile, assemblyUsage{u.Operation, u.Calls, u.Time.Seconds(), u.Bytes})
		}
	}
	d.Timing.Total = time.Since(r.begin).Seconds()
	return d, nil
}

// finishAssembly writes the results of a complete run.
func finishAssembly(a *frame.App, r *assemblyRun) error {
	doc, err := r.document()
	if doc != nil {
		doc.Device = a.Where()
	}
	if err != nil {
		return err
	}
	if err := r.writeTables(); err != nil {
		return err
	}
	if err := exit.With(exit.CannotWrite, atomicfile.Write(r.dir.Path(snapshotFile), true, r.run.Brain().Save)); err != nil {
		return err
	}
	if r.cfg.Profile {
		if err := frame.WriteFile(r.dir.Path("profile.txt"), []byte(r.run.Brain().Profile().String())); err != nil {
			return err
		}
	}
	if err := exit.With(exit.CannotWrite, report.Assembly(r.script, r.run.Result(), a.Page(r.cfg.Seed)).Save(string(r.dir))); err != nil {
		return err
	}
	if err := frame.WriteJSON(r.dir.Path("summary.json"), doc); err != nil {
		return err
	}
	if err := os.Remove(r.dir.Path("checkpoint")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exit.With(exit.CannotWrite, err)
	}
	for _, w := range doc.Warnings {
		a.Note("warning: %s:%d:%d: %s", r.script.File, w.Line, w.Column, w.Text)
	}
	if a.JSON {
		return a.Document(doc)
	}
	_, err = fmt.Fprintf(a.Stdout, "%s\nresults in %s\n", doc, r.dir)
	if err == nil && r.cfg.Profile {
		_, err = fmt.Fprintf(a.Stdout, "\n%s", r.run.Brain().Profile())
	}
	return exit.With(exit.CannotWrite, err)
}

// String formats the document as a table.
func (d *assemblyDoc) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "mode %s, seed %d, %d steps\n", d.Mode, d.Seed, d.Steps)
	fmt.Fprintf(&b, "%-12s %10s %8s %10s %12s %8s\n", "area", "n", "k", "support", "support / k", "fire")
	for _, x := range d.Areas {
		fmt.Fprintf(&b, "%-12s %10d %8d %10d %12.3f %8d\n", x.Name, x.N, x.K, x.Support, float64(x.Support)/float64(x.K), x.Fired)
	}
	if len(d.Measures) > 0 {
		fmt.Fprintf(&b, "\n%-20s %-10s %6s %10s %12s\n", "measure", "quantity", "times", "last step", "last value")
	}
	times, last := map[string]int{}, map[string]assemblyMeasure{}
	for _, m := range d.Measures {
		times[m.Name]++
		last[m.Name] = m
	}
	for _, m := range d.Measures {
		if n := times[m.Name]; n > 0 {
			fmt.Fprintf(&b, "%-20s %-10s %6d %10d %12.6g\n", m.Name, m.Quantity, n, last[m.Name].Step, float64(last[m.Name].Value))
			delete(times, m.Name)
		}
	}
	return b.String()
}
