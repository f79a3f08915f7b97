// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
)

// A notebook of two cells becomes a Go program. The value in which the last cell ends is displayed by a
// function that the program contains; the example prints the statements that come from the cells.
func Example() {
	dir, err := os.MkdirTemp("", "convert")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	notebook := filepath.Join(dir, "roots.md")
	text := "# Roots\n\n```go\nimport \"math\"\nx := 2.0\n```\n\nThe root:\n\n```go\nmath.Sqrt(x)\n```\n"
	if err := os.WriteFile(notebook, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := run("program", dir, "../../..", []string{notebook}); err != nil {
		log.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join(dir, "roots", "main.go"))
	if err != nil {
		log.Fatal(err)
	}
	statements, _, _ := strings.Cut(string(program), "// display prints")
	fmt.Print(statements)
	// Output:
	// // The notebook roots.md as a program.
	// package main
	//
	// import (
	// 	"fmt"
	// 	"log"
	// 	"math"
	// )
	//
	// func main() {
	//
	// 	// Cell 1.
	// 	x := 2.0
	//
	// 	// Cell 2.
	// 	display(math.Sqrt(x))
	// }
}
