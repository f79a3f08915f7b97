// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/viz"
)

// kept is the number of pictures whose data are kept, so that zooming and pointing do not read files again.
const kept = 12

// atOnce is the number of commands that draw at a time: each uses all processors, and one that takes long leaves room for another.
const atOnce = 2

// pictures draws what command lines plot. Pictures that are kept wait for none that is being drawn.
type pictures struct {
	fields  []frame.Field
	program string
	drawing chan struct{} // has a place for each command that draws

	mu   sync.Mutex
	list []*pictured // the latest last
}

func newPictures(fields []frame.Field, program string) *pictures {
	return &pictures{fields: fields, program: program, drawing: make(chan struct{}, atOnce)}
}

// pictured is a picture that is kept, or why there is none.
type pictured struct {
	key    string
	ready  chan struct{} // closed when the command has ended
	figure *viz.Figure
	said   string // what the command said beside drawing
	err    string
	left   bool // whoever asked has left before it was drawn

	mu sync.Mutex // for who shows it
}

// of returns the picture of a command line, which others may have asked for already; the stamp is that of the file it shows.
func (p *pictures) of(ctx context.Context, args []string, stamp string) (*pictured, error) {
	key := strings.Join(append(slices.Clone(args), stamp), "\x00")
	for {
		k, mine := p.keep(key)
		if mine {
			p.draw(ctx, k, args)
		}
		select {
		case <-k.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !k.left || ctx.Err() != nil {
			return k, ctx.Err()
		}
	}
}

// keep returns what is kept under a key, and whether it is new, so that the caller has to draw it.
func (p *pictures) keep(key string) (k *pictured, isNew bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := slices.IndexFunc(p.list, func(k *pictured) bool { return k.key == key }); at >= 0 {
		k = p.list[at]
		p.list = append(slices.Delete(p.list, at, at+1), k)
		return k, false
	}
	k = &pictured{key: key, ready: make(chan struct{})}
	if p.list = append(p.list, k); len(p.list) > kept {
		p.list = slices.Delete(p.list, 0, 1)
	}
	return k, true
}

// draw runs the command of a picture. One whose reader leaves is forgotten.
func (p *pictures) draw(ctx context.Context, k *pictured, args []string) {
	defer close(k.ready)
	select {
	case p.drawing <- struct{}{}:
		defer func() { <-p.drawing }()
		var said bytes.Buffer
		f, code := frame.Draw(ctx, p.fields, p.program, append(slices.Clone(args), "--quiet"), &said)
		if k.figure, k.said = f, strings.TrimSpace(said.String()); code != exit.OK {
			k.figure, k.err = nil, strings.TrimPrefix(k.said, "Error: ")
		}
	case <-ctx.Done():
	}
	if k.left = ctx.Err() != nil; k.left {
		p.mu.Lock()
		p.list = slices.DeleteFunc(p.list, func(o *pictured) bool { return o == k })
		p.mu.Unlock()
	}
}

// wish is how a picture is to be shown.
type wish struct {
	args          []string
	width, height float64 // inches; 0 for those that the picture has
	tallest       float64 // height that a picture of few panels is made narrower for, in inches; 0 for none
	panel         int     // panel that is zoomed or scaled; -1 for none
	window        *viz.Window
	logX, logY    *bool
}

// wishOf reads a request for a picture.
func wishOf(q url.Values) (w wish, err error) {
	if err := json.Unmarshal([]byte(q.Get("line")), &w.args); err != nil || len(w.args) < 2 || w.args[0] != "plot" {
		return w, fmt.Errorf("the request names no command line that plots: reload the page")
	}
	w.panel = -1
	if text := q.Get("panel"); text != "" {
		if w.panel, err = strconv.Atoi(text); err != nil {
			return w, fmt.Errorf("panel %q: want a number: reload the page", text)
		}
	}
	numbers := map[string]float64{}
	for _, name := range []string{"x0", "x1", "y0", "y1", "width", "height", "tallest"} {
		text := q.Get(name)
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return w, fmt.Errorf("%s %q: want a finite number", name, text)
		}
		numbers[name] = v
	}
	w.width, w.height, w.tallest = numbers["width"], numbers["height"], numbers["tallest"]
	if _, ok := numbers["x0"]; ok {
		w.window = &viz.Window{XLow: numbers["x0"], XHigh: numbers["x1"], YLow: numbers["y0"], YHigh: numbers["y1"]}
	}
	for name, to := range map[string]**bool{"logx": &w.logX, "logy": &w.logY} {
		if text := q.Get(name); text != "" {
			v := text == "true"
			*to = &v
		}
	}
	return w, nil
}

// Bounds of the size of pictures in inches.
const (
	narrowest  = 2
	widest     = 40
	leastPanel = 1.9 // width of panels side by side
	legible    = 4.2 // width to which a picture is made narrower so that the window holds it
)

// fewRows are rows of panels that the window is to hold at once.
const fewRows = 2

// show hands the picture that a wish asks for to a function, alone: it is the caller's until the function returns, and then as it was.
func (p *pictures) show(ctx context.Context, w wish, stamp string, use func(f *viz.Figure, said string) error) error {
	d, err := p.of(ctx, w.args, stamp)
	if err != nil {
		return err
	}
	if d.figure == nil {
		return &noPicture{d.err}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.figure.Clone()
	if w.width > 0 {
		f.Height *= min(max(w.width, narrowest), widest) / f.Width
		f.Width = min(max(w.width, narrowest), widest)
	}
	if w.width > 0 {
		f.Reflow(leastPanel)
	}
	if w.height > 0 {
		f.Height = min(max(w.height, narrowest), widest)
	}
	if w.tallest > 0 && f.Height > w.tallest && f.Rows() <= fewRows {
		by := min(1, max(w.tallest/f.Height, legible/f.Width))
		f.Width, f.Height = f.Width*by, f.Height*by
	}
	if w.panel >= 0 && (w.logX != nil || w.logY != nil) {
		if err := f.Scale(w.panel, w.logX, w.logY); err != nil {
			return err
		}
	}
	if w.panel >= 0 && w.window != nil {
		if err := f.Zoom(w.panel, *w.window); err != nil {
			return err
		}
	}
	return use(f, d.said)
}

// noPicture says why a command draws nothing.
type noPicture struct{ text string }

func (e *noPicture) Error() string { return e.text }

// shownFrame is a panel of a picture, as the page needs it to point and to zoom.
type shownFrame struct {
	Title  string     `json:"title"`
	XLabel string     `json:"x"`
	YLabel string     `json:"y"`
	LogX   bool       `json:"logX"`
	LogY   bool       `json:"logY"`
	Down   bool       `json:"down"`
	Window [4]float64 `json:"window"` // x from, to, y from, to
	Of     [2]string  `json:"of"`     // quantities of draws along x and y; empty for other axes
	Frame  [4]float64 `json:"frame"`  // left, top, right, bottom as shares of the picture
	Image  bool       `json:"image"`  // whether points have a value besides x and y
}

// shownPicture is the answer to a request for a picture.
type shownPicture struct {
	None   string       `json:"none,omitempty"` // why there is no picture
	SVG    string       `json:"svg"`
	Title  string       `json:"title"`
	Note   string       `json:"note"`
	Said   string       `json:"said"`
	Width  float64      `json:"width"`
	Height float64      `json:"height"`
	Frames []shownFrame `json:"frames"`
	Line   string       `json:"line"` // command line that draws it
}

func shown(f *viz.Figure, said string, dark bool) shownPicture {
	svg := f.SVG
	if dark {
		svg = f.DarkSVG
	}
	p := shownPicture{SVG: svg(), Title: f.Title, Note: f.Note, Said: said, Width: f.Width, Height: f.Height, Frames: []shownFrame{}}
	for _, a := range f.Frames() {
		p.Frames = append(p.Frames, shownFrame{Title: a.Title, XLabel: a.XLabel, YLabel: a.YLabel, LogX: a.LogX, LogY: a.LogY, Down: a.Down,
			Of: [2]string{a.XOf, a.YOf}, Window: [4]float64{a.XLow, a.XHigh, a.YLow, a.YHigh}, Frame: [4]float64{a.Left, a.Top, a.Right, a.Bottom},
			Image: slices.ContainsFunc(a.Data, func(d viz.Data) bool { return d.Kind == "image" })})
	}
	return p
}

// typed writes a command line as people type it.
func typed(program string, args []string) string {
	words := []string{program}
	for _, a := range args {
		if name, value, ok := strings.Cut(a, "="); ok && strings.HasPrefix(a, "--") {
			words = append(words, name+"="+foreign.TypedValue(value))
			continue
		}
		if !strings.HasPrefix(a, "--") {
			a = foreign.Typed(a)
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// table writes the data of a picture as CSV: one row a point, with its panel, the name and the kind of its marks, and its numbers.
func table(f *viz.Figure) []byte {
	var b bytes.Buffer
	w := foreign.CSV(&b)
	w.Write([]string{"panel", "name", "kind", "x", "y", "error", "low", "high", "value"})
	text := func(v []float64, i int) string {
		if i >= len(v) {
			return ""
		}
		return strconv.FormatFloat(v[i], 'g', -1, 64)
	}
	for n, a := range f.Frames() {
		panel := a.Title
		if panel == "" {
			panel = strconv.Itoa(n + 1)
		}
		for _, d := range a.Data {
			for j, row := range d.Z {
				for i := range row {
					w.Write([]string{panel, d.Name, d.Kind, text(d.X, i), text(d.Y, j), "", "", "", text(row, i)})
				}
			}
			if d.Z != nil {
				continue
			}
			for i := range d.X {
				w.Write([]string{panel, d.Name, d.Kind, text(d.X, i), text(d.Y, i), text(d.Err, i), text(d.Low, i), text(d.High, i), ""})
			}
		}
	}
	w.Flush()
	return b.Bytes()
}

// valueAt says which number an image has at a point of a panel, or what the nearest point is.
func valueAt(f *viz.Figure, panel int, x, y float64) string {
	all := f.Frames()
	if panel < 0 || panel >= len(all) {
		return ""
	}
	for _, d := range all[panel].Data {
		if d.Kind != "image" || len(d.Z) == 0 {
			continue
		}
		v := d.Z[nearest(d.Y, y)][nearest(d.X, x)]
		name, unit, _ := strings.Cut(strings.TrimSuffix(d.ZLabel, ")"), " (")
		said := name + ": none"
		if !math.IsNaN(v) {
			said = strings.TrimSpace(fmt.Sprintf("%s %.5g %s", name, v, unit))
		}
		if d.Told != nil {
			said += ", " + d.Told(x, y)
		}
		return said
	}
	return ""
}

// nearest returns the index of the number in an ascending list that is nearest to v.
func nearest(list []float64, v float64) int {
	k, _ := slices.BinarySearch(list, v)
	if k == len(list) || k > 0 && v-list[k-1] < list[k]-v {
		k--
	}
	return k
}
