// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package cubin reads what NVIDIA's assembler made of kernels from the images that it writes: registers, memory of threads, shared memory, and the
// mix of instructions. It is for tests of budgets, and needs neither a GPU nor NVIDIA's tools:
//
//	kernels, err := cubin.Read(image)
//	fmt.Println(kernels[0].Registers, kernels[0].Stack)
//
// Images are ELF files. Their attributes are described in the headers of CUDA's open tools; the codes of instructions, of architectures
// from 7.0 on, were compared with what nvdisasm 12.9 and 13.4 print.
package cubin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Kernel is what the assembler made of one kernel.
type Kernel struct {
	Name      string
	Registers int         // of 32 bits, of a thread
	Stack     int         // bytes of memory that a thread has for arrays with indices that are not constant, for calls, and for registers that did not fit
	Shared    int         // bytes of shared memory of a block
	Mix       map[Mix]int // instructions in the image, whether they run often or never; those of functions that are called are not among them
}

// Mix is a kind of instructions.
type Mix string

const (
	Float32  Mix = "float32"
	Float64  Mix = "float64"
	Integers Mix = "integers" // with moves and comparisons
	Special  Mix = "special"  // of the special function units, with conversions
	Global   Mix = "global"   // loads and stores of the device's memory
	Shared   Mix = "shared"   // loads and stores of shared memory, and exchanges between threads
	Local    Mix = "local"    // loads and stores of the memory of threads
	Atomic   Mix = "atomic"
	Barrier  Mix = "barrier"
	Branch   Mix = "branch"
	Other    Mix = "other"
)

// Total is the number of instructions.
func (k Kernel) Total() (n int) {
	for _, c := range k.Mix {
		n += c
	}
	return n
}

// versionAt is the place of the lowest byte of the version in the header of an ELF file.
const versionAt = 20

// attributes of the section .nv.info that are read here.
const (
	frameSize = 0x11
	registers = 0x2f
)

// Read returns the kernels of an image, by name.
func Read(image []byte) ([]Kernel, error) {
	if len(image) > versionAt && image[versionAt] != byte(elf.EV_CURRENT) { // which is NVIDIA's own number, for package elf to pass over
		image = slices.Clone(image)
		image[versionAt] = byte(elf.EV_CURRENT)
	}
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, fmt.Errorf("cubin: the image is no ELF file: %w", err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("cubin: the image has no symbols: %w", err)
	}
	of := map[string]*Kernel{}
	for _, s := range f.Sections {
		name, ok := strings.CutPrefix(s.Name, ".text.")
		if !ok {
			continue
		}
		code, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("cubin: cannot read the code of %s: %w", name, err)
		}
		of[name] = &Kernel{Name: name, Mix: mixOf(code)}
		if shared := f.Section(".nv.shared." + name); shared != nil {
			of[name].Shared = int(shared.Size)
		}
	}
	if err := attributes(f, symbols, of); err != nil {
		return nil, err
	}
	list := make([]Kernel, 0, len(of))
	for _, k := range of {
		list = append(list, *k)
	}
	slices.SortFunc(list, func(a, b Kernel) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// attributes reads the section that has numbers of all functions: a form, a name of one byte, and two bytes of size or value.
func attributes(f *elf.File, symbols []elf.Symbol, of map[string]*Kernel) error {
	info := f.Section(".nv.info")
	if info == nil {
		return fmt.Errorf("cubin: the image has no section .nv.info: want one of compute capability 7.0 or newer")
	}
	b, err := info.Data()
	if err != nil {
		return fmt.Errorf("cubin: cannot read .nv.info: %w", err)
	}
	for len(b) >= 4 {
		form, name, size := b[0], b[1], int(binary.LittleEndian.Uint16(b[2:]))
		b = b[4:]
		if form != 4 { // its value is in the two bytes
			continue
		}
		if size > len(b) {
			return fmt.Errorf("cubin: an attribute of %d bytes reaches beyond the end of .nv.info", size)
		}
		if size >= 8 && (name == frameSize || name == registers) {
			symbol, value := int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
			if symbol >= 1 && symbol <= len(symbols) {
				if k := of[symbols[symbol-1].Name]; k != nil && name == registers {
					k.Registers = value
				} else if k != nil {
					k.Stack = value
				}
			}
		}
		b = b[size:]
	}
	return nil
}

// instruction is the number of bytes of one.
const instruction = 16

// mixOf counts the instructions of code, by the lowest nine bits of each, without those that do nothing.
func mixOf(code []byte) map[Mix]int {
	mix := map[Mix]int{}
	for i := 0; i+instruction <= len(code); i += instruction {
		if op := binary.LittleEndian.Uint16(code[i:]) & 0x1ff; op != nop {
			mix[kindOf(op)]++
		}
	}
	return mix
}

const nop = 0x118

// kindOf returns the kind of an instruction by its code. Codes below 0x80 compute, those up to 0xff do so once for a warp, and those from 0x180 on
// access memory.
func kindOf(op uint16) Mix {
	switch op {
	case 0x08, 0x09, 0x0b, 0x20, 0x21, 0x23: // FSEL, FMNMX, FSETP, FMUL, FADD, FFMA
		return Float32
	case 0x28, 0x29, 0x2a, 0x2b: // DMUL, DADD, DSETP, DFMA
		return Float64
	case 0x11d: // BAR
		return Barrier
	case 0x180, 0x181, 0x185, 0x186: // LD, LDG, ST, STG
		return Global
	case 0x183, 0x187: // LDL, STL
		return Local
	case 0x184, 0x188, 0x189, 0x1a1, 0x1c4: // LDS, STS, SHFL, MATCH, REDUX
		return Shared
	case 0x18c, 0x18d, 0x18e, 0x1a3, 0x1a6, 0x1a8, 0x1a9: // ATOMS and its comparison, REDG, ATOMG and REDG of reals, ATOMG and its comparison
		return Atomic
	}
	switch {
	case op < 0x100:
		return Integers
	case op <= 0x112: // FLO to I2F
		return Special
	case op >= 0x140 && op < 0x160:
		return Branch
	}
	return Other
}
