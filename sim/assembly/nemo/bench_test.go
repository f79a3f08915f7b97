// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import "testing"

// table is a machine that counts symbols modulo 3.
func table() (list []Transition) {
	for from := range 3 {
		for symbol := range 10 {
			list = append(list, Transition{from, symbol, (from + symbol) % 3})
		}
	}
	return list
}

func BenchmarkMachine(b *testing.B) {
	m, err := LearnMachine(table(), MachineSettings{ArcNeurons: 5000, K: 70, Seed: 1})
	must(b, err)
	b.Run("read/n=5000/k=70", func(b *testing.B) {
		must(b, m.Start(0))
		b.ReportAllocs()
		for b.Loop() {
			_, err := m.Read(1)
			must(b, err)
		}
	})
	b.Run("teach/n=5000/k=70", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must(b, m.Teach(Transition{0, 1, 1}))
		}
	})
}

func BenchmarkSequence(b *testing.B) {
	for name, scaffold := range map[string]bool{"simple": false, "scaffold": true} {
		b.Run(name+"/recall/n=5000/k=70", func(b *testing.B) {
			s, err := RandomSequence(SequenceSettings{N: 5000, K: 70, P: 0.2, Scaffold: scaffold, Seed: 1})
			must(b, err)
			items := make([][]int32, 25)
			for i := range items {
				items[i] = Block(i, 70)
			}
			_, err = s.Present(items)
			must(b, err)
			b.ReportAllocs()
			for b.Loop() {
				_, err := s.Recall(items[0], len(items))
				must(b, err)
			}
			b.ReportMetric(float64(b.N*len(items))/b.Elapsed().Seconds(), "steps/s")
		})
		b.Run(name+"/present/n=5000/k=70", func(b *testing.B) {
			s, err := RandomSequence(SequenceSettings{N: 5000, K: 70, P: 0.2, Scaffold: scaffold, Seed: 1})
			must(b, err)
			items := make([][]int32, 25)
			for i := range items {
				items[i] = Block(i, 70)
			}
			for b.Loop() {
				_, err := s.Present(items)
				must(b, err)
			}
			b.ReportMetric(float64(b.N*len(items))/b.Elapsed().Seconds(), "steps/s")
		})
	}
}

func BenchmarkAutomaton(b *testing.B) {
	m, err := LearnAutomaton([]Arc{{0, 0, 0, 0}, {0, 1, 0, 1}}, AutomatonSettings{ArcNeurons: 5000, Seed: 1})
	must(b, err)
	must(b, m.Start(0))
	for b.Loop() {
		_, err := m.Step()
		must(b, err)
	}
}
