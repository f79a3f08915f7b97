// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"log"
	"strings"
	"sync"
)

// signatures checks messages by the key of the kernel and takes each of them once.
type signatures struct {
	key   []byte
	mu    sync.Mutex
	seen  map[[32]byte]bool
	order [1 << 16][32]byte // the last ones, in a ring
	next  int
}

const delimiter = "<IDS|MSG>"

// split returns the parts of a message after its delimiter, the signature first, or nil if it is none.
func split(frames [][]byte) (identities, parts [][]byte) {
	for i, f := range frames {
		if string(f) == delimiter {
			if len(frames) < i+6 {
				return nil, nil
			}
			return frames[:i], frames[i+1:]
		}
	}
	return nil, nil
}

// accepts is whether a message has a valid signature that has not been seen, a header that names its type, and a content that is an object.
func (s *signatures) accepts(frames [][]byte) bool {
	_, parts := split(frames)
	if parts == nil {
		return false
	}
	if len(s.key) > 0 {
		mac := hmac.New(sha256.New, s.key)
		for _, p := range parts[1:5] {
			mac.Write(p)
		}
		theirs := make([]byte, hex.DecodedLen(len(parts[0])))
		if _, err := hex.Decode(theirs, parts[0]); err != nil || !hmac.Equal(theirs, mac.Sum(nil)) {
			return false
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		id := [32]byte(theirs)
		if s.seen[id] {
			return false
		}
		delete(s.seen, s.order[s.next])
		s.seen[id], s.order[s.next] = true, id
		s.next = (s.next + 1) % len(s.order)
	}
	var header MsgHeader
	var content map[string]any
	return json.Unmarshal(parts[1], &header) == nil && header.MsgType != "" && json.Unmarshal(parts[4], &content) == nil && content != nil
}

// isTopic is whether a message subscribes to topics or ends that.
func isTopic(frames [][]byte) bool {
	return len(frames) == 1 && len(frames[0]) > 0 && frames[0][0] <= 1
}

// isEcho is whether a message has the empty frame after which an answer is put.
func isEcho(frames [][]byte) bool {
	for _, f := range frames[:len(frames)-1] {
		if len(f) == 0 {
			return true
		}
	}
	return false
}

// encode writes the frames of a message as ZMTP does.
func encode(frames [][]byte) []byte {
	var b []byte
	for i, f := range frames {
		var flags byte
		if i < len(frames)-1 {
			flags = flagMore
		}
		if len(f) > 255 {
			b = binary.BigEndian.AppendUint64(append(b, flags|flagLong), uint64(len(f)))
		} else {
			b = append(b, flags, byte(len(f)))
		}
		b = append(b, f...)
	}
	return b
}

// readReady returns the properties of a READY command by their names in small letters.
func readReady(flags byte, body []byte) (properties map[string]string, ok bool) {
	rest, ok := strings.CutPrefix(string(body), "\x05READY")
	if !ok || flags&(flagCommand|flagMore) != flagCommand {
		return nil, false
	}
	properties = map[string]string{}
	for rest != "" {
		n := int(rest[0])
		if len(rest) < 1+n+4 {
			return nil, false
		}
		name := strings.ToLower(rest[1 : 1+n])
		size := uint64(binary.BigEndian.Uint32([]byte(rest[1+n : 5+n])))
		if rest = rest[5+n:]; size > uint64(len(rest)) {
			return nil, false
		}
		properties[name], rest = rest[:size], rest[size:]
	}
	return properties, true
}

// WireMsgToComposedMsg returns the message of frames that the guard has accepted.
func WireMsgToComposedMsg(frames [][]byte, _ []byte) (msg ComposedMsg, identities [][]byte, err error) {
	identities, parts := split(frames)
	if parts == nil {
		return msg, nil, nil
	}
	for i, into := range []any{&msg.Header, &msg.ParentHeader, &msg.Metadata, &msg.Content} {
		if err := json.Unmarshal(parts[1+i], into); err != nil {
			log.Printf("part %d of a message is no JSON: %v", 1+i, err)
		}
	}
	return msg, identities, nil
}

// handleShellMsg answers a message. One that lacks what it must have is told of and ends nothing.
func (kernel *Kernel) handleShellMsg(receipt msgReceipt) {
	defer func() {
		if r := recover(); r != nil {
			log.Printf("%s cannot be answered: %v", receipt.Msg.Header.MsgType, r)
		}
	}()
	kernel.answer(receipt)
}
