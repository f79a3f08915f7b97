// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// Headers that announce more than the file holds are errors of the calls that read it, not
// allocations: whatever one number of a header says, reading everything in all ways takes memory in
// proportion to the file and MaxBytes.
func TestEnlargedHeaders(t *testing.T) {
	number := regexp.MustCompile(`(?m)^(NAXIS[0-9]*|ZNAXIS[0-9]*|ZTILE[0-9]*|ZVAL[0-9]*|PCOUNT|GCOUNT|THEAP|TFIELDS|BITPIX|ZBITPIX|TBCOL[0-9]*) *= +[-0-9]+`)
	form := regexp.MustCompile(`(?m)^(TFORM[0-9]+) *= '`)
	for _, name := range []string{"table.fits", "ascii.fits", "compressed.fits.fz", "header.fits"} {
		b := must[[]byte](t)(os.ReadFile("testdata/" + name))
		if name == "header.fits" || name == "compressed.fits.fz" {
			b = b[:min(len(b), 16*block)]
		}
		before := readAllOf(t, b)
		for at := 0; at+80 <= len(b); at += 80 {
			card := b[at : at+80]
			var put []string
			switch {
			case number.Match(card):
				for _, v := range []string{"0", "-1", "7", "999999999999", "9223372036854775807"} {
					put = append(put, fmt.Sprintf("%-8s= %20s", bytes.TrimSpace(card[:8]), v))
				}
			case form.Match(card):
				for _, v := range []string{"0D", "999999999D", "999999999A", "1PD(9)", "1QX(9)", "0A", "99999999999999X", "I9", "A9", "Q"} {
					put = append(put, fmt.Sprintf("%-8s= '%s'", bytes.TrimSpace(card[:8]), v))
				}
			}
			for _, text := range put {
				c := bytes.Clone(b)
				copy(c[at:at+80], fmt.Sprintf("%-80s", text))
				if got, limit := readAllOf(t, c), 20*before+100<<20; got > limit {
					t.Errorf("%s, %s: %d bytes are allocated, %d without the change", name, text, got, before)
				}
			}
		}
	}
}

// readAllOf returns the bytes that are allocated while a file is read in all ways.
func readAllOf(t *testing.T, b []byte) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b = unsummed(b)
	if f, err := Read(bytes.NewReader(b), int64(len(b))); err == nil {
		f.MaxBytes = 1 << 20
		readAll(f)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// unsummed hides the checksums of a file, which would find any damage first.
func unsummed(b []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("CHECKSUM="), []byte("XHECKSUM=")), []byte("DATASUM ="), []byte("XATASUM ="))
}

// Columns that are narrower than the rows are those of a damaged header, and would be read from the wrong places.
func TestRowsWiderThanColumns(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.fits")
	w := must[*Writer](t)(Create(name))
	w.Primary(nil)
	w.Table("T", nil, []Data{{Name: "A", Values: []int64{1, 2}}, {Name: "B", Values: []int64{3, 4}}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b := must[[]byte](t)(os.ReadFile(name))
	at := bytes.Index(b, []byte("TFORM1  = '"))
	damaged := bytes.Replace(b, b[at:at+20], bytes.Replace(b[at:at+20], []byte("K"), []byte("J"), 1), 1)
	f := must[*File](t)(Read(bytes.NewReader(unsummed(damaged)), int64(len(damaged))))
	if _, err := f.Table("T"); err == nil || !strings.Contains(err.Error(), "NAXIS1") {
		t.Errorf("a narrow column: %v", err)
	}
}
