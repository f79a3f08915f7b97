// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tiffOf is frames of 16-bit numbers as the pages of a TIFF file, put together as the format is described.
func tiffOf(all []uint16, height, width int) []byte {
	le := binary.LittleEndian
	out := []byte("II*\x00\x00\x00\x00\x00")
	link := 4 // where the position of the next page goes
	for size := height * width; len(all) > 0; all = all[size:] {
		at := len(out)
		for _, v := range all[:size] {
			out = le.AppendUint16(out, v)
		}
		le.PutUint32(out[link:], uint32(len(out)))
		tags := [][2]int{{256, width}, {257, height}, {258, 16}, {259, 1}, {262, 1}, {273, at}, {277, 1}, {278, height}, {279, 2 * size}, {339, 1}}
		out = le.AppendUint16(out, uint16(len(tags)))
		for _, t := range tags {
			out = le.AppendUint16(le.AppendUint16(out, uint16(t[0])), 4)
			out = le.AppendUint32(le.AppendUint32(out, 1), uint32(t[1]))
		}
		link = len(out)
		out = append(out, 0, 0, 0, 0)
	}
	return out
}

// edfOf is frames of 32-bit numbers as the images of an EDF file, each with a header.
func edfOf(all []int32, height, width int) []byte {
	var out []byte
	for size := height * width; len(all) > 0; all = all[size:] {
		head := fmt.Sprintf("{\nDataType = SignedInteger ;\nByteOrder = HighByteFirst ;\nDim_1 = %d ;\nDim_2 = %d ;\n", width, height)
		out = append(out, head+strings.Repeat(" ", 510-len(head))+"}\n"...)
		for _, v := range all[:size] {
			out = binary.BigEndian.AppendUint32(out, uint32(v))
		}
	}
	return out
}

// Stacks of pictures, and folders of numbered ones with one or several frames in each, are movies.
func TestStacksAndSeries(t *testing.T) {
	const n, h, w = 7, 3, 5
	all := movie(n, h, w)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for i := range n {
		write(t, at(fmt.Sprintf("one/x_%d_raw.tif", 8+i)), tiffOf(as[uint16](all[i*h*w:(i+1)*h*w]), h, w)) // 8, 9, 10: names do not sort as numbers
	}
	write(t, at("one/notes.txt"), []byte("not a picture"))
	for i := 0; i < n; i += 3 {
		write(t, at(fmt.Sprintf("three/scan%04d.edf", i)), nil)
		write(t, at(fmt.Sprintf("three/scan%04d.edf", i/3)), edfOf(as[int32](all[i*h*w:min(n, i+3)*h*w]), h, w))
	}
	os.Remove(at("three/scan0003.edf"))
	os.Remove(at("three/scan0006.edf"))
	for _, name := range []string{write(t, at("a.tif"), tiffOf(as[uint16](all), h, w)), write(t, at("a.edf"), edfOf(as[int32](all), h, w)), at("one"), at("three")} {
		f, err := Open(name, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if f.Format != "pictures" || f.Missing != "" {
			t.Errorf("%s: %s, %q", name, f.Format, f.Missing)
		}
		check(t, f, all)
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Numbers of a series without a file and empty files are named, and their frames have no counts; what is no single series is refused.
func TestGapsOfSeries(t *testing.T) {
	const h, w = 3, 5
	all := movie(12, h, w)
	dir := t.TempDir()
	for i := range 12 {
		if i >= 4 && i < 7 {
			continue
		}
		b := tiffOf(as[uint16](all[i*h*w:(i+1)*h*w]), h, w)
		if i == 9 {
			b = nil
		}
		write(t, filepath.Join(dir, fmt.Sprintf("s_%03d.tif", i+1)), b)
	}
	f, err := Open(dir, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if want := "3 files are missing (5-7) and 1 file is empty (0 bytes) (10)"; f.Frames != 12 || !strings.Contains(f.Missing, want) {
		t.Errorf("%d frames, %q: want %q", f.Frames, f.Missing, want)
	}
	got := make([]float32, 12*h*w)
	if err := f.Dense(0, got); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if gap := i/(h*w) == 9 || i/(h*w) >= 4 && i/(h*w) < 7; gap != (v != v) || !gap && v != all[i] {
			t.Fatalf("frame %d: %g, want %g", i/(h*w), v, all[i])
		}
	}
	for _, c := range []struct{ name, more, want string }{
		{"t_1.tif", string(tiffOf(as[uint16](all[:h*w]), h, w)), "2 series of pictures: s_*.tif (9 files), t_*.tif (1 file)"},
		{"s_0001.tif", "x", "s_0001.tif and s_001.tif have the same number"},
		{"s_900.tif", string(tiffOf(as[uint16](all[:h*w]), h, w)), "10 files with numbers from 1 to 900"},
		{"s_005.tif", string(tiffOf(as[uint16](all[:2*h*w]), h, w)), "has 2 pictures of 3 x 5 pixels of type u2, and the first of the series has 1 picture"},
	} {
		name := write(t, filepath.Join(dir, c.name), []byte(c.more))
		f, err := Open(dir, Settings{})
		if err == nil {
			err = f.Dense(0, got)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: want %q", err, c.want)
		}
		os.Remove(name)
	}
	if _, err := Open(t.TempDir(), Settings{}); err == nil || !strings.Contains(err.Error(), "is a folder without any file that ends in") {
		t.Error(err)
	}
}
