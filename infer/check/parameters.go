package check

import (
	"fmt"
	"math"
)

// Flags about parameters.
const (
	KindBound   = "at a bound"
	KindPrior   = "prior against data"
	KindUnknown = "not determined"
)

// test asks whether the data pull beyond the bound by more than chance.
func (b Bound) test() test {
	return test{kind: KindBound, p: min(1, normalTail(b.Pull)), effect: b.Pull, always: true, say: func() Flag {
		return Flag{Where: b.Name, Text: fmt.Sprintf("%s = %.4g lies on its bound, and the data would take it %.2g standard deviations beyond", b.Name, b.Value, b.Pull),
			Remedy: "widen the bound if it is not physical; if it is, another term of the model is wrong"}
	}}
}

// test asks whether the prior expected the value. A prior that was surprised but
// moved the estimate by less than a fifth of its standard deviation does no harm.
func (p Prior) test() test {
	return test{kind: KindPrior, p: p.P, effect: math.Abs(p.Shift), harmless: math.Abs(p.Shift) < 0.2, say: func() Flag {
		f := Flag{Where: p.Name, Text: fmt.Sprintf("%s = %.4g, which its prior %s did not expect (tail probability %.1g)", p.Name, p.Value, p.Law, p.P),
			Remedy: "check the units of the prior and of the data; widen the prior if it was a guess"}
		if math.Abs(p.Shift) >= 0.2 {
			f.Text += fmt.Sprintf("; the prior moves the result by %.2g standard deviations", math.Abs(p.Shift))
		}
		return f
	}}
}
