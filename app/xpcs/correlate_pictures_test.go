// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/data/nexus"
)

// A folder of numbered EDF pictures, with one of them missing, and a stack of them are correlated as the same frames in HDF5 are.
func TestCorrelatePictures(t *testing.T) {
	t.Chdir(t.TempDir())
	all := apptest.Speckles(t, 100, 1)
	apptest.WriteMovie(t, "a.h5", all)
	size := apptest.MovieSide * apptest.MovieSide
	var stack []byte
	if err := os.Mkdir("series.1", 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		b := fmt.Appendf(nil, "{\nDataType = FloatValue ;\nDim_1 = %d ;\nDim_2 = %[1]d ;\n}\n", apptest.MovieSide)
		for _, v := range all[i*size : (i+1)*size] {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		stack = append(stack, b...)
		if i == 40 {
			continue
		}
		if err := os.WriteFile(filepath.Join("series.1", fmt.Sprintf("x%d.edf", i)), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("stack.edf", stack, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{apptest.QmapLine, "correlate a.h5 --qmap q.hdf --skip 40", "correlate stack.edf --qmap q.hdf --skip 40 --frame-time 10ms", "correlate series.1/ --qmap q.hdf --frame-time 10ms"} {
		code, _, stderr := apptest.Do(t, strings.Fields(line)...)
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
		if strings.Contains(line, "series") && !strings.Contains(stderr, "1 file is missing (40)") {
			t.Errorf("%s", stderr)
		}
	}
	var want []float64
	for _, name := range []string{"a", "stack", "series.1"} {
		r, err := nexus.Open(name + "_results.hdf")
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = r.Multitau.G2.Data
		}
		if !slices.Equal(want, r.Multitau.G2.Data) {
			t.Errorf("%s: g2 is not that of the frames in HDF5", name)
		}
		r.Close()
	}
	code, _, stderr := apptest.Do(t, "correlate", "series.1/x1.edf", "--qmap", "q.hdf", "--frame-time", "1")
	if code == 0 || !strings.Contains(stderr, "folder") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
