// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// Every change of one byte and every truncation of a document that this program writes is an error, unless the document that is read is
// the same; a document without a checksum is read as it is.
func TestSealedDocuments(t *testing.T) {
	v := map[string]any{"mean": 4.8467, "ok": false, "text": "a \u00b5 \"b\"", "list": []any{1.5, "NaN"}, "empty": map[string]any{}}
	plain, err := json.MarshalIndent(v, "", "  ")
	ok(t, err)
	sealed := foreign.Seal(bytes.Clone(plain))
	read := func(b []byte) (map[string]any, error) {
		var got map[string]any
		return got, foreign.Decode(b, &got, true)
	}
	for _, b := range [][]byte{plain, sealed} {
		if got, err := read(b); err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("%s: %v, %v", b, got, err)
		}
	}
	if bytes.Contains(must[[]byte](t)(foreign.JSON(sealed)), []byte("crc32c")) {
		t.Error("the checksum stays in the document")
	}
	silent := 0
	for at := range sealed {
		for bit := range 8 {
			b := bytes.Clone(sealed)
			b[at] ^= 1 << bit
			got, err := read(b)
			delete(got, "crc32c")
			for k := range got { // the key of the checksum itself may have been changed, or a space before it
				if _, known := v[k]; !known {
					delete(got, k)
				}
			}
			if err == nil && !reflect.DeepEqual(got, v) {
				silent++
				t.Errorf("bit %d of byte %d: %q is read as %v", bit, at, b, got)
			}
		}
		if _, err := read(sealed[:at]); err == nil && at < len(bytes.TrimSpace(sealed)) {
			t.Errorf("%d of %d bytes are read as a document", at, len(sealed))
		}
	}
	for _, v := range []any{[]int{1, 2}, map[string]int{}, 3} {
		b := must[[]byte](t)(json.MarshalIndent(v, "", "  "))
		if got := foreign.Seal(bytes.Clone(b)); string(got) != string(b)+"\n" {
			t.Errorf("%s becomes %s", b, got)
		}
	}
}
