// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"archive/zip"
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/tensor"
)

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// The checkpoints of the reference hold the numbers of the NPY files beside them.
func TestCheckpointsOfTheReference(t *testing.T) {
	golden.Each(t, "spectra/nn/NNstate_*.sav", func(t *testing.T, name string) {
		root := must[any](t)(Load(golden.Path(t, name))).(*Dict)
		if root.Get("checkpoint_magic") != "rvspecfit.nn_interpolator" || root.Get("checkpoint_version") != int64(1) {
			t.Errorf("%v", root)
		}
		arm := strings.TrimPrefix(golden.Base(name), "NNstate_")
		f := must[*os.File](t)(os.Open(golden.Path(t, "spectra/nn/weights_"+arm+".npy")))
		defer f.Close()
		want := must[*tensor.Tensor](t)(tensor.ReadNPY(f)).Float64s()
		var got []float64
		state := root.Get("state_dict").(*Dict)
		for _, key := range state.Keys() {
			w := must[*Tensor](t)(state.Tensor(key))
			if w.Type() != "float32" {
				t.Errorf("%s is %s", key, w.Type())
			}
			got = append(got, must[[]float64](t)(w.Float64s())...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d weights differ from the %d of the reference", len(got), len(want))
		}
		if !state.Ordered {
			t.Error("the state is no ordered dictionary")
		}
	})
}

// sample is a checkpoint with everything that can be written.
func sample(t testing.TB) *Dict {
	a := must[*Tensor](t)(NewTensor([]int{2, 3}, []float32{1, 2, 3, 4, 5, float32(math.Inf(1))}))
	transposed := &Tensor{store: a.store, shape: []int{3, 2}, strides: []int{1, 3}}
	row := &Tensor{store: a.store, offset: 3, shape: []int{3}, strides: []int{1}}
	expanded := &Tensor{store: a.store, offset: 1, shape: []int{4}, strides: []int{0}}
	state := &Dict{Ordered: true}
	state.Set("a", a)
	state.Set("t", transposed)
	state.Set("row", row)
	state.Set("expanded", expanded)
	state.Set("f64", must[*Tensor](t)(NewTensor([]int{2}, []float64{math.Pi, math.NaN()})))
	state.Set("i64", must[*Tensor](t)(NewTensor([]int{1, 2}, []int64{-1, 1 << 60})))
	state.Set("i32", must[*Tensor](t)(NewTensor([]int{2}, []int32{-1, 7})))
	state.Set("i16", must[*Tensor](t)(NewTensor([]int{2}, []int16{-1, 7})))
	state.Set("i8", must[*Tensor](t)(NewTensor([]int{2}, []int8{-1, 7})))
	state.Set("u8", must[*Tensor](t)(NewTensor([]int{2}, []uint8{255, 7})))
	state.Set("b", must[*Tensor](t)(NewTensor([]int{2}, []bool{true, false})))
	state.Set("scalar", must[*Tensor](t)(NewTensor(nil, []float32{3})))
	state.Set("empty", must[*Tensor](t)(NewTensor([]int{0, 3}, []float32{})))
	root := &Dict{}
	root.Set("state_dict", state)
	root.Set("epoch", int64(12))
	root.Set("big", int64(-1)<<40)
	root.Set("loss", 0.25)
	root.Set("name", "Grüße")
	root.Set("flags", List{true, false, nil, Tuple{int64(1), "x"}})
	root.Set("dtype", DType("float32"))
	root.Items = append(root.Items, Item{int64(5), "five"})
	return root
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.pt")
	if err := Save(name, sample(t)); err != nil {
		t.Fatal(err)
	}
	root := must[any](t)(Load(name)).(*Dict)
	for key, want := range map[string]any{"epoch": int64(12), "big": int64(-1) << 40, "loss": 0.25, "name": "Grüße", "dtype": DType("float32"), "flags": List{true, false, nil, Tuple{int64(1), "x"}}} {
		if got := root.Get(key); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
	if last := root.Items[len(root.Items)-1]; last.Key != int64(5) || last.Value != "five" {
		t.Errorf("%v", last)
	}
	state := root.Get("state_dict").(*Dict)
	for key, want := range map[string][]float64{"a": {1, 2, 3, 4, 5, math.Inf(1)}, "t": {1, 4, 2, 5, 3, math.Inf(1)}, "row": {4, 5, math.Inf(1)}, "expanded": {2, 2, 2, 2},
		"i64": {-1, 1 << 60}, "i32": {-1, 7}, "i16": {-1, 7}, "i8": {-1, 7}, "u8": {255, 7}, "b": {1, 0}, "scalar": {3}, "empty": {}} {
		w := must[*Tensor](t)(state.Tensor(key))
		if got := must[[]float64](t)(w.Float64s()); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
	a, b := must[*Tensor](t)(state.Tensor("a")), must[*Tensor](t)(state.Tensor("row"))
	if a.store != b.store {
		t.Error("storages are not shared")
	}
	if v := must[[]int64](t)(must[*Tensor](t)(state.Tensor("i64")).Int64s()); v[1] != 1<<60 {
		t.Error(v)
	}
	if _, err := a.Int64s(); !errors.Is(err, ErrType) {
		t.Errorf("floats as integers: %v", err)
	}
	var m *MissingError
	if _, err := state.Tensor("i46"); !errors.As(err, &m) || !strings.HasPrefix(m.Near[0], "i") {
		t.Errorf("a missing key: %v", err)
	}
}

// Values of IEEE 754 binary16, from the standard's definition.
func TestHalf(t *testing.T) {
	for h, want := range map[uint16]float64{0: 0, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 1: 0x1p-24, 0x0400: 0x1p-14, 0x3555: 0.333251953125, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1)} {
		if got := half(h); got != want {
			t.Errorf("%#x: got %v, want %v", h, got, want)
		}
	}
	if !math.IsNaN(half(0x7e00)) {
		t.Error("no NaN")
	}
}

// archiveOf makes a checkpoint of a pickle.
func archiveOf(t testing.TB, pickle string, records ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := -2; i < len(records); i += 2 {
		name, text := "archive/data.pkl", pickle
		if i >= 0 {
			name, text = records[i], records[i+1]
		}
		w := must[interface{ Write([]byte) (int, error) }](t)(func() (interface{ Write([]byte) (int, error) }, error) {
			return z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		}())
		w.Write([]byte(text))
	}
	z.Close()
	return b.Bytes()
}

// Nothing is called or constructed but what tensors need, and the refusal says what it would have been.
func TestHostilePickles(t *testing.T) {
	storage := "(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQ"
	for pickle, want := range map[string]string{
		"\x80\x02cos\nsystem\n(X\x02\x00\x00\x00lstR.":            "os.system",
		"\x80\x02c__builtin__\neval\n(X\x01\x00\x00\x001tR.":      "__builtin__.eval",
		"\x80\x02csklearn\nTree\n)\x81.":                          "sklearn.Tree",
		"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02ls\x85R.": "posix.system",
		"\x80\x02(S'ls'\nios\nsystem\n.":                          "instruction",
		"\x80\x02}q\x00X\x01\x00\x00\x00ah\x00s.":                 "200 levels deep",
		"\x80\x02]q\x00h\x00a.":                                   "200 levels deep",
		"\x80\x02X\xff\xff\xff\x7fab.":                            "ends early",
		"\x80\x02h\x05.":                                          "refers to value 5",
		"\x80\x02a.":                                              "an instruction needs a value",
		"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + storage + "K\x00K\x03\x85K\x01\x85\x89tR.":             "reaches element 2 of its memory, which has 2",
		"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + storage + "J\xff\xff\xff\xffK\x01\x85K\x01\x85\x89tR.": "begins at element -1",
		"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + storage + "K\x00K\x01\x85J\xff\xff\xff\xff\x85\x89tR.": "no negative",
		"\x80\x02" + storage + ".": "the memory of a tensor by itself",
		"\x80\x02}b.":              "an instruction needs a value",
	} {
		b := archiveOf(t, pickle, "archive/data/0", "12345678")
		_, err := Read(bytes.NewReader(b), int64(len(b)))
		var fe *FormatError
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want %q, got %v", pickle, want, err)
		}
	}
}

// A tensor that repeats its elements beyond all measure is refused before memory is taken.
func TestRepeatedElements(t *testing.T) {
	s := &storage{dtype: "float32", n: 1, data: make([]byte, 4), limit: 1 << 20}
	x := &Tensor{store: s, shape: []int{1 << 40}, strides: []int{0}}
	if _, err := x.Float32s(); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Error(err)
	}
}

func TestOtherFormats(t *testing.T) {
	for text, want := range map[string]string{"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.": "before 1.6", "\x80\x02}.": "a bare Python pickle", "hello": "not a zip archive", "": "not a zip archive"} {
		if _, err := Read(strings.NewReader(text), int64(len(text))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	b := archiveOf(t, "\x80\x02}.", "archive/constants.pkl", "x")
	if _, err := Read(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "TorchScript") {
		t.Error(err)
	}
	var whole bytes.Buffer
	if err := Write(&whole, sample(t)); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < whole.Len(); n += 101 {
		if _, err := Read(bytes.NewReader(whole.Bytes()[:n]), int64(n)); err == nil {
			t.Errorf("cut at %d: no error", n)
		}
	}
	b = bytes.Clone(whole.Bytes())
	i := bytes.Index(b, []byte("state_dict"))
	b[i] ^= 1
	if _, err := Read(bytes.NewReader(b), int64(len(b))); !errors.Is(err, zip.ErrChecksum) {
		t.Errorf("a changed byte: %v", err)
	}
	if err := Save(filepath.Join(t.TempDir(), "x"), &Dict{Items: []Item{{"x", map[string]int{}}}}); !errors.Is(err, ErrType) {
		t.Errorf("a map: %v", err)
	}
}

// PyTorch opens what we write as weights, and we read what it writes: half precision, views, parameters.
func TestPyTorch(t *testing.T) {
	py := peer.Python(t, "torch")
	dir := t.TempDir()
	ours, theirs := filepath.Join(dir, "ours.pt"), filepath.Join(dir, "theirs.pt")
	if err := Save(ours, sample(t)); err != nil {
		t.Fatal(err)
	}
	weights := filepath.Join(dir, "weights.pt") // version 1.13 knows no numbers with a point in weights_only
	only := &Dict{Items: []Item{{"magic", "x"}, {"version", 1}, {"state_dict", sample(t).Get("state_dict")}}}
	if err := Save(weights, only); err != nil {
		t.Fatal(err)
	}
	py.Run(t, `
import sys, torch
d = torch.load(sys.argv[1])
weights = torch.load(sys.argv[3], weights_only=True)
assert weights["magic"] == "x" and weights["state_dict"]["t"].tolist()[1] == [2, 5]
s = d["state_dict"]
assert d["epoch"] == 12 and d["big"] == -2**40 and d["loss"] == 0.25 and d["name"] == "Grüße" and d["flags"] == [True, False, None, (1, "x")] and d[5] == "five"
assert s["a"].shape == (2, 3) and s["t"].tolist()[1] == [2, 5] and s["row"].tolist()[:2] == [4, 5] and s["expanded"].tolist() == [2] * 4
assert s["i64"].tolist() == [[-1, 2**60]] and s["u8"].tolist() == [255, 7] and s["b"].tolist() == [True, False] and s["i8"].tolist() == [-1, 7] and s["i16"].dtype == torch.int16
assert s["scalar"].shape == () and s["empty"].shape == (0, 3) and s["f64"][0].item() == 3.141592653589793
assert s["a"].storage().data_ptr() == s["row"].storage().data_ptr()
x = torch.arange(12, dtype=torch.float32).reshape(3, 4)
net = torch.nn.Linear(3, 2)
torch.save({"half": x.half() / 3, "bf": x.bfloat16() / 3, "view": x[1:, ::2].t(), "par": torch.nn.Parameter(x), "state": net.state_dict(), "size": x.shape, "dtype": torch.float16, "w": net.weight.detach().double()}, sys.argv[2])
`, ours, theirs, weights)
	root := must[any](t)(Load(theirs)).(*Dict)
	if v := must[[]float64](t)(must[*Tensor](t)(root.Tensor("half")).Float64s()); v[1] != 0.333251953125 {
		t.Error(v)
	}
	if v := must[[]float32](t)(must[*Tensor](t)(root.Tensor("bf")).Float32s()); v[1] != 0.333984375 {
		t.Error(v)
	}
	if v := must[[]float64](t)(must[*Tensor](t)(root.Tensor("view")).Float64s()); !slices.Equal(v, []float64{4, 8, 6, 10}) {
		t.Error(v)
	}
	if v := root.Get("size"); !reflect.DeepEqual(v, Tuple{int64(3), int64(4)}) {
		t.Error(v)
	}
	w := must[*Tensor](t)(root.Get("state").(*Dict).Tensor("weight"))
	if !slices.Equal(must[[]float64](t)(w.Float64s()), must[[]float64](t)(must[*Tensor](t)(root.Tensor("w")).Float64s())) {
		t.Error("weights differ")
	}
}

// FuzzRead opens any bytes as a checkpoint, and any bytes as its pickle.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := Write(&b, sample(f)); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes(), []byte("\x80\x02cos\nsystem\n(X\x02\x00\x00\x00lstR."))
	z, _ := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	a := &archive{size: int64(b.Len()), prefix: "archive/", records: map[string]*zip.File{}}
	for _, r := range z.File {
		a.records[r.Name] = r
	}
	pickle, _ := a.record("data.pkl", math.MaxInt64)
	f.Add([]byte("PK"), pickle)
	f.Fuzz(func(t *testing.T, file, pickle []byte) {
		if root, err := Read(bytes.NewReader(file), int64(len(file))); err == nil {
			use(root)
		}
		m := &machine{b: pickle, storage: func(dtype DType, key string, n int) (*storage, error) {
			if n > 1000 {
				return nil, &FormatError{Format: "torch", What: "too large"}
			}
			return &storage{dtype: dtype, n: n, data: make([]byte, n*sizes[dtype]), limit: 1 << 20}, nil
		}}
		root, err := m.run()
		if err != nil {
			return
		}
		use(root)
		var out bytes.Buffer
		if err := Write(&out, root); err != nil {
			return // keys that are no strings, deep nesting
		}
		if _, err := Read(bytes.NewReader(out.Bytes()), int64(out.Len())); err != nil {
			t.Errorf("what was written is not read: %v", err)
		}
	})
}

// use reads all tensors of a value.
func use(v any) {
	switch v := v.(type) {
	case *Tensor:
		v.Float64s()
		v.Int64s()
	case *Dict:
		for _, it := range v.Items {
			use(it.Value)
		}
	case List:
		for _, x := range v {
			use(x)
		}
	case Tuple:
		for _, x := range v {
			use(x)
		}
	}
}
