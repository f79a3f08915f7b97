package zarr

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// bloscFrame is the header of a Blosc 1 chunk, the default compressor of zarr-python. The
// chunk holds blocks of shuffled elements, each compressed separately.
type bloscFrame struct {
	flags     byte
	typeSize  int
	size      int // size of all elements in bytes
	blockSize int
	body      []byte // whole frame, including the header
}

// inner maps the numbers of the compressors inside a frame to their names and functions.
var inner = map[byte]struct {
	name   string
	decode func(dst, src []byte) error
}{
	1: {"lz4", lz4Decode},
	3: {"zlib", func(dst, src []byte) error {
		r, err := zlib.NewReader(bytes.NewReader(src))
		return readExactly(dst, r, err)
	}},
	4: {"zstd", func(dst, src []byte) error {
		r, err := zstd.NewReader(bytes.NewReader(src), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(64<<20))
		if err == nil {
			defer r.Close()
		}
		return readExactly(dst, r, err)
	}},
}

func readExactly(dst []byte, r io.Reader, err error) error {
	if err != nil {
		return err
	}
	_, err = io.ReadFull(r, dst)
	return err
}

// bloscDecode returns the elements of a frame, at most limit bytes.
func bloscDecode(b []byte, limit int) ([]byte, error) {
	f, err := bloscHead(b, limit)
	if err != nil {
		return nil, err
	}
	out := make([]byte, f.size)
	if f.flags&2 != 0 { // the data are stored without compression
		if copy(out, b[16:]) < f.size {
			return nil, bad("Blosc frame of %d bytes holds fewer than %d", len(b), f.size)
		}
		return out, nil
	}
	work := make([]byte, min(f.blockSize, f.size))
	for k, at := 0, 0; at < f.size; k, at = k+1, at+f.blockSize {
		end := min(at+f.blockSize, f.size)
		block := work[:end-at]
		if err := f.block(block, k); err != nil {
			return nil, &FormatError{What: fmt.Sprintf("Blosc block %d", k), Err: err}
		}
		f.arrange(out[at:end], block)
	}
	return out, nil
}

func bloscHead(b []byte, limit int) (*bloscFrame, error) {
	if len(b) < 16 {
		return nil, bad("Blosc frame of %d bytes", len(b))
	}
	f := &bloscFrame{flags: b[2], typeSize: int(b[3]), size: int(binary.LittleEndian.Uint32(b[4:])), blockSize: int(binary.LittleEndian.Uint32(b[8:])), body: b}
	switch {
	case f.size > limit:
		return nil, bad("Blosc frame of %d bytes, want at most %d", f.size, limit)
	case f.size > 0 && f.blockSize == 0 || f.typeSize == 0:
		return nil, bad("Blosc frame with blocks of %d and elements of %d bytes", f.blockSize, f.typeSize)
	case f.flags&2 == 0 && inner[f.flags>>5].decode == nil:
		return nil, &FormatError{What: fmt.Sprintf("compressed by Blosc with format %d (BloscLZ or Snappy)", f.flags>>5), Try: "write it with Blosc's lz4, zlib or zstd"}
	}
	return f, nil
}

// block decompresses block k into dst.
func (f *bloscFrame) block(dst []byte, k int) error {
	entry := 16 + 4*k
	if entry+4 > len(f.body) {
		return io.ErrUnexpectedEOF
	}
	at := int(binary.LittleEndian.Uint32(f.body[entry:]))
	parts := 1
	if f.flags&0x10 == 0 && len(dst) == f.blockSize && len(dst)%f.typeSize == 0 {
		parts = f.typeSize
	}
	n := len(dst) / parts
	for p := range parts {
		if at < 0 || at > len(f.body)-4 {
			return io.ErrUnexpectedEOF
		}
		size := int(int32(binary.LittleEndian.Uint32(f.body[at:])))
		at += 4
		if size < 0 || size > len(f.body)-at {
			return io.ErrUnexpectedEOF
		}
		src, to := f.body[at:at+size], dst[p*n:(p+1)*n]
		at += size
		if size == n {
			copy(to, src)
		} else if err := inner[f.flags>>5].decode(to, src); err != nil {
			return err
		}
	}
	return nil
}

// arrange undoes the byte or bit shuffle.
func (f *bloscFrame) arrange(dst, src []byte) {
	n := len(src) / f.typeSize
	switch {
	case f.flags&1 != 0 && f.typeSize > 1:
		for j := range f.typeSize {
			for i, v := range src[j*n : (j+1)*n] {
				dst[i*f.typeSize+j] = v
			}
		}
		copy(dst[n*f.typeSize:], src[n*f.typeSize:])
	case f.flags&4 != 0 && n%8 == 0:
		f.arrangeBits(dst, src, n)
	default:
		copy(dst, src)
	}
}

// arrangeBits undoes the bit shuffle of n elements: row r of n/8 bytes holds bit r%8 of
// byte r/8 of each element.
func (f *bloscFrame) arrangeBits(dst, src []byte, n int) {
	clear(dst[:n*f.typeSize])
	for row := range 8 * f.typeSize {
		for i := range n {
			bit := src[row*n/8+i/8] >> (i % 8) & 1
			dst[i*f.typeSize+row/8] |= bit << (row % 8)
		}
	}
	copy(dst[n*f.typeSize:], src[n*f.typeSize:])
}

// lz4Decode fills dst from one LZ4 block.
//
// Format: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
func lz4Decode(dst, src []byte) error {
	out := 0
	for len(src) > 0 {
		token := src[0]
		src = src[1:]
		literals, rest, ok := lz4Length(int(token>>4), src)
		if !ok || literals > len(rest) || literals > len(dst)-out {
			return io.ErrUnexpectedEOF
		}
		copy(dst[out:], rest[:literals])
		out += literals
		if src = rest[literals:]; len(src) == 0 {
			break
		}
		if len(src) < 2 {
			return io.ErrUnexpectedEOF
		}
		back := int(binary.LittleEndian.Uint16(src))
		match, rest, ok := lz4Length(int(token&15), src[2:])
		match += 4
		if !ok || back == 0 || back > out || match > len(dst)-out {
			return io.ErrUnexpectedEOF
		}
		for range match { // the match may overlap its own output
			dst[out] = dst[out-back]
			out++
		}
		src = rest
	}
	if out != len(dst) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// lz4Length adds the extra bytes of a length that starts at 15.
func lz4Length(n int, src []byte) (int, []byte, bool) {
	if n < 15 {
		return n, src, true
	}
	for i, b := range src {
		n += int(b)
		if b < 255 {
			return n, src[i+1:], true
		}
	}
	return 0, nil, false
}
