package scenarios

import "testing"

// BenchmarkMatrix is every strategy under every scenario.
func BenchmarkMatrix(b *testing.B) {
	for b.Loop() {
		Matrix(1)
	}
}
