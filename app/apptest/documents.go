// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package apptest

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app"
)

// Undocumented returns the keys of a command's document that no block of docs/CLI.md about the command has.
func Undocumented(args []string, stdout string) []string {
	var doc map[string]json.RawMessage
	if !slices.Contains(args, "--json") || json.Unmarshal([]byte(stdout), &doc) != nil {
		return nil
	}
	blocks, err := Documented()
	if err != nil {
		return []string{err.Error()}
	}
	about := blocks[args[0]]
	if len(args) > 1 {
		about = append(slices.Clone(about), blocks[args[0]+" "+args[1]]...)
	}
	var missing []string
	for i, keys := range about {
		var lacks []string
		for k := range doc {
			if !keys[k] && k != "device" { // said once, of all documents
				lacks = append(lacks, k)
			}
		}
		if i == 0 || len(lacks) < len(missing) {
			missing = lacks
		}
	}
	slices.Sort(missing)
	return missing
}

// Documented returns the keys of the documents of each command, from docs/CLI.md.
var Documented = sync.OnceValues(func() (map[string][]map[string]bool, error) {
	text, err := commandsPage, errCommandsPage
	if err != nil {
		return nil, err
	}
	list := map[string][]map[string]bool{}
	for _, m := range block.FindAllStringSubmatch(string(text), -1) {
		keys := TopKeys(m[2])
		label, _, _ := strings.Cut(m[1], "\n")
		for _, name := range regexp.MustCompile("`([a-z][a-z0-9 ]*)`").FindAllStringSubmatch(label, -1) {
			list[name[1]] = append(list[name[1]], keys)
		}
	}
	return list, nil
})

// TopKeys returns the keys of the outermost object of a document as docs/CLI.md writes it, which is not quite JSON.
func TopKeys(text string) map[string]bool {
	keys, depth := map[string]bool{}, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end := i + 1 + strings.IndexByte(text[i+1:], '"')
			// A value in quotes follows a colon.
			if depth == 1 && !strings.HasSuffix(strings.TrimRight(text[:i], " \n"), ":") {
				keys[text[i+1:end]] = true
			}
			i = end
		}
	}
	return keys
}

// commandsPage is docs/CLI.md, read before any test leaves this folder.
var commandsPage, errCommandsPage = os.ReadFile(Root("docs", "CLI.md"))

// block is a document of docs/CLI.md: the names of commands in the paragraph before it, and its text.
var block = regexp.MustCompile("(?s)([^\n]+(?:\n[^\n]+)*)\n\n```\n(\\{.*?)\n```")

// Commands returns the command, with those that the parser adds, and all below it.
func Commands() (root *cobra.Command, all []*cobra.Command) {
	root = app.Command()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		all = append(all, c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return root, all
}
