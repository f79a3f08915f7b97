package autodiff_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

func bytesOf[T any](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// runLoops runs the loops of a program on the pretend device.
func runLoops(t *testing.T, d *drv.Driver, c *rtc.Compiler, p *ad.Program, in [][]float64, bits int) ([][]float64, bool) {
	code := p.Code()
	var tables []uint64
	src := cuda.Generate(code, bits, false)
	for i, j := range code.Jobs {
		if j.Step != nil && src.Jobs[i] == nil && j.Step.Size() > 0 {
			hosted[j.Step.Op.Name]++
			return nil, false
		}
	}
	img, err := c.Compile(rtc.Source{Text: src.Text}, rtc.Target{Major: 9})
	if err != nil {
		t.Fatalf("%v\n%s", err, src.Text)
	}
	mod, err := d.ModuleLoad(img.Data)
	if err != nil {
		t.Fatal(err)
	}
	defer d.ModuleUnload(mod)
	for _, v := range src.Tables {
		q, _ := d.MemAlloc(uint64(8*len(v) + 8))
		d.CopyIn(q, bytesOf(v))
		defer func() { _ = q }()
		tables = append(tables, uint64(q))
	}
	ptr := make([]uint64, len(code.Buffers)+len(tables))
	copy(ptr[len(code.Buffers):], tables)
	for i, b := range code.Buffers {
		q, err := d.MemAlloc(max(8, uint64(b.Size)*8))
		if err != nil {
			t.Fatal(err)
		}
		ptr[i] = uint64(q)
		if b.Kind == compiler.IntBuf && b.Value.Op == nil {
			d.CopyIn(q, bytesOf(b.Value.Ints))
		}
		if b.Kind == compiler.ConstBuf {
			put(d, q, b.Value.Data, bits)
		}
	}
	for i, v := range in {
		put(d, drv.DevicePtr(ptr[code.InBufs[i]]), v, bits)
	}
	table, _ := d.MemAlloc(uint64(8 * len(ptr)))
	d.CopyIn(table, bytesOf(ptr))
	part, _ := d.MemAlloc(uint64(8*src.Partials + 8))
	fault, _ := d.MemAlloc(8)
	d.CopyIn(fault, make([]byte, 8))
	stream, err := d.StreamCreate(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.StreamDestroy(stream)
	params := drv.NewParameters()
	defer params.Release()
	for _, list := range src.Jobs {
		for _, k := range list {
			if err := d.CtxSynchronize(); err != nil {
				t.Fatalf("before %v: %v\n%s\n%v", k, err, src.Text, p)
			}
			f, err := d.ModuleFunction(mod, k.Kernel)
			if err != nil {
				t.Fatal(err)
			}
			params.Reset()
			params.Word(uint64(table))
			params.Word(uint64(part))
			params.Word(uint64(fault))
			if err := d.Launch(f, [3]int{k.Grid, 1, 1}, [3]int{k.Block, 1, 1}, 0, stream, params); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := d.CtxSynchronize(); err != nil {
		t.Fatalf("%v\n%s", err, src.Text)
	}
	flag := make([]int32, 2)
	d.CopyOut(bytesOf(flag), fault)
	if flag[0] != 0 {
		t.Fatalf("fault %v of %v", flag, code.Jobs[flag[0]-1])
	}
	var out [][]float64
	for i, b := range code.OutBufs {
		n := code.Size(b)
		v := make([]float64, n)
		if code.IsInts(b) {
			w := make([]int64, n)
			d.CopyOut(bytesOf(w), drv.DevicePtr(ptr[b]))
			for k := range w {
				v[k] = float64(w[k])
			}
		} else if bits == 64 {
			d.CopyOut(bytesOf(v), drv.DevicePtr(ptr[b]))
		} else {
			w := make([]float32, n)
			d.CopyOut(bytesOf(w), drv.DevicePtr(ptr[b]))
			for k := range w {
				v[k] = float64(w[k])
			}
		}
		out = append(out, v)
		_ = i
	}
	return out, true
}

func put(d *drv.Driver, q drv.DevicePtr, v []float64, bits int) {
	if len(v) == 0 {
		return
	}
	if bits == 64 {
		d.CopyIn(q, bytesOf(v))
		return
	}
	w := make([]float32, len(v))
	for i := range v {
		w[i] = float32(v[i])
	}
	d.CopyIn(q, bytesOf(w))
}

var hosted = map[string]int{}

func TestGenerated(t *testing.T) {
	libs, _ := filepath.Glob(os.Getenv("HOME") + "/.cache/euryale/pretend/*/libpretend.so")
	t.Setenv("EURYALE_LIBCUDA", libs[0])
	t.Setenv("EURYALE_LIBNVRTC", libs[0])
	d, err := drv.Open()
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := d.Retain(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Enter(ctx); err != nil {
		t.Fatal(err)
	}
	defer d.Leave()
	c, err := rtc.Open(rtc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for _, op := range ad.Ops() {
		if op.Sample == nil {
			continue
		}
		rng := rand.New(rand.NewPCG(5, 1))
		var in []*ad.Node
		var values [][]float64
		outs := op.Sample(func(lo, hi float64, shape ...int) *ad.Node {
			x := ad.Input(fmt.Sprint("x", len(in)), shape...)
			v := make([]float64, x.Size())
			for k := range v {
				v[k] = lo + rng.Float64()*(hi-lo)
			}
			in, values = append(in, x), append(values, v)
			return x
		})
		if op.Differentiable() {
			total := ad.Scalar(0)
			for _, o := range outs {
				total = ad.Add(total, ad.Sum(ad.Square(o)))
			}
			outs = append(outs, ad.Grad(total, in...)...)
		}
		for _, bits := range []int{64, 32} {
			p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: bits})
			if err != nil {
				t.Fatal(op.Name, err)
			}
			got, ok := runLoops(t, d, c, p, values, bits)
			if !ok {
				continue
			}
			done++
			want := results(t, way{bits, ""}, outs, in, values)
			tol := map[int]float64{64: 1e-10, 32: 2e-4}[bits]
			for i := range outs {
				for k := range got[i] {
					if !near(got[i][k], want[i][k], tol) {
						t.Errorf("%s bits %d output %d element %d: device %g, CPU %g", op.Name, bits, i, k, got[i][k], want[i][k])
						break
					}
				}
			}
		}
	}
	t.Log(done, "programs of operations", hosted)
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		shapes := [][]int{{3, 40}, {40}, {3, 1}}
		if seed%3 == 1 {
			shapes = [][]int{{5, 4, 3}, {4, 3}, {5, 1, 1}}
		} else if seed%3 == 2 {
			shapes = [][]int{{7, 600}, {600}, {}}
		}
		var in []*ad.Node
		var values [][]float64
		for i, s := range shapes {
			x := ad.Input(fmt.Sprint("x", i), s...)
			v := make([]float64, x.Size())
			for k := range v {
				v[k] = rng.NormFloat64()
			}
			in, values = append(in, x), append(values, v)
		}
		all := randomGraph(rng, in[0], in[1], in[2], 14)
		last := ad.Sum(all[len(all)-1])
		outs := append([]*ad.Node{last, all[len(all)-2]}, ad.Grad(last, in...)...)
		for _, bits := range []int{64, 32} {
			p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: bits})
			if err != nil {
				t.Fatal(err)
			}
			got, ok := runLoops(t, d, c, p, values, bits)
			if !ok {
				continue
			}
			done++
			want := results(t, way{bits, ""}, outs, in, values)
			tol := map[int]float64{64: 1e-11, 32: 2e-4}[bits]
			for i := range outs {
				for k := range got[i] {
					if !near(got[i][k], want[i][k], tol) {
						t.Fatalf("seed %d bits %d output %d element %d: device %g, CPU %g\n%s", seed, bits, i, k, got[i][k], want[i][k], cuda.Generate(p.Code(), bits, false).Text)
					}
				}
			}
		}
	}
	t.Log(done, "programs", hosted)
}
