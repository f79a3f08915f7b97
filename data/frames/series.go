// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// series is a folder of numbered files of pictures as frames. One file is open at a time.
type series struct {
	files  []string // by number from the first one on; "" where one is missing or empty
	each   int      // number of pictures of a file; the last may have fewer
	height int
	width  int
	typ    string // of the numbers, see maskfile.Stack
	most   int
	marked func(v float32) bool

	open *album
	at   int // file that is open
}

var (
	_ source   = (*series)(nil)
	_ markable = (*series)(nil)
)

// member is a file of a series.
type member struct {
	number int
	path   string
	empty  bool
}

// numberOf takes the name of a file apart: what stands before its last number, the number, and what follows.
var numberOf = regexp.MustCompile(`^(.*?)([0-9]+)([^0-9]*)$`)

// mostGap is how many times as many numbers as files a series may span.
const mostGap = 4

// openSeries opens a folder of numbered pictures of one kind.
func openSeries(folder string, s Settings) (*File, error) {
	f := newFile(folder, s)
	if f.Format = cmp.Or(s.Format, picturesName); f.Format != picturesName {
		return nil, f.bad("name its files", "it is a folder, and folders hold series of pictures, not frames of the format %s", f.Format)
	}
	found, err := seriesIn(folder)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(found))
	switch {
	case len(names) == 0:
		var endings []string
		for _, name := range Formats() {
			endings = append(endings, formats[name].extensions...)
		}
		_, err := foreign.Open(folder, slices.Compact(slices.Sorted(slices.Values(append(endings, ".npy"))))...) // says what is in the folder
		return nil, err
	case len(names) > 1:
		var parts []string
		for _, n := range names[:min(len(names), 3)] {
			parts = append(parts, fmt.Sprintf("%s (%s)", n, errtext.Count(len(found[n]), "file")))
		}
		return nil, f.bad("move each to a folder of its own", "the folder has %d series of pictures: %s", len(names), strings.Join(parts, ", "))
	}
	if err := f.series(names[0], found[names[0]]); err != nil {
		return nil, err
	}
	f.findMarks()
	return f, nil
}

// seriesIn returns the files of each series in a folder by its name, such as scan_*.tif, in the order of their numbers.
func seriesIn(folder string) (map[string][]member, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	found := map[string][]member{}
	for _, e := range entries {
		name := e.Name()
		ending := slices.IndexFunc(maskfile.StackEndings, func(x string) bool { return strings.HasSuffix(strings.ToLower(name), x) })
		if ending < 0 || strings.HasPrefix(name, ".") {
			continue
		}
		stem := name[:len(name)-len(maskfile.StackEndings[ending])]
		m := numberOf.FindStringSubmatch(stem)
		info, err := os.Stat(filepath.Join(folder, name))
		if m == nil || err != nil || !info.Mode().IsRegular() {
			continue
		}
		number, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		key := m[1] + "*" + m[3] + name[len(stem):]
		found[key] = append(found[key], member{number, filepath.Join(folder, name), info.Size() == 0})
	}
	for _, list := range found {
		slices.SortFunc(list, func(a, b member) int { return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.path, b.path)) })
	}
	return found, nil
}

// series makes frames of the files of a series.
func (f *File) series(name string, list []member) error {
	first, last := list[0].number, list[len(list)-1].number
	if last-first >= mostGap*len(list)+16 {
		return f.bad("rename the files so that their numbers follow each other", "the series %s has %s with numbers from %d to %d, far more than there are", name, errtext.Count(len(list), "file"), first, last)
	}
	sr := &series{files: make([]string, last-first+1), at: -1, most: f.most}
	var blank []int
	whole := ""
	for i, x := range list {
		if i > 0 && x.number == list[i-1].number {
			return f.bad("keep one of them", "%s and %s have the same number", filepath.Base(list[i-1].path), filepath.Base(x.path))
		}
		if x.empty {
			blank = append(blank, x.number)
			continue
		}
		if sr.files[x.number-first] = x.path; whole == "" {
			whole = x.path
		}
	}
	if whole == "" {
		return f.bad("copy them again", "all of %s of the series %s are empty (0 bytes)", errtext.Count(len(list), "file"), name)
	}
	k, err := maskfile.OpenStack(whole, maskfile.Settings{MaxPixels: f.most})
	if err != nil {
		return err
	}
	defer k.Close()
	if err := f.size(k.Height, k.Width); err != nil {
		return err
	}
	sr.each, sr.height, sr.width, sr.typ = k.Images, k.Height, k.Width, k.Type
	f.Frames, f.Mark, f.source = len(sr.files)*sr.each, k.Mark(), sr
	if end := sr.files[len(sr.files)-1]; sr.each > 1 && end != "" {
		tail, err := maskfile.OpenStack(end, maskfile.Settings{MaxPixels: f.most})
		if err != nil {
			return err
		}
		f.Frames += tail.Images - sr.each
		tail.Close()
	}
	var missing []int
	for i, path := range sr.files {
		if n := first + i; path == "" && !slices.Contains(blank, n) {
			missing = append(missing, n)
		}
	}
	f.Missing = missingText(name, missing, blank)
	return nil
}

// missingText names the numbers of a series without a file and those of empty files.
func missingText(name string, missing, blank []int) string {
	var parts []string
	for _, of := range []struct {
		numbers []int
		are     string
	}{{missing, "missing"}, {blank, "empty (0 bytes)"}} {
		if n := len(of.numbers); n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s %s (%s)", errtext.Count(n, "file"), errtext.Agree(n, "is", "are"), of.are, runs(of.numbers)))
		}
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("of the series %s, %s: their frames are taken as bad, so that the times of the others stay what they are; if nothing was lost there, rename the files so that their numbers follow each other", name, strings.Join(parts, " and "))
}

// runs writes numbers in ascending order as ranges, at most six of them.
func runs(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if len(parts) == 6 {
			return strings.Join(parts, ", ") + " ..."
		}
		if parts = append(parts, fmt.Sprint(numbers[i])); j > i {
			parts[len(parts)-1] += fmt.Sprintf("-%d", numbers[j])
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

func (s *series) dense(first int, dst []float32) error {
	pixels := s.height * s.width
	for i := 0; i < len(dst); i += pixels {
		if err := s.frame(first+i/pixels, dst[i:i+pixels]); err != nil {
			return err
		}
	}
	return nil
}

// frame reads one frame, NaN throughout if there is no file of it.
func (s *series) frame(k int, dst []float32) error {
	file := k / s.each
	if s.files[file] == "" {
		for i := range dst {
			dst[i] = nan
		}
		return nil
	}
	if err := s.openFile(file); err != nil {
		return err
	}
	return s.open.picture(k%s.each, dst)
}

// openFile opens a file of the series in place of the one that is open.
func (s *series) openFile(file int) error {
	if s.at == file {
		return nil
	}
	s.close()
	k, err := maskfile.OpenStack(s.files[file], maskfile.Settings{MaxPixels: s.most})
	if err != nil {
		return err
	}
	if k.Height != s.height || k.Width != s.width || k.Type != s.typ || k.Images != s.each && file < len(s.files)-1 {
		k.Close()
		return &FormatError{Format: "frames", File: k.Name, What: fmt.Sprintf("the file has %s of %d x %d pixels of type %s, and the first of the series has %s of %d x %d of type %s",
			errtext.Count(k.Images, "picture"), k.Height, k.Width, k.Type, errtext.Count(s.each, "picture"), s.height, s.width, s.typ), Try: "move it out of the folder, or replace it"}
	}
	s.open, s.at = &album{Stack: k, marked: s.marked}, file
	return nil
}

func (s *series) events(first, n int, dst *Events) error {
	return fromDense(s, s.height*s.width, first, n, dst)
}

func (s *series) close() error {
	if s.open == nil {
		return nil
	}
	err := s.open.close()
	s.open, s.at = nil, -1
	return err
}

func (s *series) mark(is func(v float32) bool) {
	s.close()
	s.marked = is
}

func (s *series) class() int { return numberTypes[s.typ].class }
