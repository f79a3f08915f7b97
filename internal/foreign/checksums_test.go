// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/image/tiff"

	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/data/torch"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/tensor"
)

// numbers are what the files of the test hold.
func numbers(n int) []float64 {
	r := rand.New(rand.NewPCG(3, 4))
	out := make([]float64, n)
	for i := range out {
		out[i] = 1 + 0.2*r.NormFloat64()
	}
	return out
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checked are the formats whose files carry checksums: each writes a file and reads all that a command would take from it.
var checked = map[string]struct {
	write func(t *testing.T, name string)
	read  func(name string) (any, error)
	part  func(b []byte) (from, to int) // which bytes the checksums protect. Default: all
}{
	"fits":       {write: writeFITS, read: readFITS},
	"fits.gz":    {write: zipped(writeFITS), read: readFITS},
	"fits.fz":    {write: copied("../../data/fits/testdata/compressed.fits.fz"), read: readFITS},
	"fletcher32": {write: writeHDF5(hdf5.Layout{Chunk: []int{500}, Fletcher32: true}), read: readHDF5, part: chunks},
	"gzip":       {write: writeHDF5(hdf5.Layout{Chunk: []int{5000}, Gzip: 4, Shuffle: true}), read: readHDF5, part: deflated},
	"npz":        {write: writeNPZ, read: readNPZ},
	"homodyne":   {write: writeHomodyne, read: readHomodyne},
	"torch":      {write: writeTorch, read: readTorch},
	"zarr":       {write: writeZarr, read: readZarr},
	"tiff":       {write: writeTIFF, read: readMask, part: strip},
	"checkpoint": {write: writeCheckpoint, read: readCheckpoint},
}

// Of 300 changed bytes in every format with checksums none is silent: the reader refuses the file, or the numbers are the same, as they are
// where nothing refers to a byte.
func TestChangedBytesAreFound(t *testing.T) {
	for name, c := range checked {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "file."+name)
			c.write(t, file)
			want, err := c.read(file)
			ok(t, err)
			place := file
			if info, err := os.Stat(file); err == nil && info.IsDir() {
				place = largest(t, file)
			}
			whole := must[[]byte](t)(os.ReadFile(place))
			from, to := 0, len(whole)
			if c.part != nil {
				from, to = c.part(whole)
			}
			r := rand.New(rand.NewPCG(5, 6))
			refused := 0
			for range 300 {
				at := from + r.IntN(to-from)
				b := bytes.Clone(whole)
				b[at] ^= byte(1 + r.IntN(255))
				ok(t, os.WriteFile(place, b, 0o666))
				got, err := c.read(file)
				switch {
				case err != nil:
					refused++
				case fmt.Sprint(got) != fmt.Sprint(want):
					t.Errorf("byte %d of %d was %#x, is %#x, and nobody is told", at, len(whole), whole[at], b[at])
				}
			}
			t.Logf("%d of 300 refused (%d bytes)", refused, len(whole))
		})
	}
}

func writeFITS(t *testing.T, name string) {
	w := must[*fits.Writer](t)(fits.Create(name))
	w.Primary(nil)
	h := &fits.Header{}
	h.Set("CRVAL1", 3600.0, "Angstrom")
	w.Image("FLUX", h, []int{20, 50}, numbers(1000))
	w.Table("SPECTRUM", nil, []fits.Data{{Name: "flux", Values: numbers(500)}, {Name: "mask", Values: make([]int32, 500)}})
	ok(t, w.Close())
}

func readFITS(name string) (any, error) {
	f, err := fits.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []any
	for _, h := range f.HDUs()[1:] {
		if v, ok := h.Header.Float("CRVAL1"); ok {
			all = append(all, v)
		}
		if image, err := h.Image(); err == nil {
			v, err := image.Float64s()
			if err != nil {
				return nil, err
			}
			all = append(all, v)
			continue
		} else if errors.Is(err, fits.ErrUnsupported) && !errors.Is(err, fits.ErrChecksum) {
			all = append(all, "not read")
			continue
		} else if !errors.Is(err, fits.ErrType) {
			return nil, err
		}
		table, err := h.Table()
		if err != nil {
			return nil, err
		}
		for _, c := range table.Columns() {
			v, err := c.Float64s()
			if err != nil {
				return nil, err
			}
			all = append(all, c.Name, v)
		}
	}
	return all, nil
}

func zipped(write func(t *testing.T, name string)) func(t *testing.T, name string) {
	return func(t *testing.T, name string) {
		write(t, name+".plain")
		b := must[[]byte](t)(os.ReadFile(name + ".plain"))
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		must[int](t)(z.Write(b))
		ok(t, z.Close(), os.WriteFile(name, out.Bytes(), 0o666))
	}
}

func copied(from string) func(t *testing.T, name string) {
	return func(t *testing.T, name string) { ok(t, os.WriteFile(name, must[[]byte](t)(os.ReadFile(from)), 0o666)) }
}

func writeHDF5(l hdf5.Layout) func(t *testing.T, name string) {
	return func(t *testing.T, name string) {
		w := must[*hdf5.Writer](t)(hdf5.Create(name))
		ok(t, w.Write("x", numbers(5000), l), w.Close())
	}
}

func readHDF5(name string) (any, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := f.Dataset("x")
	if err != nil {
		return nil, err
	}
	return d.Float64s()
}

// chunks are the bytes from the first chunk to the last: the structures around them have no checksums.
func chunks(b []byte) (from, to int) {
	raw := func(v float64) []byte {
		out := make([]byte, 8)
		for i := range out {
			out[i] = byte(math.Float64bits(v) >> (8 * i))
		}
		return out
	}
	all := numbers(5000)
	return bytes.Index(b, raw(all[0])), bytes.Index(b, raw(all[4999])) + 8
}

// deflated are the bytes from the first compressed stream on which are certainly part of it.
func deflated(b []byte) (from, to int) {
	for from = 0; !(b[from] == 0x78 && (int(b[from])<<8|int(b[from+1]))%31 == 0); from++ {
	}
	return from, from + 20_000
}

func writeNPZ(t *testing.T, name string) {
	var b bytes.Buffer
	ok(t, tensor.WriteNPZ(&b, map[string]*tensor.Tensor{"x": must[*tensor.Tensor](t)(tensor.From(numbers(500), 500))}), os.WriteFile(name, b.Bytes(), 0o666))
}

func readNPZ(name string) (any, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	arrays, err := tensor.ReadNPZ(bytes.NewReader(b), int64(len(b)), "x")
	if err != nil || arrays["x"] == nil {
		return nil, fmt.Errorf("no x: %w", err)
	}
	return arrays["x"].Float64s(), nil
}

func writeHomodyne(t *testing.T, name string) {
	const n = 12
	cube := numbers(2 * n * n)
	for k := range 2 { // symmetric
		for i := range n {
			for j := range i {
				cube[(k*n+i)*n+j] = cube[(k*n+j)*n+i]
			}
		}
	}
	var b bytes.Buffer
	array := func(v []float64, shape ...int) *tensor.Tensor {
		return must[*tensor.Tensor](t)(tensor.From(v, shape...))
	}
	times := make([]float64, n)
	for i := range times {
		times[i] = float64(i)
	}
	ok(t, tensor.WriteNPZ(&b, map[string]*tensor.Tensor{"wavevector_q_list": array([]float64{0.01, 0.01}, 2), "phi_angles_list": array([]float64{0, 90}, 2),
		"c2_exp": array(cube, 2, n, n), "t1": array(times, n)}), os.WriteFile(name+".npz", b.Bytes(), 0o666), os.Rename(name+".npz", name))
}

func readHomodyne(name string) (any, error) {
	f, err := homodyne.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := f.Read(homodyne.Selection{Q: 0.01})
	if err != nil {
		return nil, err
	}
	return []any{c.Q, c.Phi, c.Step, c.C2}, nil
}

func writeTorch(t *testing.T, name string) {
	d := &torch.Dict{}
	d.Set("w", must[*torch.Tensor](t)(torch.NewTensor([]int{500}, numbers(500))))
	ok(t, torch.Save(name, d))
}

func readTorch(name string) (any, error) {
	root, err := torch.Load(name)
	if err != nil {
		return nil, err
	}
	d, isDict := root.(*torch.Dict)
	if !isDict {
		return nil, fmt.Errorf("%T", root)
	}
	w, err := d.Tensor("w")
	if err != nil {
		return nil, err
	}
	return w.Float64s()
}

func writeZarr(t *testing.T, name string) {
	tree := tensor.NewDataTree()
	d := &tensor.Dataset{Name: "posterior"}
	ok(t, d.Add("x", numbers(500), tensor.Shape{1, 500}, "chain", "draw"), tree.Add(d), zarr.Write(name, tree, zarr.Settings{Zlib: 4}))
}

func readZarr(name string) (any, error) {
	tree, err := zarr.Open(name)
	if err != nil {
		return nil, err
	}
	d, err := tree.Group("posterior")
	if err != nil {
		return nil, err
	}
	v := d.Var("x")
	if v == nil {
		return nil, errors.New("there is no x")
	}
	return v.Data, nil
}

// largest is the largest file of a folder, which is the chunk.
func largest(t *testing.T, dir string) string {
	var name string
	var most int64
	ok(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Size() > most {
			name, most = path, info.Size()
		}
		return err
	}))
	return name
}

func picture() image.Image {
	r := rand.New(rand.NewPCG(1, 2))
	p := image.NewGray(image.Rect(0, 0, 60, 40))
	for i := range p.Pix {
		p.Pix[i] = 255 * byte(r.IntN(2))
	}
	p.SetGray(0, 0, color.Gray{Y: 255})
	return p
}

func writeTIFF(t *testing.T, name string) {
	var b bytes.Buffer
	ok(t, tiff.Encode(&b, picture(), &tiff.Options{Compression: tiff.Deflate}), os.WriteFile(name, b.Bytes(), 0o666))
}

// strip are the compressed pixels, which begin behind the head and end where the list of tags begins.
func strip(b []byte) (from, to int) {
	return 8, int(b[4]) | int(b[5])<<8 | int(b[6])<<16 | int(b[7])<<24
}

func readMask(name string) (any, error) {
	m, err := maskfile.Read(name, maskfile.Settings{})
	if err != nil {
		return nil, err
	}
	return slices.Clone(m.Keep), nil
}

func writeCheckpoint(t *testing.T, name string) {
	var b bytes.Buffer
	ok(t, checkpoint.Write(&b, "test", 1, func(e *checkpoint.Encoder) { e.Floats(numbers(500)) }), os.WriteFile(name, b.Bytes(), 0o666))
}

func readCheckpoint(name string) (any, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var v []float64
	err = checkpoint.Read(bytes.NewReader(b), "test", 1, func(d *checkpoint.Decoder) { v = d.Floats() })
	return v, err
}
