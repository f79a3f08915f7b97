package correlate

import "fmt"

// Regroup computes g2 of the bins of maps from the correlations of single pixels that PerPixel gave, perhaps with other
// maps: next returns, for one delay after another, images of the products and of the means of earlier and later frames. Rows
// of g2 and err are delays, columns the dynamic bins that have pixels. err is the scatter of the pixels of a bin, divided by n and
// not by n-1, over the square root of their number n, as viewers compute it.
func Regroup(maps Maps, delays int, next func(delay int) (products, earlier, later []float64, err error), s Settings) (g2, err [][]float64, fail error) {
	if fail := maps.check(Movie{Height: maps.Height, Width: maps.Width}); fail != nil {
		return nil, nil, fail
	}
	part := maps.parts(maps.Height * maps.Width)[0]
	prog, fail := compileBinning(part, 1, 0, s.defaults().Backend)
	if fail != nil {
		return nil, nil, fail
	}
	b := &binning{prog.NewState()}
	for d := range delays {
		var images [3][]float64
		if images[0], images[1], images[2], fail = next(d); fail != nil {
			return nil, nil, fail
		}
		for i, image := range images {
			if len(image) != maps.Height*maps.Width {
				return nil, nil, fmt.Errorf("correlate: delay %d has an image of %d pixels, the maps %d x %d: use a q map of this detector", d, len(image), maps.Height, maps.Width)
			}
			in := b.state.Input(i)
			for j, p := range part.pixels {
				in[j] = image[p]
			}
		}
		g, e, fail := b.run()
		if fail != nil {
			return nil, nil, fail
		}
		g2, err = append(g2, append([]float64(nil), g...)), append(err, append([]float64(nil), e...))
	}
	return g2, err, nil
}
