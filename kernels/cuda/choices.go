// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Choice is a number that decides how kernels are made, and whose best value only a measurement can tell: programs give the same results with every value, some of them with
// other last bits. What a card does best is measured by scripts/gpu.sh experiment, and euryale bench gpu --learn puts it into the table of cards.
type Choice struct {
	Name    string   // an argument of Device.Choice
	Default int      // value of cards of which nothing was learned
	Values  []int    // values worth a measurement, the default first
	About   string   // a sentence about what the number is
	Rows    []string // operations of euryale bench gpu whose time it may change
}

// Choices lists the numbers that may be chosen.
func Choices() []Choice { return slices.Clone(choices) }

var choices = []Choice{
	{"tiles", 1, []int{1, 0}, "whether loops take transposed arrays from tiles in shared memory (1) or where they stand (0)", []string{"transpose (4096,4096)"}},
	{"single_pass", 1, []int{1, 0}, "whether few long lines are summed in a single pass, in which blocks wait for the sums of the tiles before theirs (1), or in three kernels (0)", []string{"cumulative sum 10M"}},
	{"short_places", 1, []int{1, 0}, "whether threads compute places in arrays of fewer than 2^30 elements with 32 bits (1) or with 64 (0)", []string{"max pool 2x2 (32,64,128,128)", "batch norm (32,64,32,32)", "vector add 10M"}},
	{"elements", 4, []int{4, 1, 2, 8}, "elements of a thread in loops, where there are enough", []string{"vector add 10M", "relu 1M", "max pool 2x2 (32,64,128,128)"}},
	{"sum_blocks", 512, []int{512, 264, 528, 1056}, "the most blocks that share the sum of an array", []string{"sum 10M"}},
	{"warp_row", 2048, []int{2048, 512, 1024, 8192}, "elements of the longest row that a warp sums; a block sums longer ones", []string{"batch norm (32,64,32,32)"}},
	{"kept", 192, []int{192, 64, 384}, "bytes of rows that a thread keeps in registers between loops that go over the same rows, of all arrays together", []string{"softmax (4096,1024)"}},
	{"product_tile", 0, []int{0, 32, 64, 128}, "rows and columns of the part of a product of matrices that a block makes, with our own kernels; 0 for a size that depends on the product", []string{"matmul 256", "matmul 512", "matmul 1024", "matmul 2048", "conv 3x3 (32,64,128,128)->128"}},
	{"fft_radix", 8, []int{8, 4, 16}, "largest radix of Fourier transforms of our own: each stage goes through shared memory once", []string{"fft (1024,1024)", "fft 2d (1024,1024)", "fft 2d (96,512,512)"}},
	{"library_product", 1 << 21, []int{1 << 21, 1 << 14, 1 << 30}, "multiplications from which on cuBLAS makes a product of matrices, where it is found", []string{"matmul 128", "matmul 256", "matmul 512", "matmul 1024"}},
	{"library_convolution", 1 << 21, []int{1 << 21, 1 << 14, 1 << 30}, "multiplications from which on cuDNN makes a convolution of images, where it is found", []string{"conv 3x3 (1,32,64,64)->64", "conv 3x3 (32,64,128,128)->128"}},
	{"library_transform", 1 << 15, []int{1 << 15, 1 << 8, 1 << 30}, "numbers from which on cuFFT makes a Fourier transform, where it is found", []string{"fft (1024,1024)", "fft 2d (1024,1024)"}},
}

// learned is the table of what cards do best, by the names that the driver gives them.
//
//go:embed learned.json
var learnedFile []byte

// Learned is what was measured of a card.
type Learned struct {
	Card   string         `json:"card"`   // the name that the driver gives it
	Driver int            `json:"driver"` // 1000*major + 10*minor
	Date   string         `json:"date"`   // the day of the measurement, as 2006-01-02
	Values map[string]int `json:"values"` // values that differ from the defaults, by the names of their choices
}

var learned = func() (list []Learned) {
	if err := json.Unmarshal(learnedFile, &list); err != nil {
		panic("cuda: learned.json: " + err.Error())
	}
	return list
}()

// Choose sets values of choices for kernels that are made from now on, in place of what is known of the card; an empty map resets all. It is meant for
// measurements, and returns an error that is ErrArgument for a name or a value that Choices does not list.
func (d *Device) Choose(values map[string]int) error {
	if err := checkChoices(values); err != nil {
		return err
	}
	values = maps.Clone(values)
	d.chosen.Store(&values)
	return nil
}

// Choice returns the value of a choice: what was set, what was learned of a card of this name, or the default. It panics if there is no such choice.
func (d *Device) Choice(name string) int {
	k := slices.IndexFunc(choices, func(c Choice) bool { return c.Name == name })
	if k < 0 {
		panic("cuda: there is no choice " + name)
	}
	if d == nil {
		return choices[k].Default
	}
	if set := d.chosen.Load(); set != nil {
		if v, ok := (*set)[name]; ok {
			return v
		}
	}
	for _, l := range learned {
		if v, ok := l.Values[name]; ok && l.Card == d.info.Name {
			return v
		}
	}
	return choices[k].Default
}

// checkChoices returns an error if a setting is none of the values of a choice.
func checkChoices(set map[string]int) error {
	var names []string
	for _, c := range choices {
		names = append(names, c.Name)
	}
	for name, v := range set {
		k := slices.Index(names, name)
		if k < 0 {
			return fmt.Errorf("%w: there is no choice %q: the choices are %s", ErrArgument, name, strings.Join(names, ", "))
		}
		if !slices.Contains(choices[k].Values, v) {
			return fmt.Errorf("%w: the choice %s cannot be %d: use one of %v", ErrArgument, name, v, choices[k].Values)
		}
	}
	return nil
}
