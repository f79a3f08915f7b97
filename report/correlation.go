// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor/stat"
	"github.com/euryale-dev/euryale/viz"
)

// mostBins is the largest number of bins in one picture, mostPixels the largest number of rows or columns of an image, and mostTimes
// that of a two-time correlation, whose noise makes large pictures.
const (
	mostBins   = 12
	mostPixels = 800
	mostTimes  = 300
)

func init() {
	pictures.results = append(pictures.results,
		ResultPicture{Picture{Kind: "g2", Short: "Draw g2 of each bin against the delay",
			Long: "Draw g2 with its errors in one frame per bin, or in one frame for all bins with\n--overlay. At most twelve evenly spread bins are drawn unless --bins names them.",
			Flag: "overlay", About: "draw all bins in one frame", Bins: true},
			func(r *nexus.Result, c Choice) (*viz.Figure, error) { return G2(r, c.Bins, c.Flag) }, g2Together},
		ResultPicture{Picture{Kind: "stability", Short: "Draw g2 of parts of a measurement to judge its stability",
			Long: "Draw g2 of the first parts of the frames beside g2 of all frames. Curves that\ndeviate show that the sample changes, or that the beam changes it.", Bins: true},
			func(r *nexus.Result, c Choice) (*viz.Figure, error) {
				return Stability(r, c.Bins[:min(len(c.Bins), 6)])
			}, nil},
		ResultPicture{Picture{Kind: "saxs", Short: "Draw intensity against q",
			Long: "Draw the intensity of the static bins: the mean over azimuth, one line per\nazimuth, and the parts of the measurement if the file has them."},
			func(r *nexus.Result, _ Choice) (*viz.Figure, error) { return SAXS(r) }, saxsTogether},
		ResultPicture{Picture{Kind: "image", Short: "Draw the mean image of the detector",
			Long: "Draw the mean of all frames on axes of q, with logarithmic colours. Circles and\nrays show where bins of q and azimuth meet, with --rings.",
			Flag: "rings", About: "draw the borders of the bins of q and azimuth"},
			func(r *nexus.Result, c Choice) (*viz.Figure, error) { return Scattering2D(r, c.Flag) }, nil},
		ResultPicture{Picture{Kind: "intensity", Short: "Draw intensity against time",
			Long: "Draw the mean intensity of each frame against time, and the amplitudes of its\nFourier transform against the frequency."},
			func(r *nexus.Result, _ Choice) (*viz.Figure, error) { return Intensity(r) }, intensityTogether},
		ResultPicture{Picture{Kind: "twotime", Short: "Draw the two-time correlation of a bin",
			Long: "Draw C2 of a bin against both times, or with --diagonals g2 along its diagonals\nfor the whole map and for blocks of age. For a run folder of fit twotime or\nsample twotime, draw the data, the model and the residuals of each angle, and\nthe mean residuals against lag and age; with --diagonals, draw data and model\nagainst the lag at three ages. For a run folder, --bins selects angles,\ncounted from 1.",
			Flag: "diagonals", About: "draw g2 along the diagonals", Bins: true}, twotimeOf, nil})
	pictures.maps = append(pictures.maps,
		QMapPicture{Picture{Kind: "qmap", Short: "Draw the bins of a q map", Long: "Draw the bins of a q map or a result file"},
			func(q *nexus.QMap) (*viz.Figure, error) { return Partition(q) }},
		QMapPicture{Picture{Kind: "mask", Short: "Draw a mask", Long: "Draw the mask of a mask file, a q map or a result file"},
			func(q *nexus.QMap) (*viz.Figure, error) { return Mask(q) }})
}

// BinsOf returns up to 12 dynamic bins of a result, evenly spread.
func BinsOf(r *nexus.Result) (bins []int) {
	all := r.QMap.Dynamic.Bins()
	n := min(all, mostBins)
	for i := range n {
		bins = append(bins, 1+i*(all-1)/max(n-1, 1))
	}
	return bins
}

// binTitle names a dynamic bin by its number and place. Its q is the mean over its pixels where that is known, as in fits, and not the centre
// of its cell.
func binTitle(q *nexus.QMap, bin int) string {
	name, _ := q.Axis(0)
	if name != "q" || bin < 1 || bin > len(q.BinQ) {
		return fmt.Sprintf("bin %d: %s", bin, q.Label(bin))
	}
	title := fmt.Sprintf("bin %d: %s", bin, q.AxisLabel(0, q.Q(bin)))
	if len(q.Dynamic.Axis1) > 1 {
		_, second := q.Dynamic.Values(bin)
		title += ", " + q.AxisLabel(1, second)
	}
	return title
}

// G2 draws g2 of bins against the delay. With overlay they share one frame, and otherwise each has its own.
func G2(r *nexus.Result, bins []int, overlay bool) (*viz.Figure, error) {
	if r.Multitau == nil {
		return nil, errors.New("the file has no multi-tau correlation: give a result file that has one")
	}
	var all []viz.Curve
	for _, b := range bins {
		y, _ := r.Multitau.Bin(b)
		sd := r.Multitau.Errors(b)
		all = append(all, viz.Curve{Title: binTitle(r.QMap, b), XLabel: "delay (s)", YLabel: "g2", LogX: true, X: r.Delays(), Y: y, Err: sd})
	}
	switch {
	case len(all) == 1:
		return viz.Fit(all[0])
	case overlay:
		return viz.Stack(all, 0)
	}
	f, err := viz.Grid(all)
	if err == nil {
		f.Title = fmt.Sprintf("g2 of %d of the %d bins, with standard errors", len(all), r.QMap.Dynamic.Bins())
	}
	return f, err
}

// Stability draws g2 of the first parts of a measurement, and of all of it, for some bins.
func Stability(r *nexus.Result, bins []int) (*viz.Figure, error) {
	m := r.Multitau
	if m == nil || len(m.Partial) == 0 {
		return nil, errors.New("the file has no g2 of parts of the measurement: correlate with --parts to keep them")
	}
	var plots []viz.Lines
	for _, b := range bins {
		p := viz.Lines{Title: binTitle(r.QMap, b), XLabel: "delay (s)", YLabel: "g2", LogX: true}
		for i, part := range m.Partial {
			name := fmt.Sprintf("part %d", i+1)
			if i < len(m.PartialFrames) {
				name = fmt.Sprintf("first %g frames (%.3g s)", m.PartialFrames[i], m.PartialFrames[i]*r.FrameTime)
			}
			p.Curves = append(p.Curves, numbersOnly(viz.Line{Name: name, X: r.Delays(), Y: part.Column(b - 1)}))
		}
		y, _ := m.Bin(b)
		p.Curves = append(p.Curves, viz.Line{Name: "all frames", X: r.Delays(), Y: y})
		plots = append(plots, p)
	}
	return viz.Tiles("g2 of the first frames of the measurement, and of all", plots...)
}

// numbersOnly leaves out the points of a line that are not finite.
func numbersOnly(l viz.Line) viz.Line {
	out := viz.Line{Name: l.Name}
	for i, y := range l.Y {
		if !math.IsNaN(y) && !math.IsInf(y, 0) {
			out.X, out.Y = append(out.X, l.X[i]), append(out.Y, y)
			if l.Err != nil {
				out.Err = append(out.Err, l.Err[i])
			}
		}
	}
	return out
}

// SAXS draws intensity against q: the mean over azimuth, a line for each azimuth if there are several, and parts of the
// measurement if the file has them.
func SAXS(r *nexus.Result) (*viz.Figure, error) {
	p := r.Profile()
	if p == nil {
		return nil, errors.New("the file has no intensities of static bins: give a result file that has them")
	}
	name, unit := r.QMap.Axis(0)
	if unit != "" {
		name += " (" + unit + ")"
	}
	lines := viz.Lines{Title: "Intensity", XLabel: name, YLabel: "counts per pixel and frame", LogX: true, LogY: true}
	for i := range p.Lines.Rows {
		label := "mean"
		if i > 0 {
			if i > mostBins {
				break
			}
			label = r.QMap.AxisLabel(1, r.QMap.Static.Axis1[i-1])
		}
		lines.Curves = append(lines.Curves, positive(viz.Line{Name: label, X: p.Q, Y: p.Lines.Row(i)}))
	}
	all := []viz.Lines{lines}
	if s := r.SegmentProfiles(); s != nil && s.Rows > 1 {
		parts := viz.Lines{Title: "Intensity of parts of the measurement", XLabel: name, YLabel: "counts per pixel and frame", LogX: true, LogY: true}
		for i := range min(s.Rows, mostBins) {
			parts.Curves = append(parts.Curves, positive(viz.Line{Name: partName("part", i, float64(s.Rows), framesOf(r)*r.FrameTime), X: p.Q, Y: s.Row(i)}))
		}
		all = append(all, parts)
	}
	return viz.Plots("Intensity against q", all...)
}

// framesOf returns the number of frames of a measurement, or 0 where the file does not say it.
func framesOf(r *nexus.Result) float64 {
	if r.Trace == nil || len(r.Trace.Frame) == 0 {
		return 0
	}
	n := float64(len(r.Trace.Frame))
	if n > 1 { // the trace may have a value for several frames
		n *= (r.Trace.Frame[len(r.Trace.Frame)-1] - r.Trace.Frame[0]) / (n - 1)
	}
	return n
}

// partName names part i, from 0, of n equal parts of a time in seconds.
func partName(name string, i int, n, time float64) string {
	if !(time > 0) {
		return fmt.Sprintf("%s %d", name, i+1)
	}
	return fmt.Sprintf("%s %.3g to %.3g s", name, float64(i)*time/n, float64(i+1)*time/n)
}

// positive leaves out what has no place on logarithmic axes.
func positive(l viz.Line) viz.Line {
	out := viz.Line{Name: l.Name, Thin: l.Thin}
	for i, y := range l.Y {
		if y > 0 && l.X[i] > 0 && !math.IsInf(y, 0) {
			out.X, out.Y = append(out.X, l.X[i]), append(out.Y, y)
		}
	}
	return out
}

// Scattering2D draws the mean image of the detector over q, with logarithmic colours. Masked pixels are grey and do not count for the
// range of the colours. Rings are the borders of the dynamic bins.
func Scattering2D(r *nexus.Result, rings bool) (*viz.Figure, error) {
	m, err := r.ReadImage()
	if err != nil {
		return nil, err
	}
	var keep []bool // nil where the file does not say which pixels are masked
	q := *r.QMap
	if maps, err := r.ReadMaps(); err == nil && maps != nil && maps.Height == m.Rows && maps.Width == m.Cols {
		keep, q.Maps = maps.Mask, maps
	}
	im := detector(&q, m.Rows, m.Cols, func(row, col int) float64 {
		if keep != nil && !keep[row*m.Cols+col] {
			return math.NaN()
		}
		return m.At(row, col)
	})
	im.Title, im.ZLabel, im.Log = "Mean image", "counts per pixel and frame", true
	if rings {
		if im.Lines = ringsOf(r.QMap); im.Lines == nil {
			return nil, errors.New("there are no rings to draw: the bins of this file are not those of q, or it lacks the geometry: draw the picture without --rings")
		}
	}
	f, err := viz.Heat(im)
	if err == nil && keep != nil && slices.Contains(keep, false) {
		f.Note = "Grey: " + maskedNote(keep)
	}
	return f, err
}

// detector returns an image of pixels with the row axis downwards, over q where the map says it. Large ones are thinned out.
func detector(q *nexus.QMap, height, width int, at func(row, col int) float64) viz.Image {
	step := max((height+mostPixels-1)/mostPixels, (width+mostPixels-1)/mostPixels, 1)
	im := viz.Image{XLabel: "column (pixel)", YLabel: "row (pixel)", Equal: true, Told: place{q, height, width}.told}
	scale, known := perPixel(q)
	if known {
		im.XLabel, im.YLabel = "q_{x} (1/Å)", "q_{y} (1/Å)"
	} else {
		im.RowsDown = true
	}
	for col := 0; col < width; col += step {
		x := float64(col)
		if known {
			x = (x - q.BeamX) * scale
		}
		im.X = append(im.X, x)
	}
	for row := (height - 1) / step * step; row >= 0; row -= step {
		y := -float64(row)
		if known {
			y = (q.BeamY - float64(row)) * scale
		}
		im.Y = append(im.Y, y)
		line := make([]float64, len(im.X))
		for i := range line {
			line[i] = at(row, i*step)
		}
		im.Z = append(im.Z, line)
	}
	return im
}

// Partition draws which dynamic and static bin each pixel belongs to; masked ones are grey.
func Partition(q *nexus.QMap) (*viz.Figure, error) {
	if q.Maps == nil {
		return nil, errors.New("the q map has no images of the detector: give a q-map file or a result file that contains them")
	}
	m := q.Maps
	bins := func(of []int32, title string) viz.Image {
		im := detector(q, m.Height, m.Width, func(row, col int) float64 {
			if b := of[row*m.Width+col]; b > 0 {
				return float64(b)
			}
			return math.NaN()
		})
		im.Title, im.ZLabel = title, "bin"
		im.Low, im.High = 1, float64(max(slices.Max(of), 2))
		return im
	}
	f, err := viz.Images("Bins of the q map", [][]viz.Image{{bins(m.Dynamic, "dynamic bins"), bins(m.Static, "static bins")}})
	if err == nil && f.Note != "" {
		f.Note = "Grey: " + maskedNote(m.Mask)
	}
	return f, err
}

// Mask draws which pixels a mask keeps.
func Mask(q *nexus.QMap) (*viz.Figure, error) {
	if q.Maps == nil {
		return nil, errors.New("the q map has no images of the detector: give a q-map file or a result file that contains them")
	}
	m := q.Maps
	im := detector(q, m.Height, m.Width, func(row, col int) float64 {
		if m.Mask[row*m.Width+col] {
			return 1
		}
		return 0
	})
	im.Title, im.ZLabel, im.Low, im.High = "Mask", "kept", 0, 1
	f, err := viz.Heat(im)
	if err == nil {
		f.Note = maskedNote(m.Mask)
	}
	return f, err
}

// maskedNote says how many pixels a mask leaves out.
func maskedNote(keep []bool) string {
	n := 0
	for _, k := range keep {
		if !k {
			n++
		}
	}
	return fmt.Sprintf("%d of %d pixels are masked (%.3g %%).", n, len(keep), 100*float64(n)/float64(len(keep)))
}

// twotimeOf draws the two-time correlation of the first bin that is chosen.
func twotimeOf(r *nexus.Result, c Choice) (*viz.Figure, error) {
	if r.Twotime == nil {
		return nil, errors.New("the file has no two-time correlation: make one with euryale correlate --correlation twotime")
	}
	i := slices.Index(r.Twotime.Bins, c.Bins[0])
	if i < 0 {
		return nil, fmt.Errorf("bin %d has no two-time correlation: choose from bins %v", c.Bins[0], r.Twotime.Bins)
	}
	image, curves, err := Twotime(r, i)
	if c.Flag {
		return curves, err
	}
	return image, err
}

// Twotime draws the two-time correlation at an index of Twotime.Bins, from 0, with g2 along its
// diagonals, both for the whole map and for blocks of its age.
func Twotime(r *nexus.Result, i int) (image, curves *viz.Figure, err error) {
	if r.Twotime == nil {
		return nil, nil, errors.New("the file has no two-time correlation: compute the two-time correlation first")
	}
	c, err := r.ReadC2Means(i, mostTimes)
	if err != nil {
		return nil, nil, err
	}
	im := viz.Image{Title: "Two-time correlation of " + binTitle(r.QMap, c.Bin), XLabel: "t1 (s)", YLabel: "t2 (s)", ZLabel: "C2", Equal: true}
	for k := range c.Rows {
		middle := (float64(k) + 0.5) * c.Step
		im.X, im.Y, im.Z = append(im.X, middle), append(im.Y, middle), append(im.Z, c.Row(k))
	}
	limits := stat.Percentile(slices.DeleteFunc(slices.Clone(c.Data), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }), []float64{0.5, 99.5}, stat.LinearMethod)
	im.Low, im.High = limits[0], limits[1]
	if image, err = viz.Heat(im); err != nil {
		return nil, nil, err
	}
	full, parts := r.Twotime.Bin(i)
	p := viz.Lines{Title: binTitle(r.QMap, c.Bin), XLabel: "delay (s)", YLabel: "g2", LogX: true}
	add := func(name string, y []float64) {
		if len(y) < 2 { // delay 0 has the noise of counts
			return
		}
		if l := numbersOnly(logMeans(viz.Line{Name: name, X: r.TwotimeDelays(len(y))[1:], Y: y[1:]})); len(l.X) > 0 {
			p.Curves = append(p.Curves, l)
		}
	}
	for k, y := range parts {
		add(partName("age", k, float64(len(parts)), float64(len(parts)*len(y))*delayStep(r, len(y))), y)
	}
	add("all", full)
	if len(p.Curves) == 0 { // a file that has none
		p.Curves = []viz.Line{logMeans(alongDiagonals(c))}
	}
	if curves, err = viz.Plots("g2 along the diagonals", p); err == nil {
		curves.Note = "Points are means over ranges of delays, and ages are those of short delays."
	}
	return image, curves, err
}

// delayStep returns the time between neighbouring diagonals of a two-time correlation, of which there are n, in seconds.
func delayStep(r *nexus.Result, n int) float64 {
	if d := r.TwotimeDelays(n); len(d) > 1 {
		return d[1] - d[0]
	}
	return 0
}

// logMeans returns the means of a line over ranges of x whose width grows with x, because the last diagonals of a
// two-time correlation are means of few entries. X are equally spaced from one step on.
func logMeans(l viz.Line) viz.Line {
	out := viz.Line{Name: l.Name}
	for _, b := range lagBins(len(l.X) + 1) {
		x, y, n := 0.0, 0.0, 0.0
		for i := b[0] - 1; i < b[1]-1; i++ {
			if v := l.Y[i]; !math.IsNaN(v) && !math.IsInf(v, 0) {
				x, y, n = x+l.X[i], y+v, n+1
			}
		}
		if n > 0 {
			out.X, out.Y = append(out.X, x/n), append(out.Y, y/n)
		}
	}
	return out
}

// alongDiagonals returns means of a two-time correlation along its diagonals, beside the main one.
func alongDiagonals(c *nexus.C2) viz.Line {
	l := viz.Line{Name: "all"}
	for lag := 1; lag < c.Rows; lag++ {
		sum, count := 0.0, 0.0
		for i := range c.Rows - lag {
			if v := c.At(i, i+lag); !math.IsNaN(v) && !math.IsInf(v, 0) {
				sum, count = sum+v, count+1
			}
		}
		if count > 0 {
			l.X, l.Y = append(l.X, float64(lag)*c.Step), append(l.Y, sum/count)
		}
	}
	return l
}

// Correlation returns the page of a result file, with as many of g2, intensities, the mean image and
// the two-time correlation as the file has.
func Correlation(r *nexus.Result, notes []string, s Settings) *Page {
	album := &Album{Note: s.Note, DPI: s.DPI}
	facts := []viz.Fact{{Name: "file", Value: r.File}, {Name: "frame time", Value: fmt.Sprintf("%g s", r.FrameTime)}, {Name: "bins", Value: fmt.Sprint(r.QMap.Dynamic.Bins())}}
	if r.Trace != nil {
		facts = append(facts, viz.Fact{Name: "frames", Value: fmt.Sprint(len(r.Trace.Mean))})
	}
	p := &Page{Report: viz.Report{Title: "Correlation of " + r.Label(), Facts: s.facts(facts)}}
	section := func(title, text string, names []string, draw func() ([]*viz.Figure, error)) {
		figures, err := draw()
		if err != nil {
			return
		}
		for i, f := range figures {
			album.Add(names[i], f, nil)
		}
		p.Sections = append(p.Sections, viz.Section{Title: title, Text: text, Figures: figures})
	}
	one := func(f *viz.Figure, err error) ([]*viz.Figure, error) { return []*viz.Figure{f}, err }
	if len(notes) > 0 {
		text := "What was found while the frames were read:"
		for _, n := range notes {
			text += "\n- " + n
		}
		p.Sections = append(p.Sections, viz.Section{Title: "Notes", Text: text})
	}
	section("g2", "", []string{"g2"}, func() ([]*viz.Figure, error) { return one(G2(r, BinsOf(r), false)) })
	section("Stability", "If the curves of parts deviate from the curve of all frames, the sample changes during the measurement, or the beam changes it.", []string{"stability"}, func() ([]*viz.Figure, error) {
		return one(Stability(r, BinsOf(r)[:min(3, len(BinsOf(r)))]))
	})
	section("Intensity", "", []string{"saxs"}, func() ([]*viz.Figure, error) { return one(SAXS(r)) })
	section("Intensity against time", "", []string{"intensity"}, func() ([]*viz.Figure, error) { return one(Intensity(r)) })
	section("Detector", "", []string{"image"}, func() ([]*viz.Figure, error) { return one(Scattering2D(r, false)) })
	if r.Twotime != nil {
		for i := range min(len(r.Twotime.Bins), 3) {
			section(fmt.Sprintf("Two-time correlation of bin %d", r.Twotime.Bins[i]), "", []string{fmt.Sprintf("twotime-%d", r.Twotime.Bins[i]), fmt.Sprintf("ages-%d", r.Twotime.Bins[i])}, func() ([]*viz.Figure, error) {
				image, curves, err := Twotime(r, i)
				return []*viz.Figure{image, curves}, err
			})
		}
	}
	p.Album = *album
	return p
}

// Correlated is a file of frames and the result of correlating it, for Correlations.
type Correlated struct {
	Frames, Result string // names of the file of frames and of the result file
	Failed         string // reason why there is no result; "" if there is one
	Notes          []string
}

// mostShown is the number of results whose curves are drawn on the page of many.
const mostShown = 20

// Correlations returns the page of many files, the newest first: a table, and the curves of the last ones.
func Correlations(files []Correlated, s Settings) *Page {
	p := &Page{Report: viz.Report{Title: "Correlations", Facts: s.facts([]viz.Fact{{Name: "files", Value: fmt.Sprint(len(files))}})}, Album: Album{Note: s.Note, DPI: s.DPI}}
	var rows strings.Builder
	rows.WriteString("<table><tr><th>frames</th><th>result</th><th class=text>notes</th></tr>")
	failed := 0
	for i := len(files) - 1; i >= 0; i-- {
		f := files[i]
		note := strings.Join(f.Notes, "; ")
		if f.Failed != "" {
			failed++
			note = "failed: " + f.Failed
		}
		fmt.Fprintf(&rows, "<tr><td>%s</td><td>%s</td><td class=text>%s</td></tr>", html.EscapeString(foreign.Text(f.Frames)), html.EscapeString(foreign.Text(f.Result)), html.EscapeString(foreign.Text(note)))
	}
	rows.WriteString("</table>")
	p.Facts = append(p.Facts, viz.Fact{Name: "failed", Value: fmt.Sprint(failed)})
	p.Sections = append(p.Sections, viz.Section{Title: "Files", Tables: []string{rows.String()}})
	shown := 0
	for i := len(files) - 1; i >= 0 && shown < mostShown; i-- {
		if files[i].Failed != "" {
			continue
		}
		r, err := nexus.Open(files[i].Result)
		if err != nil {
			continue
		}
		section := viz.Section{Title: r.Label(), Text: strings.Join(files[i].Notes, "\n\n")}
		for _, draw := range []func() (*viz.Figure, error){func() (*viz.Figure, error) { return G2(r, BinsOf(r)[:min(4, len(BinsOf(r)))], false) }, func() (*viz.Figure, error) { return SAXS(r) }} {
			if f, err := draw(); err == nil {
				section.Figures = append(section.Figures, f)
			}
		}
		r.Close()
		p.Sections = append(p.Sections, section)
		shown++
	}
	return p
}
