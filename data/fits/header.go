// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/spelling"
)

// Header is the ordered list of cards of an HDU. The zero value is an empty header. A header that was
// read includes the cards that describe the layout of the data (SIMPLE, BITPIX, NAXIS, TFIELDS, TFORMn
// and so on); a Writer replaces them with its own.
type Header struct {
	cards []Card
	index map[string]int // first card of each keyword
}

// Cards returns a copy of all cards, in order.
func (h *Header) Cards() []Card { return slices.Clone(h.cards) }

// Get returns the first card with a keyword. Case does not matter.
func (h *Header) Get(key string) (Card, bool) {
	i, ok := h.index[strings.ToUpper(strings.TrimSpace(key))]
	if !ok {
		return Card{}, false
	}
	return h.cards[i], true
}

// Text returns the value of a keyword if it is a string, and "" otherwise.
func (h *Header) Text(key string) string {
	c, _ := h.Get(key)
	s, _ := c.Value.(string)
	return s
}

// Int returns the value of a keyword if it is an integer.
func (h *Header) Int(key string) (int64, bool) {
	c, _ := h.Get(key)
	switch v := c.Value.(type) {
	case int64:
		return v, true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<62 {
			return int64(v), true
		}
	}
	return 0, false
}

// Float returns the value of a keyword if it is a number.
func (h *Header) Float(key string) (float64, bool) {
	c, _ := h.Get(key)
	switch v := c.Value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// Bool returns the value of a keyword if it is T or F.
func (h *Header) Bool(key string) (value, ok bool) {
	c, _ := h.Get(key)
	value, ok = c.Value.(bool)
	return value, ok
}

// Near returns the keywords of the header, the most similar to key first.
func (h *Header) Near(key string) []string {
	var names []string
	for k := range h.index {
		names = append(names, k)
	}
	slices.Sort(names)
	return spelling.Sorted(strings.ToUpper(key), names)
}

// Set gives a keyword a value (bool, any integer, float32, float64, complex128, string, or nil) and a
// comment. It replaces the first card with the keyword, or appends a new one. Mistakes are reported
// when the header is written.
func (h *Header) Set(key string, value any, comment string) {
	c := Card{Key: strings.ToUpper(strings.Join(strings.Fields(key), " ")), Value: plain(value), Comment: comment}
	if i, ok := h.index[c.Key]; ok && !commentary(c.Key) {
		h.cards[i] = c
		return
	}
	h.Add(c)
}

// Add appends a card, even if the keyword exists already. COMMENT, HISTORY and blank cards have their
// text in Comment.
func (h *Header) Add(c Card) {
	c.Value = plain(c.Value)
	if h.index == nil {
		h.index = map[string]int{}
	}
	if _, ok := h.index[c.Key]; !ok && !commentary(c.Key) {
		h.index[c.Key] = len(h.cards)
	}
	h.cards = append(h.cards, c)
}

// Clone returns a header that shares nothing with h. If h is nil, it returns an empty header.
func (h *Header) Clone() *Header {
	out := &Header{}
	if h != nil {
		for _, c := range h.cards {
			out.Add(c)
		}
	}
	return out
}

// plain turns all number types into those that Card documents.
func plain(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case uint8:
		return int64(v)
	case uint16:
		return int64(v)
	case uint32:
		return int64(v)
	case uint64:
		if v > math.MaxInt64 {
			return float64(v)
		}
		return int64(v)
	case float32:
		return float64(v)
	case complex64:
		return complex128(v)
	}
	return v
}

// parseHeader reads the cards of complete blocks; ends says whether END is among them.
func (h *Header) parse(block []byte) (ends bool) {
	for ; len(block) >= 80; block = block[80:] {
		if strings.TrimRight(string(block[:80]), " ") == "END" {
			return true
		}
		c, more, isMore := parseCard(block[:80])
		if !isMore {
			h.Add(c)
			continue
		}
		if len(h.cards) == 0 {
			continue
		}
		last := &h.cards[len(h.cards)-1]
		if text, ok := last.Value.(string); ok && strings.HasSuffix(text, "&") {
			last.Value = text[:len(text)-1] + more
			if c.Comment != "" {
				last.Comment = strings.TrimSpace(last.Comment + " " + c.Comment)
			}
			continue
		}
		h.Add(Card{Key: "CONTINUE", Comment: fmt.Sprintf("'%s'", more)})
	}
	return false
}
