// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command words lists what people read in the code, so that it can be read in one sitting.
//
// Usage: go run ./internal/words comments|fragments|errors [FOLDER]
//
// The comments are those of exported names; fragments are comments that mean nothing without the name
// beside them. Each error is scored by whether it says what is wrong (W), the place (P), the numbers
// (N) and a remedy (R); errors that only name the place of another one are left out.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "words: name what to list: comments, fragments or errors")
		os.Exit(64)
	}
	below := "."
	if len(os.Args) > 2 {
		below = os.Args[2]
	}
	list, err := sources(".", below)
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
	for _, s := range list {
		switch os.Args[1] {
		case "errors":
			for _, e := range s.errors() {
				fmt.Printf("%s %s %s\n", e.line, e.score, e.text)
			}
		case "comments", "fragments":
			if !s.public() {
				continue
			}
			for _, c := range s.comments() {
				why := c.fragment()
				if why != "" {
					why = " [" + why + "]"
				}
				if os.Args[1] == "comments" || why != "" {
					fmt.Printf("%s:%d %s %s: %s%s\n", c.file, c.line, c.kind, c.name, c.text, why)
				}
			}
		}
	}
}
