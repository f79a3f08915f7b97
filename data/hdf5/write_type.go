// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import "encoding/binary"

// le appends a number of n bytes in little-endian order: le(b, 2, 7) appends two bytes.
func le(b []byte, n int, v uint64) []byte {
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], v)
	return append(b, all[:n]...)
}

// pad8 appends zeros up to a multiple of eight.
func pad8(b []byte) []byte {
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

// typeHead returns the start of a datatype message of version 1.
func typeHead(class Class, flags uint64, size int) []byte {
	b := []byte{0x10 | byte(class)}
	b = le(b, 3, flags)
	return le(b, 4, uint64(size))
}

func intType(size int, signed bool) []byte {
	flags := uint64(0)
	if signed {
		flags = 8
	}
	b := typeHead(Int, flags, size)
	return le(le(b, 2, 0), 2, uint64(8*size))
}

func floatType(size int) []byte {
	f := ieee[size]
	b := typeHead(Float, uint64(f.norm)<<4|uint64(f.sign)<<8, size)
	b = le(le(b, 2, 0), 2, uint64(8*size))
	b = append(b, byte(f.expAt), byte(f.expBits), byte(f.mantAt), byte(f.mantBits))
	return le(b, 4, uint64(f.bias))
}

// complexType returns the compound of r and i that h5py reads as complex.
func complexType(size int) []byte {
	b := typeHead(Compound, 2, 2*size)
	for i, name := range []string{"r", "i"} {
		b = append(b, name...)
		b = append(b, make([]byte, 8-len(name))...)
		b = le(b, 4, uint64(i*size))
		b = append(b, make([]byte, 28)...) // no array
		b = append(b, floatType(size)...)
	}
	return b
}

// boolType returns the enum that h5py reads as bool.
func boolType() []byte {
	b := typeHead(Enum, 2, 1)
	b = append(b, intType(1, true)...)
	return append(b, "FALSE\x00\x00\x00TRUE\x00\x00\x00\x00\x00\x01"...)
}

// textType returns a UTF-8 string of variable length.
func textType() []byte {
	return append(typeHead(Vlen, 1|1<<8, 16), intType(1, false)...)
}

// fixedType returns a UTF-8 string that ends with a zero.
func fixedType(size int) []byte { return typeHead(String, 1<<4, size) }

func refType() []byte { return typeHead(Reference, 0, 8) }

func vlenType(base []byte) []byte { return append(typeHead(Vlen, 0, 16), base...) }
