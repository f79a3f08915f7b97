// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// A mask is the same in each format, that of pyFAI with 1 for bad pixels; files of fabio 2026.6 and NumPy 2.4 are in testdata.
func TestGrids(t *testing.T) {
	want := []bool{true, false, true, true, true, false} // 2 x 3
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.txt": "# saved\n1.0e+00 0.0e+00 1\n1,1,0 # last\n", "b.csv": "1;0;1\r\n1;1;0\r\n", "c.dat": "1\t0\t1\n1\t1\t0",
		"d.edf": "{\nByteOrder = HighByteFirst ;\nDataType = SignedShort ;\nDim_1 = 3 ;\nDim_2 = 2 ;\n}\n\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	names = append(names, "testdata/mask.edf", "testdata/mask.npz", "testdata/several.npz:good")
	for _, name := range names {
		m, err := Read(name, Settings{Height: 2, Width: 3})
		if err != nil {
			t.Error(err)
		} else if !slices.Equal(m.Keep, want) {
			t.Errorf("%s: %v", name, m.Keep)
		}
	}
	if len(names) != 7 {
		t.Error(names)
	}
	if m, err := ReadImage("testdata/mask.edf", Settings{}); err != nil || !slices.Equal(m.Values, []float64{0, 1, 0, 0, 0, 1}) {
		t.Error(m, err)
	}
	for text, wrong := range map[string]string{"1 2 3\n1 2\n": "line 2 has 2 numbers instead of the 3", "1 2 x\n": `line 1: "x" is not a number`} {
		name := filepath.Join(dir, "bad.txt")
		os.WriteFile(name, []byte(text), 0o644)
		if _, err := Read(name, Settings{}); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%v, want %q", err, wrong)
		}
	}
	if _, err := Read("testdata/several.npz", Settings{}); err == nil || !strings.Contains(err.Error(), "2 arrays have two axes (good, other): name one with --dataset") {
		t.Error(err)
	}
}

// A dataset is named by --dataset or after the file, and a group with one image is enough; errors list what there is.
func TestNamedDatasets(t *testing.T) {
	name := filepath.Join(t.TempDir(), "m.h5")
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w.Write("/good", []uint8{1, 0}, hdf5.Layout{Shape: []int{1, 2}})
	w.Write("/image", []float64{7, 8}, hdf5.Layout{Shape: []int{1, 2}})
	w.Write("/set/data", []uint8{0, 1}, hdf5.Layout{Shape: []int{1, 2}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]bool{"/good": {true, false}, "good": {true, false}, "/set": {false, true}, "set/data": {false, true}} {
		m, err := Read(name+":"+path, Settings{})
		if err != nil || !slices.Equal(m.Keep, want) {
			t.Errorf("%s: %v, %v", path, m, err)
		}
		if m, err = Read(name, Settings{Key: path}); err != nil || !slices.Equal(m.Keep, want) {
			t.Errorf("%s: %v, %v", path, m, err)
		}
	}
	if _, err := Read(name, Settings{}); err == nil || !strings.Contains(err.Error(), "3 datasets have two axes, such as /good, /image, /set/data: name one with --dataset, or as FILE:/good") {
		t.Error(err)
	}
}

// The size that a file declares is checked before memory is taken for it.
func TestDeclaredSizes(t *testing.T) {
	const huge = 1 << 20
	head := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d), }\n", huge, huge)
	npy := append([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(head)))...)
	npy = append(npy, head...)
	var npz bytes.Buffer
	z := zip.NewWriter(&npz)
	f, _ := z.Create("mask.npy")
	f.Write(npy)
	z.Close()
	edf := fmt.Sprintf("{ Dim_1 = %d ; Dim_2 = %d ; DataType = FloatValue ; }\n", huge, huge)
	for kind, b := range map[string][]byte{"npy": npy, "npz": npz.Bytes(), "edf": []byte(edf)} {
		if _, err := gridReaders[kind](bytes.NewReader(b), int64(len(b)), Settings{}); err == nil || !strings.Contains(err.Error(), "at most 67108864") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	tiff := bigEndian(16, 1, 5, []byte{1, 2, 3})
	for at := 10; at+12 <= len(tiff); at += 12 { // the numbers of rows and columns
		if tag := binary.BigEndian.Uint16(tiff[at:]); tag == tagWidth || tag == tagHeight {
			binary.BigEndian.PutUint16(tiff[at+2:], 4)
			binary.BigEndian.PutUint32(tiff[at+8:], 8000)
		}
	}
	if _, err := readTIFF(bytes.NewReader(tiff), int64(len(tiff)), Settings{}); err == nil || !strings.Contains(err.Error(), "too few for 8000 x 8000 pixels") {
		t.Error(err)
	}
}
