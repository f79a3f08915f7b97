// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cells_test

import (
	"fmt"
	"log"

	"github.com/euryale-dev/euryale/notebook/cells"
)

// A notebook written in Markdown is read, the output of its only code cell is added, and the result is
// written and read back in Jupyter's format.
func Example() {
	const text = "# Roots\n" +
		"\n" +
		"The square root of two:\n" +
		"\n" +
		"```go\n" +
		"import \"math\"\n" +
		"math.Sqrt(2)\n" +
		"```\n"
	book, err := cells.Parse("roots.md", []byte(text))
	if err != nil {
		log.Fatal(err)
	}
	imports, err := book.Imports()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("The notebook imports", imports)
	for i := range book.Cells {
		if c := &book.Cells[i]; c.Kind == cells.Code {
			c.Count, c.Outputs = 1, []cells.Output{cells.Stream("stdout", "1.414\n")}
		}
	}

	jupyter, err := book.JSON()
	if err != nil {
		log.Fatal(err)
	}
	again, err := cells.Read("roots.ipynb", jupyter)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range again.Cells {
		fmt.Printf("%s: %q\n", c.Kind, c.Source)
	}
	fmt.Println(again.Cells[1].Outputs[0]["text"])
	// Output:
	// The notebook imports [math]
	// markdown: "# Roots\n\nThe square root of two:"
	// code: "import \"math\"\nmath.Sqrt(2)"
	// 1.414
}
