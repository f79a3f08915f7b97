// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Small files that hold or declare more than an image may have are refused before memory is taken for it.
func TestBombs(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("{\nDim_1 = 8 ;\nDim_2 = 8 ;\nDataType = UnsignedByte ;\n}\n"))
	for range 80 {
		z.Write(make([]byte, 1<<20))
	}
	z.Close()
	pages := binary.LittleEndian.AppendUint32([]byte("II*\x00"), 8)
	for i := range 1000 { // each page is followed by the next, and the last by the first
		pages = append(pages, 1, 0, 0xfe, 0, 4, 0, 1, 0, 0, 0, 1, 0, 0, 0)
		pages = binary.LittleEndian.AppendUint32(pages, uint32(8+18*((i+1)%1000)))
	}
	cbf := "###CBF: VERSION 1.5\r\n--CIF-BINARY-FORMAT-SECTION--\r\nconversions=\"x-CBF_BYTE_OFFSET\"\r\nX-Binary-Size: 1000\r\nX-Binary-Element-Type: \"signed 32-bit integer\"\r\n" +
		"X-Binary-Size-Fastest-Dimension: 1000000\r\nX-Binary-Size-Second-Dimension: 1000000\r\n\r\n" + cbfStart
	for name, c := range map[string]struct {
		bytes []byte
		want  string
	}{
		"a.edf.gz": {packed.Bytes(), "which no image of the largest size has"},
		"a.tif":    {pages, "followed by an earlier one"},
		"a.cbf":    {[]byte(cbf), "1000000 x 1000000 pixels"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, c.bytes, 0o644); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadImage(path, Settings{MaxPixels: 1 << 20})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
			t.Errorf("%s: %d bytes were allocated", name, n)
		}
	}
}

// Bytes of a CBF image that changed are found by its MD5, and bytes of its header end in errors or change nothing.
func TestChangedCBF(t *testing.T) {
	values := []byte{1, 2, 0x80, 0x10, 0x01, 3}
	head := "###CBF: VERSION 1.5\r\n--CIF-BINARY-FORMAT-SECTION--\r\nconversions=\"x-CBF_BYTE_OFFSET\"\r\nX-Binary-Size: 6\r\nX-Binary-Element-Type: \"signed 32-bit integer\"\r\n" +
		"X-Binary-Size-Fastest-Dimension: 2\r\nX-Binary-Size-Second-Dimension: 2\r\nContent-MD5: Qy7FJykkwFRW6rVDgKGq2w==\r\n\r\n" + cbfStart
	whole := append([]byte(head), values...)
	path := filepath.Join(t.TempDir(), "a.cbf")
	read := func(b []byte) (*Image, error) {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return ReadImage(path, Settings{})
	}
	if _, err := read(whole); err == nil || !strings.Contains(err.Error(), "MD5") {
		t.Errorf("%v, want one of the MD5", err)
	}
	m, err := read(bytes.Replace(whole, []byte("Content-MD5: Qy7FJykkwFRW6rVDgKGq2w==\r\n"), nil, 1))
	if err != nil || m.Values[0] != 1 || m.Values[1] != 3 || m.Values[2] != 3+272 || m.Values[3] != 3+272+3 {
		t.Errorf("%v, %v", m, err)
	}
	for n := range whole {
		read(whole[:n])
	}
}
