// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// sealKey names the last member of the JSON objects that this program writes to read them again: the CRC-32C of all bytes before the
// comma in front of it, in eight hexadecimal digits.
const sealKey = "crc32c"

var (
	sealTable = crc32.MakeTable(crc32.Castagnoli)
	sealHead  = []byte(",\n  \"" + sealKey + "\": \"")
	sealTail  = []byte("\"\n}\n")
)

// Seal adds the checksum to a JSON object as json.MarshalIndent writes it, with two spaces, and a line feed. JSON and Decode verify it. Other
// documents are returned with the line feed only.
func Seal(b []byte) []byte {
	body, object := bytes.CutSuffix(b, []byte("\n}"))
	if !object || !bytes.HasPrefix(b, []byte("{\n  ")) {
		return append(b, '\n')
	}
	return fmt.Appendf(bytes.Clone(body), "%s%08x%s", sealHead, crc32.Checksum(body, sealTable), sealTail)
}

// unseal returns a document without its checksum. It returns an error if the checksum is not that of the bytes. Documents without one, as
// older versions and people write them, are returned as they are.
func unseal(b []byte) ([]byte, error) {
	body, sum, sealed := cutSeal(b)
	if !sealed {
		return b, nil
	}
	if is := fmt.Sprintf("%08x", crc32.Checksum(body, sealTable)); is != string(sum) {
		return nil, fmt.Errorf("the checksum of the document is %s, but its last line says %s: it was damaged, or edited; restore it, or if you edited it, remove the member %q from its end", is, sum, sealKey)
	}
	return append(bytes.Clone(body), "\n}\n"...), nil
}

func cutSeal(b []byte) (body, sum []byte, ok bool) {
	if b, ok = bytes.CutSuffix(b, sealTail); !ok || len(b) < 8 {
		return nil, nil, false
	}
	body, ok = bytes.CutSuffix(b[:len(b)-8], sealHead)
	return body, b[len(b)-8:], ok
}
