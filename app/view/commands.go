// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// form answers with the settings of a command.
func (p *page) form(r *http.Request) (any, error) {
	c, err := p.runnable(strings.Fields(r.URL.Query().Get("command")))
	if err != nil {
		return nil, err
	}
	all, err := p.items(r.URL.Query().Get("id"))
	if err != nil {
		return nil, err
	}
	first := filepath.Base(all[0].ID)
	name := strings.ReplaceAll(r.URL.Query().Get("command"), " ", "-") + "-" + strings.TrimSuffix(first, filepath.Ext(first)) + writes(c)
	flags := p.fieldsOf(c)
	slices.SortStableFunc(flags, func(a, b field) int { return boolInt(b.required()) - boolInt(a.required()) })
	return map[string]any{"about": c.Short, "flags": flags, "folder": c.Annotations["folder"] != "", "file": writes(c) != "", "out": p.unused(all[0], name)}, nil
}

// writes returns the ending of the file that a command takes as its last argument and writes, or "".
func writes(c *cobra.Command) string {
	_, out, ok := strings.Cut(c.Use, "OUT.")
	if !ok {
		return ""
	}
	out, _, _ = strings.Cut(strings.TrimSuffix(out, "]"), "|")
	return "." + out
}

// place returns where results of a command about an item go: beside it, or into an opened folder.
func (p *page) place(i item, name string) string {
	out := filepath.Join(filepath.Dir(i.ID), name)
	if !p.shelf.holds(out) {
		out = filepath.Join(p.shelf.folder(), name)
	}
	return out
}

// unused returns a name for results that nothing has yet: the one given, or with a number behind it.
func (p *page) unused(i item, name string) string {
	end := filepath.Ext(name)
	for n := 2; foreign.Exists(p.place(i, name)); n++ {
		name = strings.TrimSuffix(name, end)
		if at := strings.LastIndex(name, "-"); n > 2 && at > 0 {
			name = name[:at]
		}
		name = fmt.Sprintf("%s-%d%s", name, n, end)
	}
	return name
}

// runnable returns a command that the page may run: one that some item offers, or that continues a run.
func (p *page) runnable(words []string) (*cobra.Command, error) {
	c := p.called(words)
	if c == nil || !slices.Contains([]string{"fit", "sample", "sim", "invert", "reduce", "train", "correlate", "average"}, words[0]) || c.HasSubCommands() {
		return nil, fmt.Errorf("%s is no command that the page can run", strings.Join(words, " "))
	}
	return c, nil
}

// request is a command to run.
type request struct {
	Command string      `json:"command"` // such as "fit g2"
	Item    string      `json:"item"`    // or several, one a line
	Flags   [][2]string `json:"flags"`   // names and values; "true" sets a switch
	Out     string      `json:"out"`     // name of the folder or file of results, beside the item
	Resume  bool        `json:"resume"`
	Replace bool        `json:"replace"`
}

func (p *page) work(r *http.Request) (any, error) {
	var q request
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return nil, fmt.Errorf("the request cannot be read: %w: reload the page", err)
	}
	c, err := p.runnable(strings.Fields(q.Command))
	if err != nil {
		return nil, err
	}
	all, err := p.items(q.Item)
	if err != nil {
		return nil, err
	}
	i := all[0]
	args := strings.Fields(q.Command)
	if q.Resume {
		args = append(args, "--resume")
	}
	for _, i := range all {
		args = append(args, i.ID)
	}
	for _, f := range q.Flags {
		if c.LocalFlags().Lookup(f[0]) == nil {
			return nil, fmt.Errorf("%s has no setting %q: reload the page", q.Command, f[0])
		}
		args = append(args, "--"+f[0]+"="+f[1])
	}
	if q.Resume {
		return p.works.start(args, i.ID)
	}
	out := ""
	if c.Annotations["folder"] != "" || writes(c) != "" {
		if q.Out == "" || q.Out != filepath.Base(q.Out) || strings.HasPrefix(q.Out, ".") {
			return nil, fmt.Errorf("%q is no name for the results: give a name without slashes", q.Out)
		}
		out = p.place(i, q.Out)
		if writes(c) == "" {
			args = append(args, "--out")
		}
		args = append(args, out)
	}
	if q.Replace {
		args = append(args, "--overwrite")
	}
	return p.works.start(args, out)
}

func (p *page) atWork(*http.Request) (any, error) { return p.works.all(), nil }

func (p *page) stop(r *http.Request) (any, error) {
	var q struct{ ID int }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		return nil, fmt.Errorf("the request cannot be read: %w: reload the page", err)
	}
	return map[string]bool{"stopped": true}, p.works.stop(q.ID)
}
