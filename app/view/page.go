// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package view is the page in which people look at what folders hold: pictures that they zoom, tables, and commands that they run.
//
// Every picture is what a command line of plot draws, and every table what one prints: the page sends the line, shows what comes back, and
// shows the line too. So a kind of picture that a field registers is in the page without a line here.
package view

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz"
)

//go:embed page.html page.css page.js picture.js table.js icon.svg
var assets embed.FS

// page answers the requests of the browser.
type page struct {
	program  string // name by which people call the program
	root     *cobra.Command
	fields   []frame.Field
	shelf    *shelf
	pictures *pictures
	works    *works
	tables   tables
	mux      *http.ServeMux
}

func newPage(fields []frame.Field, program, executable string, opened []string) (*page, error) {
	s, err := newShelf(fields, opened)
	if err != nil {
		return nil, err
	}
	p := &page{program: program, root: frame.Tree(fields), fields: fields, shelf: s, pictures: newPictures(fields, program),
		works: &works{program: executable, name: program}, mux: http.NewServeMux()}
	files := http.FileServerFS(assets)
	p.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, assets, "page.html") })
	for _, name := range []string{"page.css", "page.js", "picture.js", "table.js", "icon.svg"} {
		p.mux.Handle("GET /"+name, files)
	}
	for path, answer := range map[string]func(r *http.Request) (any, error){
		"GET /shelf": p.list, "GET /item": p.item, "GET /picture": p.picture, "GET /value": p.value, "GET /save": p.save,
		"GET /text": p.text, "GET /kept": p.kept, "GET /rows": p.rows, "GET /form": p.form, "POST /work": p.work, "GET /works": p.atWork, "POST /stop": p.stop,
	} {
		p.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { p.answer(w, r, answer) })
	}
	p.mux.HandleFunc("GET /report", p.report)
	return p, nil
}

// ServeHTTP answers a request.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

// file is an answer that is no JSON.
type file struct {
	content []byte
	kind    string // media type
	name    string // name under which it is saved; "" if it is shown
}

func (p *page) answer(w http.ResponseWriter, r *http.Request, f func(*http.Request) (any, error)) {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var v any
	if err == nil {
		v, err = f(r)
	}
	if err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
		return
	}
	if a, ok := v.(file); ok {
		w.Header().Set("Content-Type", a.kind)
		if a.name != "" {
			w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", a.name))
		}
		w.Write(a.content)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func (p *page) list(r *http.Request) (any, error) {
	items, note, rev := p.shelf.list()
	if r.URL.Query().Get("since") == strconv.Itoa(rev) {
		return map[string]any{"rev": rev}, nil
	}
	if items == nil {
		items = []item{}
	}
	return map[string]any{"items": items, "note": note, "opened": p.shelf.places(), "rev": rev}, nil
}

// sight is a picture or a text as the page offers it.
type sight struct {
	Title string   `json:"title"`
	Line  []string `json:"line"`
	Flags []field  `json:"flags"`
}

// field is a flag of a command as a field of a form.
type field struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Default string   `json:"default"`
	About   string   `json:"about"`
	Choices []string `json:"choices,omitempty"`
	Range   []string `json:"range,omitempty"` // lowest and highest number of a slider
}

// required reports whether the command does not run without the flag.
func (f field) required() bool { return strings.Contains(f.About, "(required") }

// itemDoc is what the page knows about an item.
type itemDoc struct {
	ID       string      `json:"id"`
	Name     string      `json:"name"`
	Kind     string      `json:"kind"`
	Stamp    string      `json:"stamp"`
	Note     string      `json:"note,omitempty"`
	Busy     bool        `json:"busy"`
	Pictures []sight     `json:"pictures"`
	Texts    []sight     `json:"texts"`
	Works    []string    `json:"works"`
	Given    []string    `json:"given,omitempty"` // flags with which forms of commands begin
	Table    bool        `json:"table"`
	Rows     *frame.Rows `json:"rows,omitempty"`
	Kept     []string    `json:"kept"`              // pictures in the folder of a run
	Content  string      `json:"content,omitempty"` // text of the file
	Report   bool        `json:"report"`
	Resume   string      `json:"resume"` // command that continues the run, or ""
	Extend   int         `json:"extend"` // draws per chain of a finished run, to which others can be added, or 0
	Command  string      `json:"command"`
	// Progress is the document progress.json of a run that goes on.
	Progress json.RawMessage `json:"progress,omitempty"`
}

func (p *page) item(r *http.Request) (any, error) {
	all, err := p.items(r.URL.Query().Get("id"))
	if err != nil {
		return nil, err
	}
	if len(all) > 1 {
		return p.together(all)
	}
	i := all[0]
	d := itemDoc{ID: i.ID, Name: i.Name, Kind: i.Kind, Stamp: i.State, Note: i.look.Note, Busy: i.Busy, Pictures: p.sights(i.look.Pictures), Texts: p.sights(i.look.Texts),
		Works: append([]string{}, i.look.Works...), Given: i.look.Given, Table: i.look.Table || i.look.Rows != nil, Rows: i.look.Rows, Kept: []string{}}
	if !i.folder {
		if i.look.Content {
			d.Content = beginning(i.ID)
		}
		return d, nil
	}
	dir := runs.Folder(i.ID)
	d.Command, _ = dir.Command()
	if b, err := foreign.ReadFile(dir.Path(runs.LiveFolder, runs.ProgressFile)); err == nil && json.Valid(b) {
		d.Progress = b
	}
	p.addKept(&d, dir)
	_, err = os.Stat(dir.Path("report.html"))
	d.Report = err == nil
	p.goesOn(&d, dir)
	return d, nil
}

// mostContent is how much of a text is shown, in bytes.
const mostContent = 100_000

// beginning returns the text of a file, or what can be shown of it.
func beginning(name string) string {
	f, err := foreign.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, mostContent+1))
	if len(b) > mostContent {
		return strings.ToValidUTF8(string(b[:mostContent]), "") + "\n... the file goes on"
	}
	return strings.ToValidUTF8(string(b), "?")
}

// goesOn says whether a run can be resumed or extended.
func (p *page) goesOn(d *itemDoc, dir runs.Folder) {
	c := p.called(strings.Fields(d.Command))
	if d.Busy || c == nil || c.Annotations["resume"] == "" {
		return
	}
	if dir.Checkpoint() == "" { // a bootstrap or a simulation, whose results are written when it has ended
		ended := slices.ContainsFunc([]string{"fit.json", "summary.json"}, func(name string) bool { return foreign.Exists(dir.Path(name)) })
		if foreign.Exists(dir.Path(runs.ConfigFile)) && !ended {
			d.Resume = d.Command
		}
		return
	}
	var ran draws.ChainConfig
	err := dir.Config(&ran) // other commands have other settings
	switch {
	case !ran.Finished(dir):
		d.Resume = d.Command
	case err == nil && c.LocalFlags().Lookup("draws") != nil && ran.MethodKind() != infer.SMC:
		d.Extend = ran.Draws
	}
}

// items returns the items that a request names, one a line.
func (p *page) items(id string) (all []item, err error) {
	for _, one := range strings.Split(id, "\n") {
		i, ok := p.shelf.find(one)
		if !ok {
			return nil, fmt.Errorf("%s is no longer there", one)
		}
		all = append(all, i)
	}
	return all, nil
}

// together answers with what several items of a kind are seen in.
func (p *page) together(all []item) (any, error) {
	first := all[0]
	var ids, names, stamps []string
	for _, i := range all {
		if i.Kind != first.Kind || i.look.Together == nil {
			return nil, fmt.Errorf("%s and %s are not seen together: choose several of one kind", first.Name, i.Name)
		}
		ids, names, stamps = append(ids, i.ID), append(names, i.Name), append(stamps, i.State)
	}
	of := func(list []frame.Sight) []sight {
		list = slices.Clone(list)
		for k := range list {
			list[k].Args = slices.Insert(slices.Clone(list[k].Args), wordsOf(list[k].Args), ids...)
		}
		return p.sights(list)
	}
	l := first.look.Together
	return itemDoc{ID: strings.Join(ids, "\n"), Name: strings.Join(names, ", "), Kind: first.Kind, Stamp: strings.Join(stamps, "\n"), Pictures: of(l.Pictures), Texts: of(l.Texts),
		Works: append([]string{}, l.Works...), Given: first.look.Given, Kept: []string{}}, nil
}

// wordsOf returns how many words of a line name its command.
func wordsOf(args []string) int {
	if args[0] == "plot" {
		return 2
	}
	return 1
}

// addKept adds the pictures in the folder of a run, in the order in which they were written: those that have their numbers beside them can
// be drawn again.
func (p *page) addKept(d *itemDoc, dir runs.Folder) {
	var found []string
	for _, pattern := range []string{"plots/*.svg", "figs/*.png"} {
		some, _ := filepath.Glob(dir.Path(filepath.FromSlash(pattern)))
		found = append(found, some...)
	}
	written := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(written(a), written(b)) })
	for _, f := range found {
		name := strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))
		again := strings.TrimSuffix(f, filepath.Ext(f)) + report.KeptEnding
		switch offered := slices.ContainsFunc(d.Pictures, func(s sight) bool { return s.Line[1] == name }); {
		case offered:
		case foreign.Exists(again):
			d.Pictures = append(d.Pictures, p.sights([]frame.Sight{keptSight(name, again)})...)
		default:
			d.Kept = append(d.Kept, filepath.Base(f))
		}
	}
}

// mostHead is how much of a kept figure is read to find out how many rows it has, in bytes.
const mostHead = 4096

// keptSight is the sight of a figure that a fit left; along the rows of one that has images people slide.
func keptSight(name, file string) frame.Sight {
	s := frame.Plotted(strings.ReplaceAll(name, "_", " "), "figure", file)
	if f, err := foreign.Open(file); err == nil {
		defer f.Close()
		head, _ := io.ReadAll(io.LimitReader(f, mostHead))
		s.Sliders = []frame.Range{{Flag: "row", High: viz.KeptRows(head)}}
	}
	return s
}

func (p *page) sights(list []frame.Sight) []sight {
	out := []sight{}
	for _, s := range list {
		fields := p.fieldsOf(p.called(s.Args))
		for i := range fields {
			if s.Still {
				fields[i].Range = nil
			}
		}
		for _, r := range s.Sliders {
			if i := slices.IndexFunc(fields, func(f field) bool { return f.Name == r.Flag }); i >= 0 && r.High > r.Low {
				fields[i].Range = []string{strconv.Itoa(r.Low), strconv.Itoa(r.High)}
			}
		}
		out = append(out, sight{s.Title, s.Args, fields})
	}
	return out
}

// called returns the command that a line calls, or nil.
func (p *page) called(args []string) *cobra.Command {
	c, _, err := p.root.Find(args)
	if err != nil || c == p.root {
		return nil
	}
	return c
}

// fieldsOf returns the flags that are a command's own.
func (p *page) fieldsOf(c *cobra.Command) []field {
	out := []field{}
	if c == nil {
		return out
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" || f.Name == "help" || c.InheritedFlags().Lookup(f.Name) != nil {
			return
		}
		x := field{Name: f.Name, Type: f.Value.Type(), Default: f.DefValue, About: strings.ReplaceAll(f.Usage, "`", ""), Range: frame.SliderOf(f)}
		if s, ok := frame.SettingOf(f); ok {
			x.Choices = s.Choices
		}
		out = append(out, x)
	})
	return out
}

// stampOf returns the stamp of the item that a line is about, after checking that all files it names were opened.
func (p *page) stampOf(args []string) (string, error) {
	stamp := ""
	for _, a := range args[wordsOf(args):] {
		if i, ok := p.shelf.find(a); ok {
			stamp += i.Stamp
			continue
		}
		name := a
		if strings.HasPrefix(a, "--") {
			if _, name, _ = strings.Cut(a, "="); !strings.ContainsRune(name, filepath.Separator) && filepath.Ext(name) == "" {
				continue // a number or a word
			}
		}
		if foreign.Exists(name) && !p.shelf.holds(name) {
			return "", fmt.Errorf("%s was not opened: start view with its folder", name)
		}
		if info, err := os.Stat(name); err == nil && !info.IsDir() { // a file of a run, which is not listed itself
			stamp += stampOf(info)
		}
	}
	if len(args) > 2 && p.shelf.explores(args[:3]) {
		stamp = "-"
	}
	if stamp == "" {
		return "", errors.New("what the line is about is no longer there")
	}
	return stamp, nil
}

func (p *page) wished(r *http.Request, use func(f *viz.Figure, said string) error) (wish, error) {
	w, err := wishOf(r.URL.Query())
	if err != nil {
		return w, err
	}
	stamp, err := p.stampOf(w.args)
	if err != nil {
		return w, err
	}
	return w, p.pictures.show(r.Context(), w, stamp, use)
}

func (p *page) picture(r *http.Request) (any, error) {
	var doc shownPicture
	var err error
	w, err := p.wished(r, func(f *viz.Figure, said string) error {
		doc = shown(f, said, r.URL.Query().Get("dark") == "true")
		return nil
	})
	doc.Line = typed(p.program, w.args)
	if none := (*noPicture)(nil); errors.As(err, &none) {
		doc.None, err = none.text, nil
	}
	return doc, err
}

func (p *page) value(r *http.Request) (any, error) {
	q := r.URL.Query()
	var at [2]float64
	for k, name := range []string{"x", "y"} {
		v, err := strconv.ParseFloat(q.Get(name), 64)
		if err != nil {
			return nil, fmt.Errorf("%s %q: want a number", name, q.Get(name))
		}
		at[k] = v
	}
	text := ""
	w, err := wishOf(q)
	if err != nil {
		return nil, err
	}
	stamp, err := p.stampOf(w.args)
	if err != nil {
		return nil, err
	}
	panel := w.panel
	w.panel = -1 // the numbers are those of the whole picture
	err = p.pictures.show(r.Context(), w, stamp, func(f *viz.Figure, _ string) error {
		text = valueAt(f, panel, at[0], at[1])
		return nil
	})
	return map[string]string{"value": text}, err
}

// mediaTypes are those of the formats in which pictures are saved.
var mediaTypes = map[string]string{"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf", "csv": "text/csv"}

func (p *page) save(r *http.Request) (any, error) {
	format := r.URL.Query().Get("format")
	var out file
	w, err := p.wished(r, func(f *viz.Figure, _ string) (err error) {
		if format == "csv" {
			out.content = table(f)
			return nil
		}
		out.content, err = f.Encode(format)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.kind, out.name = mediaTypes[format], w.args[1]+"."+format
	return out, nil
}

// readable are the verbs whose output the page shows.
var readable = []string{"summary", "diagnose", "loo", "compare", "info"}

func (p *page) text(r *http.Request) (any, error) {
	var args []string
	if err := json.Unmarshal([]byte(r.URL.Query().Get("line")), &args); err != nil || len(args) < 2 || !slices.Contains(readable, args[0]) {
		return nil, errors.New("the request names no command line whose output can be shown: reload the page")
	}
	if _, err := p.stampOf(args); err != nil {
		return nil, err
	}
	var out, said bytes.Buffer
	code := frame.Run(r.Context(), p.fields, p.program, append(args, "--quiet"), &out, &said)
	return map[string]any{"text": out.String(), "said": said.String(), "code": code, "line": typed(p.program, args)}, nil
}

// kept answers with a picture of a run's folder.
func (p *page) kept(r *http.Request) (any, error) {
	i, ok := p.shelf.find(r.URL.Query().Get("id"))
	name := r.URL.Query().Get("name")
	if !ok || !i.folder || name != filepath.Base(name) {
		return nil, errors.New("it is no longer there")
	}
	for dir, kind := range map[string]string{"plots": "image/svg+xml", "figs": "image/png"} {
		at := filepath.Join(i.ID, dir, name)
		if !p.shelf.holds(at) {
			continue
		}
		if b, err := foreign.ReadFile(at); err == nil {
			return file{content: b, kind: kind}, nil
		}
	}
	return nil, fmt.Errorf("%s is no longer there", name)
}

// report answers with the report of a run, which may use what it contains and runs no script but that of our pages.
func (p *page) report(w http.ResponseWriter, r *http.Request) {
	i, ok := p.shelf.find(r.URL.Query().Get("id"))
	name := runs.Folder(i.ID).Path("report.html")
	if !ok || !i.folder || !p.shelf.holds(name) {
		http.Error(w, "there is no report", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Security-Policy", viz.ReportPolicy())
	http.ServeFile(w, r, name)
}
