// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor_test

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

func zipped(t tester, arrays map[string]*tensor.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tensor.WriteNPZ(&b, arrays); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unzipped(b []byte) (map[string]*tensor.Tensor, error) {
	return tensor.ReadNPZ(bytes.NewReader(b), int64(len(b)))
}

// everything is one array of each type and shape.
func everything() map[string]*tensor.Tensor {
	all := map[string]*tensor.Tensor{}
	for _, d := range dtypes {
		for i, s := range shapes {
			all[d.String()+"_"+string(rune('a'+i))] = count(s...).Convert(d)
		}
	}
	all["view"] = count(3, 4).Slice(1, 3, 0, -2).Permute()
	return all
}

func TestNPZRoundTrip(t *testing.T) {
	for _, arrays := range []map[string]*tensor.Tensor{{}, everything(), {"": count(2), "x.npy": count(1), "folder/y": count(3)}} {
		file := zipped(t, arrays)
		back, err := unzipped(file)
		if err != nil || len(back) != len(arrays) {
			t.Fatalf("%d arrays, %v, want %d", len(back), err, len(arrays))
		}
		for name, x := range arrays {
			same(t, x, back[name])
		}
		if !bytes.Equal(file, zipped(t, back)) {
			t.Error("written again, the file differs")
		}
	}
}

func TestReadNPZOfNumPy(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"pair":   {"a": "[[0 1 2]\n [3 4 5]] int64[2 3]", "b": "true bool[]"},
		"stored": {"a": "[[0 1 2]\n [3 4 5]] float64[2 3]"},
	} {
		b, err := os.ReadFile("testdata/numpy/" + name + ".npz")
		if err != nil {
			t.Fatal(err)
		}
		got, err := unzipped(b)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %v, %v", name, got, err)
		}
		for k, text := range want {
			if got[k].String() != text {
				t.Errorf("%s: %s is %v, want %s", name, k, got[k], text)
			}
		}
	}
}

func TestReadNPZRefuses(t *testing.T) {
	archive := func(members ...string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for i := 0; i < len(members); i += 2 {
			w, err := z.Create(members[i])
			if err != nil {
				t.Fatal(err)
			}
			w.Write([]byte(members[i+1]))
		}
		z.Close()
		return b.Bytes()
	}
	good := string(written(t, count(2)))
	flipped := zipped(t, map[string]*tensor.Tensor{"a": count(100)})
	flipped[bytes.Index(flipped, []byte("PK\x07\x08"))+4] ^= 1 // the checksum
	for _, c := range []struct {
		name string
		file []byte
		word string
	}{
		{"text", []byte("hello"), "zip"},
		{"member", archive("a.npy", "hello"), "a.npy: tensor: npy: not an NPY file"},
		{"more", archive("a.npy", good+"??"), "2 bytes follow"},
		{"twice", archive("a.npy", good, "a.npy", good), "two members"},
		{"checksum", flipped, "checksum"},
	} {
		if got, err := unzipped(c.file); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v, error %v, want %q", c.name, got, err, c.word)
		}
	}
	got, err := unzipped(archive("a.npy", good, "note.txt", "hello"))
	if err != nil || len(got) != 1 {
		t.Errorf("a note beside: %v, %v", got, err)
	}
}

// NumPy must read what is written, if there is a Python with it.
func TestNumPyReadsWhatIsWritten(t *testing.T) {
	python := ""
	for _, p := range []string{os.Getenv("EURYALE_PYTHON"), "../.peers/bin/python"} {
		if p != "" && exec.Command(p, "-c", "import numpy").Run() == nil {
			python = p
			break
		}
	}
	if python == "" {
		t.Skip("lacks Python with NumPy (make peers, or EURYALE_PYTHON)")
	}
	dir := t.TempDir()
	arrays := everything()
	name := filepath.Join(dir, "all.npz")
	if err := os.WriteFile(name, zipped(t, arrays), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "view.npy"), written(t, arrays["view"]), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "-c", `
import sys, os, numpy as np
z = np.load(sys.argv[1])
shapes = [(), (0,), (1,), (7,), (2, 0, 3), (2, 3), (1, 1, 1, 1), (5000,), (3, 2, 2)]
for d in ['float64', 'float32', 'int64', 'int32', 'bool', 'complex128', 'complex64']:
    for i, s in enumerate(shapes):
        want = np.arange(np.prod(s, dtype=int)).reshape(s).astype(d)
        got = z[d + '_' + 'abcdefghi'[i]]
        assert got.dtype == want.dtype and got.shape == want.shape and (got == want).all(), (d, s, got)
want = np.arange(12.).reshape(3, 4)[:, 3:0:-2].T
assert (z['view'] == want).all() and (np.load(os.path.join(os.path.dirname(sys.argv[1]), 'view.npy')) == want).all()
print(len(z.files))`, name).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "64" {
		t.Errorf("NumPy: %v\n%s", err, out)
	}
}

func FuzzReadNPZ(f *testing.F) {
	f.Add(zipped(f, map[string]*tensor.Tensor{"a": count(2, 3), "b": count().Convert(tensor.Bool)}))
	f.Add(zipped(f, map[string]*tensor.Tensor{}))
	for _, name := range []string{"pair", "stored"} {
		b, err := os.ReadFile("testdata/numpy/" + name + ".npz")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		arrays, err := unzipped(file)
		if err != nil {
			return
		}
		total := 0
		for _, x := range arrays {
			total += x.Size()
		}
		if total > 1040*len(file) {
			t.Fatalf("%d elements from %d bytes", total, len(file))
		}
		again, err := unzipped(zipped(t, arrays))
		if err != nil || len(again) != len(arrays) {
			t.Fatalf("written and read again: %d arrays of %d, %v", len(again), len(arrays), err)
		}
		for name, x := range arrays {
			same(t, x, again[name])
		}
	})
}
