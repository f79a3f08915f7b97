// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// Save writes a checkpoint that torch.load opens with weights_only=True. root is made of the values
// that the package comment lists; int stands for int64, and map keys are strings or integers.
func Save(name string, root any) error {
	return atomicfile.Write(name, true, func(w io.Writer) error {
		err := Write(w, root)
		if e, ok := err.(*FormatError); ok {
			e.File = name
		}
		return err
	})
}

// Write writes a checkpoint to w, in the same form as Save.
func Write(w io.Writer, root any) error {
	p := &pickler{keys: map[*storage]int{}}
	p.b = append(p.b, 0x80, 2)
	if err := p.value(root, 0); err != nil {
		return err
	}
	p.b = append(p.b, '.')
	z := &archiver{z: zip.NewWriter(w)}
	z.add("archive/data.pkl", p.b)
	z.add("archive/byteorder", []byte("little"))
	for i, s := range p.storages {
		if s.big {
			return &FormatError{Format: "torch", What: "a tensor was read from a file in big-endian order and cannot be written as it is", Err: ErrUnsupported, Try: "make a new one with NewTensor"}
		}
		z.add(fmt.Sprintf("archive/data/%d", i), s.data[:s.n*sizes[s.dtype]])
	}
	z.add("archive/version", []byte("3\n"))
	if z.err != nil {
		return z.err
	}
	return z.z.Close()
}

// archiver writes records, each at a multiple of 64 bytes, as PyTorch does.
type archiver struct {
	z   *zip.Writer
	at  int
	err error
}

func (a *archiver) add(name string, b []byte) {
	if a.err != nil {
		return
	}
	h := &zip.FileHeader{Name: name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(b), CompressedSize64: uint64(len(b)), UncompressedSize64: uint64(len(b))}
	start := a.at + 30 + len(name) + 4
	pad := (64 - start%64) % 64
	h.Extra = append([]byte{'F', 'B', byte(pad), 0}, make([]byte, pad)...)
	if len(b) >= math.MaxUint32 {
		h.Extra = nil
	}
	w, err := a.z.CreateRaw(h)
	if err == nil {
		_, err = w.Write(b)
	}
	a.err = err
	a.at = start + pad + len(b)
}

// pickler writes protocol 2.
type pickler struct {
	b        []byte
	keys     map[*storage]int
	storages []*storage
}

func (p *pickler) text(s string) {
	p.b = append(p.b, 'X')
	p.b = binary.LittleEndian.AppendUint32(p.b, uint32(len(s)))
	p.b = append(p.b, s...)
}

func (p *pickler) global(module, name string) { p.b = append(p.b, "c"+module+"\n"+name+"\n"...) }

func (p *pickler) int(v int64) {
	switch {
	case v >= 0 && v < 256:
		p.b = append(p.b, 'K', byte(v))
	case v >= math.MinInt32 && v <= math.MaxInt32:
		p.b = append(p.b, 'J')
		p.b = binary.LittleEndian.AppendUint32(p.b, uint32(v))
	default:
		p.b = append(p.b, 0x8a, 8)
		p.b = binary.LittleEndian.AppendUint64(p.b, uint64(v))
	}
}

func (p *pickler) value(v any, depth int) error {
	if depth > 100 {
		return &FormatError{Format: "torch", What: "the values are nested more than 100 levels deep", Try: "use fewer levels"}
	}
	switch v := v.(type) {
	case nil:
		p.b = append(p.b, 'N')
	case bool:
		p.b = append(p.b, map[bool]byte{true: 0x88, false: 0x89}[v])
	case int:
		p.int(int64(v))
	case int64:
		p.int(v)
	case float64:
		p.b = append(p.b, 'G')
		p.b = binary.BigEndian.AppendUint64(p.b, math.Float64bits(v))
	case string:
		p.text(v)
	case DType:
		if sizes[v] == 0 {
			return &FormatError{Format: "torch", What: fmt.Sprintf("there is no element type %q", v), Err: ErrType}
		}
		p.global("torch", string(v))
	case List:
		p.b = append(p.b, ']', '(')
		return p.items(v, 'e', depth)
	case Tuple:
		p.b = append(p.b, '(')
		return p.items(v, 't', depth)
	case *Dict:
		return p.dict(v, depth)
	case *Tensor:
		p.tensor(v)
	default:
		return &FormatError{Format: "torch", What: fmt.Sprintf("%T cannot be written", v), Err: ErrType, Try: "use bool, int64, float64, string, *Dict, List, Tuple and *Tensor"}
	}
	return nil
}

func (p *pickler) items(v []any, end byte, depth int) error {
	for _, x := range v {
		if err := p.value(x, depth+1); err != nil {
			return err
		}
	}
	p.b = append(p.b, end)
	return nil
}

func (p *pickler) dict(d *Dict, depth int) error {
	if d.Ordered {
		p.global("collections", "OrderedDict")
		p.b = append(p.b, ')', 'R')
	} else {
		p.b = append(p.b, '}')
	}
	p.b = append(p.b, '(')
	for _, it := range d.Items {
		switch it.Key.(type) {
		case string, int64, int:
		default:
			return &FormatError{Format: "torch", What: fmt.Sprintf("a key of a dictionary is a %T: want strings or integers", it.Key), Err: ErrType}
		}
		if err := p.value(it.Key, depth+1); err != nil {
			return err
		}
		if err := p.value(it.Value, depth+1); err != nil {
			return err
		}
	}
	p.b = append(p.b, 'u')
	return nil
}

func (p *pickler) tensor(t *Tensor) {
	key, ok := p.keys[t.store]
	if !ok {
		key = len(p.storages)
		p.keys[t.store] = key
		p.storages = append(p.storages, t.store)
	}
	kind := ""
	for name, d := range storages {
		if d == t.store.dtype {
			kind = name
		}
	}
	p.global("torch._utils", "_rebuild_tensor_v2")
	p.b = append(p.b, '(', '(')
	p.text("storage")
	p.global("torch", kind)
	p.text(fmt.Sprint(key))
	p.text("cpu")
	p.int(int64(t.store.n))
	p.b = append(p.b, 't', 'Q')
	p.int(int64(t.offset))
	for _, v := range [][]int{t.shape, t.strides} {
		p.b = append(p.b, '(')
		for _, n := range v {
			p.int(int64(n))
		}
		p.b = append(p.b, 't')
	}
	p.b = append(p.b, map[bool]byte{true: 0x88, false: 0x89}[t.grad])
	p.global("collections", "OrderedDict")
	p.b = append(p.b, ')', 'R', 't', 'R')
}
