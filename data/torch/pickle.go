// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"encoding/binary"
	"fmt"
	"math"
)

// machine runs a pickle: a stack machine whose calls are those of global alone.
//
// Reference: Python's Lib/pickletools.py, which lists the instructions.
type machine struct {
	b       []byte
	at      int
	stack   []any
	marks   []int
	memo    map[uint64]any
	storage func(dtype DType, key string, n int) (*storage, error)
}

// The machine's own values; tree turns them into those of the package comment.
type (
	list   struct{ items []any }
	dict   struct{ Dict }
	global string
)

// stop is what a bad pickle ends in.
type stop struct{ error }

func (m *machine) fail(format string, args ...any) {
	panic(stop{&FormatError{Format: "torch", Offset: int64(m.at), What: fmt.Sprintf(format, args...), Try: tryAgain}})
}

func (m *machine) refuse(what string) {
	panic(stop{&FormatError{Format: "torch", Offset: int64(m.at), What: fmt.Sprintf("the checkpoint wants %s, which weights do not need, so it is refused for safety", what), Err: ErrRefused,
		Try: "save only a state_dict: torch.save(model.state_dict(), path)"}})
}

// run returns the value that the pickle makes.
func (m *machine) run() (root any, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, ok := r.(stop)
			if !ok {
				panic(r)
			}
			err = s.error
		}
	}()
	m.memo = map[uint64]any{}
	for {
		op := m.take(1)[0]
		if op == '.' {
			break
		}
		m.step(op)
	}
	root = m.pop()
	left := 16*len(m.b) + 4096
	return m.tree(root, 0, &left), nil
}

// tree copies a value. left bounds the number of values, as the pickle may refer to one many times.
func (m *machine) tree(v any, depth int, left *int) any {
	if *left--; *left < 0 || depth > 200 {
		m.fail("the values are nested more than 200 levels deep or repeat each other too often")
	}
	switch v := v.(type) {
	case *list:
		out := make(List, len(v.items))
		for i, x := range v.items {
			out[i] = m.tree(x, depth+1, left)
		}
		return out
	case Tuple:
		out := make(Tuple, len(v))
		for i, x := range v {
			out[i] = m.tree(x, depth+1, left)
		}
		return out
	case *dict:
		out := &Dict{Ordered: v.Ordered}
		for _, it := range v.Items {
			key := it.Key
			switch key.(type) {
			case string, int64, bool, float64, nil:
			default:
				m.fail("a key of a dictionary is a %T: want strings or integers", key)
			}
			out.Items = append(out.Items, Item{key, m.tree(it.Value, depth+1, left)})
		}
		return out
	case global:
		if d, ok := dtypeOf(string(v)); ok {
			return d
		}
		m.refuse(string(v))
	case *storage:
		m.refuse("to return the memory of a tensor by itself")
	}
	return v
}

func dtypeOf(name string) (DType, bool) {
	if len(name) > 6 && name[:6] == "torch." {
		d := DType(name[6:])
		_, ok := sizes[d]
		return d, ok
	}
	return "", false
}

func (m *machine) take(n uint64) []byte {
	if n > uint64(len(m.b)-m.at) {
		m.fail("the pickle ends early: the next value needs %d bytes, but %d are left", n, len(m.b)-m.at)
	}
	b := m.b[m.at : m.at+int(n)]
	m.at += int(n)
	return b
}

func (m *machine) uint(n uint64) uint64 {
	var all [8]byte
	copy(all[:], m.take(n))
	return binary.LittleEndian.Uint64(all[:])
}

func (m *machine) line() string {
	for i := m.at; i < len(m.b); i++ {
		if m.b[i] == '\n' {
			s := string(m.b[m.at:i])
			m.at = i + 1
			return s
		}
	}
	m.fail("the pickle ends early, within a line of text")
	return ""
}

func (m *machine) push(v any) { m.stack = append(m.stack, v) }

func (m *machine) pop() any {
	floor := 0
	if len(m.marks) > 0 {
		floor = m.marks[len(m.marks)-1]
	}
	if len(m.stack) <= floor {
		m.fail("the pickle is damaged: an instruction needs a value, but there is none")
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v
}

// popMark returns what is above the last mark.
func (m *machine) popMark() []any {
	if len(m.marks) == 0 {
		m.fail("the pickle is damaged: the beginning of a group of values is not marked")
	}
	at := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	v := append([]any{}, m.stack[at:]...)
	m.stack = m.stack[:at]
	return v
}

func (m *machine) top() any {
	v := m.pop()
	m.push(v)
	return v
}

func (m *machine) get(i uint64) {
	v, ok := m.memo[i]
	if !ok {
		m.fail("the pickle is damaged: it refers to value %d, which it has not stored", i)
	}
	m.push(v)
}

// step executes one instruction.
func (m *machine) step(op byte) {
	switch op {
	case 0x80: // PROTO
		if v := m.take(1)[0]; v > 5 {
			m.fail("the pickle has the protocol version %d: want at most 5", v)
		}
	case 0x95: // FRAME
		m.take(8)
	case '(':
		m.marks = append(m.marks, len(m.stack))
	case '0':
		m.pop()
	case '1':
		m.popMark()
	case 'N':
		m.push(nil)
	case 0x88:
		m.push(true)
	case 0x89:
		m.push(false)
	case 'J':
		m.push(int64(int32(m.uint(4))))
	case 'K':
		m.push(int64(m.uint(1)))
	case 'M':
		m.push(int64(m.uint(2)))
	case 0x8a: // LONG1
		m.push(m.long(m.uint(1)))
	case 'G':
		m.push(math.Float64frombits(binary.BigEndian.Uint64(m.take(8))))
	case 'X':
		m.push(string(m.take(m.uint(4))))
	case 0x8c:
		m.push(string(m.take(m.uint(1))))
	case 0x8d:
		m.push(string(m.take(m.uint(8))))
	case 'U':
		m.push(string(m.take(m.uint(1))))
	case 'T':
		m.push(string(m.take(m.uint(4))))
	case 'C':
		m.push(append([]byte{}, m.take(m.uint(1))...))
	case 'B':
		m.push(append([]byte{}, m.take(m.uint(4))...))
	case 'q':
		m.memo[m.uint(1)] = m.top()
	case 'r':
		m.memo[m.uint(4)] = m.top()
	case 0x94:
		m.memo[uint64(len(m.memo))] = m.top()
	case 'h':
		m.get(m.uint(1))
	case 'j':
		m.get(m.uint(4))
	default:
		m.collect(op)
	}
}

// collect executes the instructions that make containers and objects.
func (m *machine) collect(op byte) {
	switch op {
	case ']':
		m.push(&list{})
	case '}':
		m.push(&dict{})
	case ')':
		m.push(Tuple{})
	case 't':
		m.push(Tuple(m.popMark()))
	case 0x85, 0x86, 0x87:
		n := int(op - 0x84)
		t := make(Tuple, n)
		for i := n - 1; i >= 0; i-- {
			t[i] = m.pop()
		}
		m.push(t)
	case 'a':
		v := m.pop()
		m.extend([]any{v})
	case 'e':
		m.extend(m.popMark())
	case 's':
		v := m.pop()
		k := m.pop()
		m.setItems([]any{k, v})
	case 'u':
		m.setItems(m.popMark())
	case 'c':
		module := m.line()
		m.push(global(module + "." + m.line()))
	case 0x93: // STACK_GLOBAL
		name, ok1 := m.pop().(string)
		module, ok2 := m.pop().(string)
		if !ok1 || !ok2 {
			m.fail("the pickle is damaged: the name of a function or class is not text")
		}
		m.push(global(module + "." + name))
	case 'R':
		args, ok := m.pop().(Tuple)
		f, ok2 := m.pop().(global)
		if !ok || !ok2 {
			m.refuse("to call a value that is not a function")
		}
		m.push(m.call(string(f), args))
	case 'b': // BUILD: the attributes of a state dictionary, which are not needed
		m.pop()
		if d, ok := m.top().(*dict); !ok || !d.Ordered {
			m.refuse("to set attributes of an object")
		}
	case 'Q':
		m.push(m.persistent(m.pop()))
	case 0x81, 0x92, 'i', 'o': // NEWOBJ, NEWOBJ_EX, INST, OBJ
		name := "a class"
		for _, v := range m.stack[max(0, len(m.stack)-3):] {
			if g, ok := v.(global); ok {
				name = string(g)
			}
		}
		m.refuse("to construct " + name)
	default:
		m.refuse(fmt.Sprintf("to carry out the pickle instruction %#x", op))
	}
}

// long reads an integer of n bytes.
func (m *machine) long(n uint64) int64 {
	if n > 8 {
		m.fail("an integer has %d bytes: want at most 8", n)
	}
	b := m.take(n)
	v := int64(0)
	for i := range b {
		v |= int64(b[i]) << (8 * i)
	}
	if n > 0 && n < 8 && b[n-1]>>7 == 1 {
		v -= 1 << (8 * n)
	}
	return v
}

func (m *machine) extend(v []any) {
	l, ok := m.top().(*list)
	if !ok {
		m.fail("items should be appended to a %T, which is not a list", m.top())
	}
	l.items = append(l.items, v...)
}

func (m *machine) setItems(kv []any) {
	d, ok := m.top().(*dict)
	if !ok || len(kv)%2 != 0 {
		m.fail("%d keys and values should be set in a %T: want pairs and a dictionary", len(kv), m.top())
	}
	for i := 0; i < len(kv); i += 2 {
		d.Items = append(d.Items, Item{kv[i], kv[i+1]})
	}
}

// call makes what the few functions of checkpoints make.
func (m *machine) call(f string, args Tuple) any {
	switch f {
	case "collections.OrderedDict":
		d := &dict{Dict{Ordered: true}}
		if len(args) == 0 {
			return d
		}
		pairs, ok := args[0].(*list)
		for i := 0; ok && i < len(pairs.items); i++ {
			switch p := pairs.items[i].(type) {
			case Tuple:
				if ok = len(p) == 2; ok {
					d.Items = append(d.Items, Item{p[0], p[1]})
				}
			case *list:
				if ok = len(p.items) == 2; ok {
					d.Items = append(d.Items, Item{p.items[0], p.items[1]})
				}
			default:
				ok = false
			}
		}
		if !ok {
			m.fail("an OrderedDict is not made of pairs of keys and values")
		}
		return d
	case "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor":
		return m.tensor(args)
	case "torch._utils._rebuild_parameter":
		if len(args) > 0 {
			if t, ok := args[0].(*Tensor); ok {
				return t
			}
		}
		m.fail("a parameter is not made of a tensor")
	case "torch.Size":
		if len(args) == 1 {
			if t, ok := args[0].(Tuple); ok {
				return t
			}
		}
		m.fail("a torch.Size is not made of a tuple")
	}
	m.refuse("to call " + f)
	return nil
}

// tensor is _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, ...).
func (m *machine) tensor(args Tuple) any {
	if len(args) < 4 {
		m.fail("a tensor has %d arguments: want at least 4: its storage, offset, shape and strides", len(args))
	}
	t := &Tensor{}
	store, ok1 := args[0].(*storage)
	offset, ok2 := args[1].(int64)
	shape, ok3 := m.ints(args[2])
	strides, ok4 := m.ints(args[3])
	if !ok1 || !ok2 || !ok3 || !ok4 || len(shape) != len(strides) || len(shape) > 64 {
		m.fail("a tensor has arguments of the types %T, %T, %T and %T: want its storage, offset, and as many lengths as strides, at most 64", args[0], args[1], args[2], args[3])
	}
	if len(args) > 4 {
		t.grad, _ = args[4].(bool)
	}
	t.store, t.offset, t.shape, t.strides = store, int(offset), shape, strides
	if err := t.check(); err != nil {
		m.fail("%s", err)
	}
	return t
}

func (m *machine) ints(v any) ([]int, bool) {
	t, ok := v.(Tuple)
	out := make([]int, len(t))
	for i, x := range t {
		n, isInt := x.(int64)
		ok = ok && isInt
		out[i] = int(n)
	}
	return out, ok
}

// persistent is ('storage', type, key, location, number of elements).
func (m *machine) persistent(id any) any {
	t, _ := id.(Tuple)
	if len(t) < 5 || t[0] != "storage" {
		m.fail("the pickle refers to an outside object that is not the memory of a tensor")
	}
	kind, ok1 := t[1].(global)
	key, ok2 := t[2].(string)
	n, ok3 := t[4].(int64)
	if !ok1 || !ok2 || !ok3 || n < 0 {
		m.fail("the memory of a tensor is described by values of the types %T, %T and %T: want a type, a name and a number of elements", t[1], t[2], t[4])
	}
	name := string(kind)
	dtype := DType("")
	if len(name) > 6 && name[:6] == "torch." {
		dtype = storages[name[6:]]
	}
	if dtype == "" {
		panic(stop{&FormatError{Format: "torch", Offset: int64(m.at), What: fmt.Sprintf("a tensor is stored as %s, which this package does not read", name), Err: ErrUnsupported,
			Try: "convert it to float32 or float64 before saving"}})
	}
	s, err := m.storage(dtype, key, int(n))
	if err != nil {
		panic(stop{err})
	}
	return s
}
