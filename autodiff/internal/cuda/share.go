// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// ofArray matches an array in the text of a kernel, and variables that are named after one: those of elements, of rows, and of packs. Variables of
// operations may be called so too.
var ofArray = regexp.MustCompile(`\bbuf\[(\d+)\]|\b(p?a|[wcsyq])(\d+)(_\d+)?\b`)

// share numbers the arrays of every kernel in the order in which its text has them, and drops kernels that are the same as an earlier one then: programs
// do the same with many arrays, and a kernel costs NVIDIA's compiler milliseconds. Each launch has its arrays one after another in the table that is
// returned. Names that stand outside of kernels, as constants of an operation do, are kept.
func share(outside, text string, jobs [][]Launch) (short string, table []int) {
	kept := map[string]bool{}
	for _, name := range ofArray.FindAllString(outside, -1) {
		kept[name] = true
	}
	kernels := strings.Split(text, kernelStart)
	var b strings.Builder
	b.WriteString(kernels[0])
	type found struct {
		name   string // of the kernel that does it
		arrays []int
	}
	first, known := map[string]string{}, map[string]found{}
	for _, k := range kernels[1:] {
		name := kernelName.FindStringSubmatch(k)[1]
		k, arrays := numbered(k, kept)
		anonymous := strings.Replace(k, name, "", 1)
		if first[anonymous] == "" {
			first[anonymous] = name
			b.WriteString(kernelStart + k)
		}
		known[name] = found{first[anonymous], arrays}
	}
	for _, list := range jobs {
		for i := range list {
			if k, ok := known[list[i].Kernel]; ok {
				list[i].Kernel, list[i].table = k.name, len(table)
				table = append(table, k.arrays...)
			}
		}
	}
	return b.String(), table
}

// numbered numbers the arrays of a kernel, which it returns, in the order of the text. Variables of arrays get names that no operation has.
func numbered(kernel string, kept map[string]bool) (text string, arrays []int) {
	at := map[string]int{} // places by numbers of arrays, and of variables of arrays that are nowhere else
	for _, m := range ofArray.FindAllStringSubmatch(kernel, -1) {
		if _, ok := at[m[1]]; m[1] != "" && !ok {
			id, _ := strconv.Atoi(m[1])
			at[m[1]] = len(arrays)
			arrays = append(arrays, id)
		}
	}
	var b strings.Builder
	end := 0
	for _, m := range ofArray.FindAllStringSubmatchIndex(kernel, -1) {
		b.WriteString(kernel[end:m[0]])
		end = m[1]
		part := func(k int) string {
			if m[2*k] < 0 {
				return ""
			}
			return kernel[m[2*k]:m[2*k+1]]
		}
		switch id := part(1) + part(3); {
		case part(1) != "":
			fmt.Fprintf(&b, "buf[%d]", at[id])
		case kept[part(0)], end < len(kernel) && kernel[end] == '(': // a function, as Bessel's y1
			b.WriteString(part(0))
		default:
			if _, ok := at[id]; !ok {
				at[id] = len(at)
			}
			fmt.Fprintf(&b, "%s_%d%s", part(2), at[id], part(4))
		}
	}
	return b.String() + kernel[end:], arrays
}
