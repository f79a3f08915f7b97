// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"math"
	"runtime"
	"strconv"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/kernels"
	"gonum.org/v1/gonum/stat/distuv"
)

type philoxCase struct {
	ID, Op  string
	Counter [4]uint32
	Key     [2]uint32
	Output  [4]uint32
	Attrs   struct {
		Seed         string
		OffsetBlocks string `json:"offset_blocks"`
	}
	U32     []uint32
	Uniform []float64
	Normal  []float64
}

func philoxCases(t *testing.T, op string) (cases []philoxCase) {
	t.Helper()
	var file struct{ Cases []philoxCase }
	golden.JSON(t, &file, "cuda", "rng_philox.json")
	for _, c := range file.Cases {
		if c.Op == op {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		t.Skipf("the reference has no case of %s", op)
	}
	return cases
}

func TestPhiloxBlocks(t *testing.T) {
	for _, c := range philoxCases(t, "philox4x32-10") {
		if got := Philox(c.Counter, c.Key); got != c.Output {
			t.Errorf("%s: got %v, want %v", c.ID, got, c.Output)
		}
	}
}

// The first known answer of the Random123 distribution, so that a machine
// without the reference folder still checks the generator.
func TestPhiloxKnownAnswer(t *testing.T) {
	want := [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}
	if got := Philox([4]uint32{}, [2]uint32{}); got != want {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestStreamFollowsTheKernels(t *testing.T) {
	worst := 0.0
	for _, c := range philoxCases(t, "philox_stream") {
		seed, _ := strconv.ParseUint(c.Attrs.Seed, 10, 64)
		block, _ := strconv.ParseUint(c.Attrs.OffsetBlocks, 10, 64)
		s := NewStream(seed, 0, 0)
		s.Seek(4 * block)
		u := s
		for i, want := range c.U32 {
			if got := s.Uint32(); got != want {
				t.Fatalf("%s: word %d is %d, want %d", c.ID, i, got, want)
			}
			if got := float64(u.Float32()); got != c.Uniform[i] {
				t.Errorf("%s: uniform %d is %v, want %v", c.ID, i, got, c.Uniform[i])
			}
		}
		for i := 0; i+1 < len(c.Normal) && i+1 < len(c.U32); i += 2 {
			a, b := BoxMuller(c.U32[i], c.U32[i+1])
			worst = max(worst, math.Abs(a-c.Normal[i]), math.Abs(b-c.Normal[i+1]))
		}
	}
	if worst > 1e-15 {
		t.Errorf("normals deviate by %g", worst)
	}
	t.Logf("largest deviation of a normal: %g", worst)
}

func TestStreamSeeksAndCopies(t *testing.T) {
	s := NewStream(7, 1, 2)
	words := make([]uint32, 41)
	for i := range words {
		words[i] = s.Uint32()
	}
	for _, at := range []int{40, 0, 17, 16, 3, 39} {
		s.Seek(uint64(at))
		if got := s.Uint32(); got != words[at] || s.Position() != uint64(at)+1 {
			t.Errorf("word %d is %d at position %d, want %d", at, got, s.Position(), words[at])
		}
	}
	s.Seek(5)
	back := s
	if x, y := s.Uint64(), back.Uint64(); x != y || uint32(x) != words[5] || uint32(x>>32) != words[6] {
		t.Errorf("Uint64 gave %x and its copy %x, want words %x %x", x, y, words[5], words[6])
	}
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for _, s := range []Stream{NewStream(1, 0, 0), NewStream(2, 0, 0), NewStream(1, 1, 0), NewStream(1, 0, 1), NewStream(1<<32, 0, 0)} {
		id := strconv.FormatUint(s.seed, 10) + "/" + strconv.Itoa(int(s.purpose)) + "/" + strconv.Itoa(int(s.id))
		x := s.Uint64()
		if other, ok := seen[x]; ok {
			t.Errorf("%s starts like %s", id, other)
		}
		seen[x] = id
	}
}

func TestStreamState(t *testing.T) {
	s := NewStream(math.MaxUint64, 3, 4)
	s.Seek(1<<40 + 3)
	s.Normal()
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var r Stream
	if err := r.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if x, y := s.Uint64(), r.Uint64(); x != y {
			t.Fatalf("restored stream gives %x, want %x", y, x)
		}
	}
	for _, bad := range [][]byte{nil, b[:24], append([]byte{9}, b[1:]...)} {
		if r.UnmarshalBinary(bad) == nil {
			t.Errorf("accepted %d bytes, version %v", len(bad), bad)
		}
	}
}

// The logarithm of the quantile is math.Log of amd64, to the bit, and as accurate elsewhere.
func TestNaturalLog(t *testing.T) {
	ulps := int64(2)
	if runtime.GOARCH == "amd64" {
		ulps = 0
	}
	s := NewStream(7, 0, 0)
	for range 20000 {
		x := math.Ldexp(s.Float64()+0x1p-53, -s.IntN(64))
		got, want := naturalLog(x), math.Log(x)
		if d := int64(math.Float64bits(got) - math.Float64bits(want)); d < -ulps || d > ulps {
			t.Fatalf("the logarithm of %v is %v, want %v", x, got, want)
		}
	}
}

// The standard library's erfc is independent of the quantile.
func TestNormalQuantile(t *testing.T) {
	worst := 0.0
	for p := 0.5; p > 1e-19; p *= 0.97 {
		worst = max(worst, math.Abs(math.Erfc(upperQuantile(p)/math.Sqrt2)/(2*p)-1))
	}
	if worst > 1e-13 { // erfc multiplies the rounding of z by z^2, up to 82
		t.Errorf("probability deviates by %g", worst)
	}
	t.Logf("largest relative deviation of the probability: %g", worst)
}

// NormalTo gives the bits of Normal at every level, from every position, also past the end of the low
// half of the counter.
func TestNormalToIsNormal(t *testing.T) {
	for _, l := range kernels.Levels() {
		for _, at := range []uint64{0, 1, 2, 3, 4, 6, 10, 1<<34 - 24, 1<<34 - 2} {
			for _, n := range []int{0, 1, 2, 15, 16, 17, 31, 64, 257, 3000} {
				one := NewStream(1<<40+3, 5, uint32(n))
				one.Seek(at)
				many := one
				for i, got := range many.normalTo(l, make([]float64, n)) {
					if want := one.Normal(); got != want {
						t.Fatalf("%v: number %d of %d from word %d is %v, want %v", l, i, n, at, got, want)
					}
				}
				if many.Uint64() != one.Uint64() {
					t.Errorf("%v: %d numbers from word %d end at another position", l, n, at)
				}
			}
		}
	}
}

// Every level gives the bits of plain Go for words at the joints of the quantile and in its far tail.
func TestNormalQuantilesAtTheJoints(t *testing.T) {
	words := []uint64{0, 1, 1<<28 - 1, 1 << 28, 1<<28 + 1, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	joint := uint64(0.075 * math.Exp2(64))
	for k := uint64(0); k < 3000; k++ {
		words = append(words, joint-1500+k, (joint-1500<<11+k<<11)|1<<63, k*0x9e3779b97f4a7c15, (k*0x9e3779b97f4a7c15)>>(k%36))
	}
	for k := range 63 { // the joint of the logarithm, at every power of 2
		for d := range uint64(64) {
			words = append(words, uint64(math.Sqrt2*float64(uint64(1)<<k))+d-32)
		}
	}
	dst := make([]float64, len(words))
	for _, l := range kernels.Levels() {
		normals(l, dst, words)
		for i, w := range words {
			if want := normalOf(w); math.Float64bits(dst[i]) != math.Float64bits(want) {
				t.Fatalf("%v: word %x gives %v, want %v", l, w, dst[i], want)
			}
		}
	}
}

// Moments and tails of 1e6 numbers, each within 5 standard errors.
func TestStreamMoments(t *testing.T) {
	const n = 1_000_000
	s := NewStream(20, 0, 0)
	check := func(name string, draw func() float64, mean, variance, fourth float64) {
		t.Helper()
		var m, v float64
		for range n {
			x := draw() - mean
			m += x
			v += x * x
		}
		if z := m / n / math.Sqrt(variance/n); math.Abs(z) > 5 {
			t.Errorf("%s: mean is %.1f standard errors off", name, z)
		}
		if z := (v/n - variance) / math.Sqrt((fourth-variance*variance)/n); math.Abs(z) > 5 {
			t.Errorf("%s: variance is %.1f standard errors off", name, z)
		}
	}
	check("Float64", s.Float64, 0.5, 1./12, 1./80)
	check("Normal", s.Normal, 0, 1, 3)
	check("Exp", s.Exp, 1, 1, 9)
	check("IntN", func() float64 { return float64(s.IntN(3)) }, 1, 2./3, 2./3)
	check("rand/v2", s.Rand().Float64, 0.5, 1./12, 1./80)
	check("distuv", distuv.Normal{Sigma: 1, Src: &s}.Rand, 0, 1, 3)
}

func TestPermIsUniform(t *testing.T) {
	count := map[[3]int]int{}
	s := NewStream(1, 0, 0)
	for range 60000 {
		count[[3]int(s.Perm(3))]++
	}
	for p, n := range count {
		if len(count) != 6 || math.Abs(float64(n)-10000) > 5*math.Sqrt(10000*5./6) {
			t.Errorf("%v came %d times of 60000 among %d permutations", p, n, len(count))
		}
	}
}

func BenchmarkStream(b *testing.B) {
	s := NewStream(1, 0, 0)
	b.Run("Uint64", func(b *testing.B) {
		for b.Loop() {
			s.Uint64()
		}
	})
	b.Run("Normal", func(b *testing.B) {
		for b.Loop() {
			s.Normal()
		}
	})
	for _, l := range kernels.Levels() {
		b.Run("NormalTo/"+l.String(), func(b *testing.B) { // 256 numbers
			dst := make([]float64, 256)
			for b.Loop() {
				s.normalTo(l, dst)
			}
		})
	}
}
