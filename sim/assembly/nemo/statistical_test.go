// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// Each draw of connections is one sample: chance within a draw (flips, stimuli) is
// small beside it. Tests compare the mean over our draws with the reference's by the
// spread between ours, within five standard errors unless they say otherwise: with
// six draws or more a false alarm is rarer than 1 in 200 per number (t of 5 degrees
// of freedom), and with these fixed seeds there is none.

type statistic struct {
	Kind                         string
	N, K                         int
	P, Density, Beta             float64
	Classes, Train, Test, Rounds int
	R, Q                         float64
	Accuracy                     []float64
	Overlaps                     [][]float64 `json:"mean_overlap_over_k"`
	SamplesPerClass              int         `json:"samples_per_class"`
	TrainingPlasticity           float64     `json:"training_plasticity"`
	Flips, Outcome0, Undecided   int
	MeanMaxOverlap               float64 `json:"mean_max_overlap"`
	Presentations, Trials        int
	NSymbol                      int `json:"n_symbol"`
	NState                       int `json:"n_state"`
	NArc                         int `json:"n_arc"`
	NRandom                      int `json:"n_random"`
	Lexicon                      []string
	Transitions                  [][4]int       `json:"transitions_state_rand_newstate_symbol"`
	ValidSentences               int            `json:"valid_sentences"`
	WordCounts                   map[string]int `json:"word_counts_by_position"`
	Curve                        []struct {
		R      float64
		Mean   float64 `json:"accuracy_mean"`
		Trials int
	}
}

func statistics(t *testing.T, file, kind string) (list []statistic) {
	var all []statistic
	golden.JSON(t, &all, "assemblies", file)
	for _, s := range all {
		if s.Kind == kind {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		t.Skipf("no case %s", kind)
	}
	return list
}

// sample is the mean and the standard deviation between draws.
type sample struct{ n, sum, squares float64 }

func (s *sample) add(v float64) { s.n, s.sum, s.squares = s.n+1, s.sum+v, s.squares+v*v }
func (s *sample) mean() float64 { return s.sum / s.n }
func (s *sample) sd() float64 {
	return math.Sqrt(max(0, s.squares-s.sum*s.sum/s.n) / (s.n - 1))
}

// agrees compares with the mean of draws draws of the reference.
func (s *sample) agrees(t *testing.T, what string, want, draws, floor float64) {
	t.Helper()
	d, tol := math.Abs(s.mean()-want), floor+5*s.sd()*math.Sqrt(1/s.n+1/draws)
	t.Logf("%s: %.4f, sd between draws %.4f; reference %.4f", what, s.mean(), s.sd(), want)
	if d > tol {
		t.Errorf("%s: %.4f, want %.4f within %.4f", what, s.mean(), want, tol)
	}
}

// drawn is a classifier of random classes that it has learnt.
type drawn struct {
	*Classifier
	classes []Class
	src     tensor.Stream
}

// learn makes classes of k random core neurons each, and a classifier that is
// normalised at the start and after each class.
func learn(t *testing.T, s statistic, train int, seed uint64, noLoops bool) *drawn {
	t.Helper()
	in, err := Wiring{P: s.P, Seed: seed}.Matrix("in", s.N, s.N)
	must(t, err)
	a := area(t, s.N, s.K, s.Beta)
	a.Recurrent, err = Wiring{P: s.P, Seed: seed, NoLoops: noLoops}.Matrix("own", s.N, s.N)
	must(t, err)
	c, err := NewClassifier(a, in)
	must(t, err)
	c.Normalize()
	d := &drawn{Classifier: c, src: tensor.NewStream(seed, 1, 0)}
	for i := range s.Classes {
		class := Class{Neurons: s.N, R: s.R, Q: s.Q}
		for _, j := range d.src.Perm(s.N)[:s.K] {
			class.Core = append(class.Core, int32(j))
		}
		d.classes = append(d.classes, class)
		stimuli := make([][]int32, train)
		for i := range stimuli {
			stimuli[i] = class.Sample(nil, &d.src)
		}
		got, err := c.Learn(stimuli)
		must(t, err)
		if got != i {
			t.Fatalf("class %d is learnt as %d", i, got)
		}
		c.Normalize()
	}
	return d
}

// score returns the part of new stimuli that are told right, and the mean overlaps
// with the assembly of their own class and with the others.
func (d *drawn) score(t *testing.T, perClass int) (accuracy, own, other float64) {
	t.Helper()
	n := float64(perClass * len(d.classes))
	for i, c := range d.classes {
		for range perClass {
			class, overlaps, err := d.Classify(c.Sample(nil, &d.src))
			must(t, err)
			if class == i {
				accuracy += 1 / n
			}
			for j, o := range overlaps {
				if i == j {
					own += o / n
				} else {
					other += o / n / float64(len(overlaps)-1)
				}
			}
		}
	}
	return accuracy, own, other
}

func TestClasses(t *testing.T) {
	all := statistics(t, "nemo_goldens.json", "classification_statistical")
	var own, other, wantOwn, wantOther sample
	for i, s := range all {
		for j := range 3 {
			acc, a, b := learn(t, s, s.Train, uint64(100*i+j), false).score(t, s.Test/4)
			if want := min(0.97, slices.Min(s.Accuracy)-0.03); acc < want {
				t.Errorf("draw %d, %d: accuracy %.3f, want %.3f", i, j, acc, want)
			}
			own.add(a)
			other.add(b)
		}
		for a, row := range s.Overlaps {
			for b, o := range row {
				if a == b {
					wantOwn.add(o)
				} else {
					wantOther.add(o)
				}
			}
		}
	}
	t.Logf("own class %.3f, reference %.3f; others %.3f, reference %.3f", own.mean(), wantOwn.mean(), other.mean(), wantOther.mean())
	if d := own.mean() - wantOwn.mean(); math.Abs(d) > 0.1 {
		t.Errorf("overlap with the own class %.3f, want %.3f within 0.1", own.mean(), wantOwn.mean())
	}
	if d := other.mean() - wantOther.mean(); math.Abs(d) > 0.1 {
		t.Errorf("overlap with other classes %.3f, want %.3f within 0.1", other.mean(), wantOther.mean())
	}
}

func TestAccuracyAgainstCore(t *testing.T) {
	for _, s := range statistics(t, "nemo_statistical.json", "stimulus_class_accuracy") {
		for i, point := range s.Curve {
			var acc sample
			for j := range 6 {
				s.R = point.R
				a, _, _ := learn(t, s, s.Rounds, uint64(1000*i+j), true).score(t, s.SamplesPerClass/3)
				acc.add(a)
			}
			acc.agrees(t, "accuracy at r="+format(point.R), point.Mean, float64(point.Trials), 0.02)
		}
	}
}

func TestCoinFlips(t *testing.T) {
	for _, s := range statistics(t, "nemo_statistical.json", "coin_flip") {
		var first, overlap, undecided sample
		for seed := range uint64(8) {
			c, err := NewCoin(CoinSettings{N: s.N, K: s.K, P: s.Density, Beta: s.TrainingPlasticity, Steps: s.Rounds, Seed: seed})
			must(t, err)
			zero, sum, none := 0.0, 0.0, 0.0
			for range s.Flips / 2 {
				w, err := c.Flip()
				must(t, err)
				o, n := c.Outcome(w)
				zero += 1 - float64(o)
				sum += float64(n) / float64(s.K)
				if 2*n <= s.K {
					none++
				}
			}
			flips := float64(s.Flips / 2)
			first.add(zero / flips)
			overlap.add(sum / flips)
			undecided.add(none / flips)
		}
		want := float64(s.Outcome0) / float64(s.Flips)
		first.agrees(t, "first outcome", want, 1, 0)
		first.agrees(t, "first outcome against one half", 0.5, math.Inf(1), 0)
		overlap.agrees(t, "overlap", s.MeanMaxOverlap, 1, 0.005)
		undecided.agrees(t, "undecided", float64(s.Undecided)/float64(s.Flips), 1, 0.01)
	}
}

// The reference's one automaton had not learnt all of its arcs after so many
// presentations. An independent program of the same distribution gave 212 valid sentences of 300
// with the connections of seed 1, the reference's number, and with those of seeds 2 to 8
// 282, 269, 297, 253, 289, 190 and 295. So ours need only not be worse, by a one-sided
// binomial test with a false alarm in 10000.
func TestAutomatonSentences(t *testing.T) {
	tier.SlowOnly(t)
	for _, s := range statistics(t, "nemo_statistical.json", "pfa") {
		valid, n, draws := 0, 0, 3
		counts := map[string]float64{}
		for seed := range uint64(draws) {
			m := s.automaton(t, seed)
			for range s.Trials / draws {
				list, err := m.Generate(0, s.words())
				must(t, err)
				if s.valid(list) {
					valid++
				}
				n++
				for i, w := range list {
					counts[format(float64(i))+":"+s.Lexicon[w]]++
				}
			}
		}
		p := float64(s.ValidSentences) / float64(s.Trials)
		t.Logf("%d of %d sentences are valid; reference %d of %d", valid, n, s.ValidSentences, s.Trials)
		if got := float64(valid) / float64(n); got < p-3.72*math.Sqrt(2*p*(1-p)/float64(n)) {
			t.Errorf("%d of %d sentences are valid, want %.3f", valid, n, p)
		}
		s.compareCounts(t, counts, n)
	}
}

func (s statistic) automaton(t *testing.T, seed uint64) *Automaton {
	t.Helper()
	var arcs []Arc
	for _, x := range s.Transitions {
		arcs = append(arcs, Arc{x[0], x[1], x[2], x[3]})
	}
	m, err := LearnAutomaton(arcs, AutomatonSettings{K: s.K, P: s.Density, Beta: s.Beta, Presentations: s.Presentations,
		SymbolNeurons: s.NSymbol, StateNeurons: s.NState, ArcNeurons: s.NArc, CoinNeurons: s.NRandom, Seed: seed})
	must(t, err)
	return m
}

// words is how long the reference's sentences are.
func (s statistic) words() (n int) {
	for key := range s.WordCounts {
		at, _, _ := strings.Cut(key, ":")
		n = max(n, int(at[0]-'0')+1)
	}
	return n
}

// valid says whether arcs from state 0 utter a sentence.
func (s statistic) valid(sentence []int) bool {
	states := map[int]bool{0: true}
	for _, w := range sentence {
		next := map[int]bool{}
		for _, x := range s.Transitions {
			if states[x[0]] && x[3] == w {
				next[x[2]] = true
			}
		}
		states = next
	}
	return len(states) > 0
}

// compareCounts tests words that the reference utters often: two coins of bias up to
// 0.15, one for each sample, and the reference's invalid sentences part the frequencies
// at most, beyond four standard errors (1 in 16000 per word).
func (s statistic) compareCounts(t *testing.T, counts map[string]float64, n int) {
	invalid := 1 - float64(s.ValidSentences)/float64(s.Trials)
	for key, c := range s.WordCounts {
		p, got := float64(c)/float64(s.Trials), counts[key]/float64(n)
		tol := 0.3 + invalid/2 + 4*math.Sqrt(p*(1-p)*(1/float64(s.Trials)+1/float64(n)))
		if p < 0.1 {
			tol = invalid + 0.05
		}
		if math.Abs(got-p) > tol {
			t.Errorf("%s: frequency %.3f, want %.3f within %.3f", key, got, p, tol)
		}
	}
}

func format(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
