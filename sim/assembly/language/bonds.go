// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import "slices"

// place is an area together with a word that entered it, given by its number in the sentence. In the
// area of clauses, the word is the one that begins the clause.
type place struct {
	area string
	word int
}

// bonds records, beside the brain, what happens while it hears a sentence: which word each area
// holds, and which words fired together. It tells what the brain should bring back.
type bonds struct {
	holds   map[string]int // the word that each area holds
	entries []entry        // all entries of words into areas, in order
	linked  map[place][]place
}

// entry records that a word entered an area, together with the block of the word.
type entry struct {
	place
	block int
}

func newBonds() *bonds { return &bonds{holds: map[string]int{}, linked: map[place][]place{}} }

// enter records that the areas hold a word from now on.
func (b *bonds) enter(areas []string, word, block int) {
	for _, a := range areas {
		b.holds[a] = word
		b.entries = append(b.entries, entry{place{a, word}, block})
	}
}

// heldOther reports whether the last word that entered an area was a different one.
func (b *bonds) heldOther(area string, block int) bool {
	for _, e := range slices.Backward(b.entries) {
		if e.area == area {
			return e.block != block
		}
	}
	return false
}

// lastArea returns the area that a word entered last, and the later word that replaced it there, or
// -1 if none did.
func (b *bonds) lastArea(word int) (area string, next int) {
	next = -1
	for _, e := range b.entries {
		switch {
		case e.word == word:
			area, next = e.area, -1
		case e.area == area && next < 0 && e.word > word: // not one that is recalled
			next = e.word
		}
	}
	return area, next
}

// join links the words that two areas hold when one projects to the other.
func (b *bonds) join(from, to string) {
	i, ok := b.holds[from]
	j, ok2 := b.holds[to]
	if !ok || !ok2 || from == to {
		return
	}
	x, y := place{from, i}, place{to, j}
	if !slices.Contains(b.linked[x], y) {
		b.linked[x], b.linked[y] = append(b.linked[x], y), append(b.linked[y], x)
	}
}

// bond is a dependency between two words, given by their numbers in the sentence.
type bond struct {
	head, dependent int
	role            string
}

// expected lists the dependencies that the read-out of g should find from a place: one for each area
// that it leads to. If several words of an area fired together with that place, the area can bring
// back only one of them: expected takes the one that was read, or else the first.
func (b *bonds) expected(g *Grammar, from place, read func(bond) bool, seen map[place]bool) (list []bond) {
	if seen[from] {
		return nil
	}
	seen[from] = true
	for _, area := range g.ReadOut[from.area] {
		role, held := area, b.linkedIn(from, area)
		if area == clause {
			role = DepVerb
			var verbs []place
			for _, c := range held {
				verbs = append(verbs, b.linkedIn(c, verb)...)
			}
			held = verbs
		}
		of := func(p place) bond { return bond{from.word, p.word, role} }
		if i := slices.IndexFunc(held, func(p place) bool { return read(of(p)) }); i > 0 {
			held = held[i:]
		}
		if len(held) > 0 {
			list = append(append(list, of(held[0])), b.expected(g, held[0], read, seen)...)
		}
	}
	return list
}

// linkedIn lists the places in an area that are linked to the given one.
func (b *bonds) linkedIn(from place, area string) (list []place) {
	for _, to := range b.linked[from] {
		if to.area == area {
			list = append(list, to)
		}
	}
	return list
}
