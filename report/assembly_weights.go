// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/sim/assembly"
	"github.com/euryale-dev/euryale/viz"
)

// Bounds of the picture of weights.
const (
	mostPairs  = 1e9 // pairs of neurons of a fibre whose synapses are looked at
	mostBlocks = 120 // rows and columns of a picture
	mostFibres = 9   // pictures
)

// Weights draws the mean weights of the synapses between blocks of neurons, for the fibres between areas. Neurons are in the order in which
// their weights grew, those that grew most first, so that an assembly is a corner. Names are fibres such as A>B; none for all.
func Weights(b *assembly.Brain, names []string) (*viz.Figure, error) {
	var known, large []string
	var list []viz.Image
	for _, f := range b.Fibres() {
		name := f[0] + ">" + f[1]
		known = append(known, name)
		if len(names) > 0 && !slices.Contains(names, name) || len(list) == mostFibres {
			continue
		}
		pairs, err := pairsOf(b, f[0], f[1])
		if err != nil {
			return nil, err
		}
		if pairs > mostPairs {
			large = append(large, name)
			continue
		}
		c, err := b.CSR(f[0], f[1])
		if err != nil {
			return nil, err
		}
		if len(c.Targets) > 0 {
			list = append(list, weightImage(c, f[0], f[1]))
		}
	}
	if _, err := chosen(names, known); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		text := "there are no synapses between areas: draw a run whose script has fibres between areas"
		if len(large) > 0 {
			text = fmt.Sprintf("the fibres %s have more than %.0e pairs of neurons, which are too many to draw: draw a run of smaller areas", strings.Join(large, ", "), float64(mostPairs))
		}
		return nil, errors.New(text)
	}
	columns := min(len(list), 3)
	var rows [][]viz.Image
	for at := 0; at < len(list); at += columns {
		row := make([]viz.Image, columns)
		copy(row, list[at:])
		rows = append(rows, row)
	}
	f, err := viz.Images("Mean weights of synapses between blocks of neurons", rows)
	if err == nil {
		f.Note = "Neurons whose weights grew most come first. Grey: blocks without a synapse."
	}
	return f, err
}

// weightImage draws a fibre.
func weightImage(c *assembly.CSR, from, to string) viz.Image {
	sources := len(c.Starts) - 1
	targets := c.Columns
	for _, t := range c.Targets {
		targets = max(targets, int(t)+1)
	}
	out, in := make([]float64, sources), make([]float64, targets)
	each := func(do func(i int, j int32, w float64)) {
		for i := range sources {
			for k := c.Starts[i]; k < c.Starts[i+1]; k++ {
				do(i, c.Targets[k], c.Weights[k])
			}
		}
	}
	each(func(i int, j int32, w float64) { out[i], in[j] = out[i]+w-1, in[j]+w-1 })
	placeOut, blocksOut := blocksOf(out)
	placeIn, blocksIn := blocksOf(in)
	sum, count := make([]float64, blocksOut*blocksIn), make([]float64, blocksOut*blocksIn)
	each(func(i int, j int32, w float64) {
		at := placeIn[j]*blocksOut + placeOut[i]
		sum[at], count[at] = sum[at]+w, count[at]+1
	})
	im := viz.Image{Title: from + " to " + to, XLabel: "neurons of " + from, YLabel: "neurons of " + to, ZLabel: "mean weight"}
	for k := range sum {
		if sum[k] /= count[k]; count[k] == 0 {
			sum[k] = math.NaN()
		}
	}
	im.Z = rowsOf(sum, blocksOut)
	for b := range blocksOut {
		im.X = append(im.X, (float64(b)+0.5)*float64(sources)/float64(blocksOut))
	}
	for b := range blocksIn {
		im.Y = append(im.Y, (float64(b)+0.5)*float64(targets)/float64(blocksIn))
	}
	return im
}

// blocksOf returns the block of each neuron, in the order in which their weights grew, and the number of blocks.
func blocksOf(growth []float64) (block []int, n int) {
	order := make([]int, len(growth))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(growth[b], growth[a]) })
	n = min(len(growth), mostBlocks)
	block = make([]int, len(growth))
	for at, i := range order {
		block[i] = at * n / len(growth)
	}
	return block, n
}

// pairsOf returns the number of pairs of neurons that a fibre may connect.
func pairsOf(b *assembly.Brain, from, to string) (float64, error) {
	pairs := 1.0
	for _, name := range []string{from, to} {
		a, err := b.Area(name)
		if err != nil {
			return 0, err
		}
		n := a.N
		if a.Lazy {
			if n, err = b.Support(name); err != nil {
				return 0, err
			}
		}
		pairs *= float64(n)
	}
	return pairs, nil
}
