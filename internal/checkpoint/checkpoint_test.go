// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

type inner struct {
	Name string
	On   bool
	X    float32
}

// everything has a field of each sort that is kept.
type everything struct {
	Small   uint8
	Whole   int
	Short   int32
	Long    uint64
	X       float64
	Text    string
	Raw     []byte
	IDs     []int32
	Numbers []float64
	Rows    [][]float64
	Inner   []inner
	Pair    [2]string
	Ref     *inner
	None    *inner
	Named   map[string][]int32
	hidden  int
}

func example() everything {
	return everything{
		Small: 7, Whole: -1 << 40, Short: -3, Long: math.MaxUint64, X: math.Inf(-1), Text: "één\n",
		Raw: []byte{0, 255}, IDs: []int32{-1, 1}, Numbers: []float64{1, math.Copysign(0, -1)}, Rows: [][]float64{{1}, nil, {2, 3}},
		Inner: []inner{{"a", true, 1.5}, {}}, Pair: [2]string{"x", ""}, Ref: &inner{X: -1}, Named: map[string][]int32{"b": {2}, "a": nil},
	}
}

func file(t testing.TB, body func(*Encoder)) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, "TEST", 3, body); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestValuesComeBack(t *testing.T) {
	long := make([]float64, 3*chunk/8+5) // of several chunks
	for i := range long {
		long[i] = float64(i)
	}
	raw := bytes.Repeat([]byte("raw"), chunk)
	floats, flags := []float32{1, 2.5}, []bool{true, false, true}
	b := file(t, func(e *Encoder) {
		e.Value(example())
		e.Floats(long)
		e.Bytes(raw)
		e.Float32s(floats)
		e.Bools(flags)
		e.Value(example())
	})
	r := bytes.NewReader(append(b, "next"...))
	var first, last everything
	err := Read(r, "TEST", 3, func(d *Decoder) {
		d.Value(&first)
		if got := d.Floats(); !reflect.DeepEqual(got, long) {
			t.Errorf("%d numbers", len(got))
		}
		if got := d.Bytes(); !bytes.Equal(got, raw) {
			t.Errorf("%d bytes", len(got))
		}
		if got := d.Float32s(); !reflect.DeepEqual(got, floats) {
			t.Error(got)
		}
		if got := d.Bools(); !reflect.DeepEqual(got, flags) {
			t.Error(got)
		}
		d.Value(&last)
	})
	if err != nil || !reflect.DeepEqual(first, example()) || !reflect.DeepEqual(last, first) {
		t.Errorf("%v\n%+v\n%+v", err, first, last)
	}
	if rest, _ := io.ReadAll(r); string(rest) != "next" {
		t.Errorf("left in the stream: %q", rest)
	}
	if AtEnd(strings.NewReader("x")) == nil || AtEnd(strings.NewReader("")) != nil {
		t.Error("the end of a stream is not seen")
	}
}

// No byte may change, and none may lack.
func TestDamageIsNoticed(t *testing.T) {
	b := file(t, func(e *Encoder) { e.Value(example()) })
	read := func(b []byte) error {
		var v everything
		return Read(bytes.NewReader(b), "TEST", 3, func(d *Decoder) { d.Value(&v) })
	}
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 1
		if err := read(bad); !errors.As(err, new(*FormatError)) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if err := read(b[:i]); !errors.As(err, new(*FormatError)) {
			t.Errorf("%d bytes: %v", i, err)
		}
	}
	if err := read(bytes.Replace(b, []byte("TEST 3"), []byte("TEST 4"), 1)); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Error(err)
	}
	for what, body := range map[string]func(*Encoder){
		"bytes too many": func(e *Encoder) { e.Value(example()); e.Bool(true) },
		"another kind":   func(e *Encoder) { e.Value(inner{}) },
		"ends early":     func(e *Encoder) { e.Uint64(layout(reflect.TypeFor[everything]())) },
	} {
		if err := read(file(t, body)); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
}

// Chunks in another order, or twice, do not pass.
func TestChunksKeepTheirOrder(t *testing.T) {
	b := file(t, func(e *Encoder) {
		for i := range 2 * chunk / 8 {
			e.Int(i)
		}
	})
	head := len(firstLine("TEST", 3))
	one := chunk + 8
	swapped := append(append(append(bytes.Clone(b[:head]), b[head+one:head+2*one]...), b[head:head+one]...), b[head+2*one:]...)
	if err := Read(bytes.NewReader(swapped), "TEST", 3, func(d *Decoder) { d.Rest() }); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Error(err)
	}
}

// What claims to be huge takes no more memory than there are bytes.
func TestClaimsTakeNoMemory(t *testing.T) {
	claim := func(e *Encoder) {
		e.Uint64(layout(reflect.TypeFor[[]everything]()))
		e.Int(1 << 40)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var v []everything
	if err := Read(bytes.NewReader(file(t, claim)), "TEST", 3, func(d *Decoder) { d.Value(&v) }); err == nil {
		t.Error("a list of 2^40 is read")
	}
	for _, read := range []func(*Decoder){
		func(d *Decoder) { d.Floats() }, func(d *Decoder) { d.Int32s() }, func(d *Decoder) { d.Float32s() },
		func(d *Decoder) { d.Bools() }, func(d *Decoder) { _ = d.String() }, func(d *Decoder) { d.FloatsInto(make([]float64, 1)) },
	} {
		if err := Read(bytes.NewReader(file(t, func(e *Encoder) { e.Int(1 << 50) })), "TEST", 3, read); err == nil {
			t.Error("a list of 2^50 is read")
		}
	}
	huge := append([]byte(firstLine("TEST", 3)), 0xff, 0xff, 0xff, 0xff)
	if err := Read(bytes.NewReader(huge), "TEST", 3, func(d *Decoder) { d.Rest() }); err == nil {
		t.Error("a chunk of 4 GiB is read")
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
		t.Errorf("%d bytes were allocated", took)
	}
}

type failing struct{ after int }

func (f *failing) Write(b []byte) (int, error) {
	if f.after -= len(b); f.after < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestErrorsOfWriting(t *testing.T) {
	whole := file(t, func(e *Encoder) { e.Value(example()) })
	for n := range whole {
		if err := Write(&failing{n}, "TEST", 3, func(e *Encoder) { e.Value(example()) }); !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("a disk of %d bytes: %v", n, err)
		}
	}
}

type loop struct{ Next []loop }

func TestTypesThatCannotBeKept(t *testing.T) {
	for _, v := range []any{func() {}, map[int]int{}, []any{1}, loop{}, []struct{}{}, [0]int{}, struct{ hidden int }{}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T is kept", v)
				}
			}()
			new(Encoder).Value(v)
		}()
	}
}

// FuzzCheckpoint decodes anything, as a file and as the contents of one.
func FuzzCheckpoint(f *testing.F) {
	var e Encoder
	e.Value(example())
	f.Add(e.Encoded())
	f.Add(file(f, func(e *Encoder) { e.Value(example()) }))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v everything
		_ = Read(bytes.NewReader(data), "TEST", 3, func(d *Decoder) { d.Value(&v) })
		d := Decode(data)
		d.Value(&v)
		if d.End(); d.Err() != nil {
			return
		}
		var again Encoder
		if again.Value(v); !bytes.Equal(again.Encoded(), data) {
			t.Errorf("%d bytes are written again as %d", len(data), len(again.Encoded()))
		}
		streamed := file(t, func(e *Encoder) { e.Value(v) })
		var w everything
		if err := Read(bytes.NewReader(streamed), "TEST", 3, func(d *Decoder) { d.Value(&w) }); err != nil {
			t.Error(err)
		}
	})
}
