package diag

import "fmt"

// CheckBounded is the check for densities that do not fall towards a bound. It is
// part of a report only where it fails.
const CheckBounded Check = "bounded density"

// Runaway is a parameter that has left for a bound or for infinity because the log
// density does not fall there. A density that rises without bound is most often that
// of a scale that can shrink to 0 around data which the model fits exactly.
type Runaway struct {
	Name  string  // of the parameter
	Value float64 // that it has come to
	Chain int     // that took it there, counted from 0
	Flat  bool    // the log density neither rises nor falls
}

func adviseRunaway(r Runaway) Advice {
	cause := fmt.Sprintf("%s has run to %.2g in chain %d and the log density keeps rising: it is unbounded there, and the draws do not represent a distribution", r.Name, r.Value, r.Chain+1)
	if r.Flat {
		cause = fmt.Sprintf("%s has run to %.2g in chain %d and the log density does not fall: the posterior has no finite integral there, and the draws do not represent a distribution", r.Name, r.Value, r.Chain+1)
	}
	return fail(CheckBounded, cause, AwayFrom(r.Name))
}

// AwayFrom says what to try where the density of a parameter is unbounded.
func AwayFrom(name string) string {
	return fmt.Sprintf("give %s a prior that keeps it away from there, for a scale a log-normal or an inverse gamma; look for data that the model fits without error", name)
}
