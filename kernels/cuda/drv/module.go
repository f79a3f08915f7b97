// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv

import (
	"bytes"
	"unsafe"

	"github.com/euryale-dev/euryale/kernels/cuda/dl"
)

// ModuleLoad loads a cubin, or the text of PTX, which the driver then compiles. If it fails, the log of
// the driver's compiler is the detail of the error.
func (d *Driver) ModuleLoad(image []byte) (Module, error) {
	const logBuffer, logSize = 5, 6 // CU_JIT_ERROR_LOG_BUFFER and its size
	image = append(image[:len(image):len(image)], 0)
	log := make([]byte, 8192)
	keys, values := &[2]uint32{logBuffer, logSize}, &[2]uintptr{}
	pin := pinned(&log[0])
	defer pin.Unpin()
	values[0], values[1] = uintptr(unsafe.Pointer(&log[0])), uintptr(len(log)-1)
	m := new(Module)
	err := d.call(cuModuleLoadDataEx, uintptr(unsafe.Pointer(m)), uintptr(unsafe.Pointer(&image[0])), 2,
		uintptr(unsafe.Pointer(keys)), uintptr(unsafe.Pointer(values)))
	if e, ok := err.(*Error); ok {
		text, _, _ := bytes.Cut(log, []byte{0})
		e.Detail = string(bytes.TrimSpace(text))
	}
	return *m, err
}

// ModuleUnload unloads a module. Its functions must not be used afterwards.
func (d *Driver) ModuleUnload(m Module) error { return d.call(cuModuleUnload, uintptr(m)) }

// ModuleFunction returns a kernel of a module.
func (d *Driver) ModuleFunction(m Module, name string) (Function, error) {
	f, n := new(Function), dl.Bytes(name)
	err := d.call(cuModuleGetFunction, uintptr(unsafe.Pointer(f)), uintptr(m), uintptr(unsafe.Pointer(&n[0])))
	return *f, err
}

// ModuleGlobal returns the address and the size in bytes of a variable of a module.
func (d *Driver) ModuleGlobal(m Module, name string) (DevicePtr, uint64, error) {
	p, size, n := new(DevicePtr), new(uint64), dl.Bytes(name)
	err := d.call(cuModuleGetGlobal, uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(size)), uintptr(m), uintptr(unsafe.Pointer(&n[0])))
	return *p, *size, err
}

// FunctionAttribute numbers an attribute of a kernel.
type FunctionAttribute int

// The attributes of kernels that this module uses.
const (
	FunctionMaxThreads FunctionAttribute = 0 // largest number of threads in a block
	FunctionShared     FunctionAttribute = 1 // static shared memory in bytes
	FunctionLocal      FunctionAttribute = 3 // memory per thread for spilled registers and arrays, in bytes
	FunctionRegisters  FunctionAttribute = 4 // number of registers per thread
	FunctionDynamic    FunctionAttribute = 8 // limit of dynamic shared memory in bytes; it can be set
)

// FunctionGet returns an attribute of a kernel.
func (d *Driver) FunctionGet(f Function, a FunctionAttribute) (int, error) {
	v := new(int32)
	err := d.call(cuFuncGetAttribute, uintptr(unsafe.Pointer(v)), uintptr(a), uintptr(f))
	return int(*v), err
}

// FunctionSet changes an attribute of a kernel.
func (d *Driver) FunctionSet(f Function, a FunctionAttribute, value int) error {
	return d.call(cuFuncSetAttribute, uintptr(f), uintptr(a), uintptr(value))
}

// FunctionParameters returns the sizes in bytes of a kernel's parameters.
func (d *Driver) FunctionParameters(f Function) ([]int, error) {
	var sizes []int
	for i := 0; ; i++ {
		v := new([2]uint64) // offset and size
		err := d.call(cuFuncGetParamInfo, uintptr(f), uintptr(i), uintptr(unsafe.Pointer(&v[0])), uintptr(unsafe.Pointer(&v[1])))
		if e, ok := err.(*Error); ok && e.Code == InvalidValue {
			return sizes, nil
		}
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, int(v[1]))
	}
}

// Occupancy returns how many blocks of a given size fit on a multiprocessor at once.
func (d *Driver) Occupancy(f Function, block int, shared int) (int, error) {
	n := new(int32)
	err := d.call(cuOccupancyMaxActiveBlocks, uintptr(unsafe.Pointer(n)), uintptr(f), uintptr(block), uintptr(shared))
	return int(*n), err
}
