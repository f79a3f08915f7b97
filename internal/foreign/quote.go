// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shell makes text one word of a shell, with nothing in it that the shell would expand. What would control a terminal is written
// visibly, in the quotes $'...' of bash, ksh, zsh and POSIX.1-2024, so that files and screens show what the word is.
func Shell(s string) string {
	if Text(s) != s {
		return dollar(s)
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// plainInShell are the characters, besides letters and digits, of words that need no quotes anywhere in a command.
const plainInShell = "%+,-./:=@_"

// Typed returns the name of a file as it is typed into a command line, on one line: quoted as by Shell, but only if it has to be. A
// name that begins like a flag gets ./ before it.
func Typed(s string) string {
	switch {
	case strings.HasPrefix(s, "-"):
		return Typed("./" + s)
	case strings.ContainsAny(s, "\n\t"):
		return dollar(s)
	case s == "" || Text(s) != s || strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || r < utf8.RuneSelf && !alphanumeric(r) && !strings.ContainsRune(plainInShell, r)
	}):
		return Shell(s)
	}
	return s
}

// TypedValue writes the value of a flag behind its "=" as Typed writes a word: there, a number below 0 or a name that begins with a hyphen is
// taken for no flag.
func TypedValue(s string) string {
	rest := strings.TrimLeft(s, "-")
	if rest == "" && s != "" {
		return s
	}
	return s[:len(s)-len(rest)] + Typed(rest)
}

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// dollar writes every byte that is not printable ASCII in octal digits.
func dollar(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}

// YAML makes text one double-quoted scalar of YAML, on one line, which is JSON's string as well where the text is UTF-8. It
// returns an error for bytes that are not UTF-8, which YAML has no way to write.
func YAML(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%q is not UTF-8 text, which YAML cannot hold: rename it", Short(s, 200))
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20, 0x7f <= r && r < 0xa0, steers(r), r == 0xfffe, r == 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`, nil
}

// Line makes text one line of a comment or a message, as Text does, with line feeds made visible too.
func Line(s string) string { return strings.ReplaceAll(Text(s), "\n", `\n`) }
