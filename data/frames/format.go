// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// format is a format of movies. The file that reads it registers it.
type format struct {
	magic      string   // first bytes of every file; empty if there are none
	extensions []string // lower-case extensions of names, with the dot

	// shared is true if files of other formats have these extensions, too. A file that Settings describe as raw numbers is then raw,
	// whatever its extension.
	shared bool

	// open finds the frames of a file of size bytes: it sets the exported fields of f that differ from zero, and the source.
	open func(f *File, in *os.File, size int64, s Settings) error
}

// formats are the registered formats by name.
var formats = map[string]format{}

// register adds a format, for init functions.
func register(name string, f format) { formats[name] = f }

// Formats returns the names of the formats, in alphabetical order.
func Formats() []string { return slices.Sorted(maps.Keys(formats)) }

// describeRaw reports whether the settings describe frames of plain numbers.
func (s Settings) describeRaw() bool { return s.Height > 0 && s.Width > 0 && s.Type != "" }

// guess returns the format of a file, by its first bytes, its name and its description; it is empty if they do not tell.
func guess(name string, head []byte, s Settings) string {
	of := func(fits func(f format) bool) string {
		for _, name := range Formats() {
			if fits(formats[name]) {
				return name
			}
		}
		return ""
	}
	extension := strings.ToLower(filepath.Ext(name))
	if packed := filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz")) + ".gz"; extension == ".gz" {
		extension = packed
	}
	if found := of(func(f format) bool { return f.magic != "" && strings.HasPrefix(string(head), f.magic) }); found != "" {
		return found
	}
	if found := of(func(f format) bool { return !f.shared && slices.Contains(f.extensions, extension) }); found != "" {
		return found
	}
	if s.describeRaw() {
		return rawName
	}
	return of(func(f format) bool { return f.shared && slices.Contains(f.extensions, extension) })
}
