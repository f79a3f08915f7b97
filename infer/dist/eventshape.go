package dist

// EventShape returns the shape of one value of a law of vectors or matrices, as
// far as a parameter tells it: that of a mean, of concentrations, of a scale
// matrix. It is empty for laws of numbers and for those that come in any size.
func (d Dist) EventShape() []int {
	for i, n := range d.paramEvent {
		if s := d.Params[i].Shape(); n > 0 && n == d.Event && len(s) >= n {
			return s[len(s)-n:]
		}
	}
	return []int{}
}
