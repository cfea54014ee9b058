package bubble

import (
	"crypto/rand"
	"crypto/sha256"
	"io"
	chacha "math/rand/v2"
	"sync"
	"sync/atomic"
)

// stream is the source of random bytes of one process.
type stream struct{ *chacha.ChaCha8 }

// newStream returns the stream of a seed.
func newStream(seed string) stream {
	return stream{chacha.NewChaCha8(sha256.Sum256([]byte(seed)))}
}

// source takes the place of crypto/rand.Reader: while a bubble moves, its stream is read, and
// else the real one. A test that runs in parallel may come to read a bubble's.
var source struct {
	once    sync.Once
	real    io.Reader
	current atomic.Pointer[stream]
}

type reader struct{}

// Read implements io.Reader.
func (reader) Read(p []byte) (int, error) {
	if s := source.current.Load(); s != nil {
		return s.Read(p)
	}
	return source.real.Read(p)
}

// seedRandom makes crypto/rand the bubbles' own, where a bubble reads from it.
func seedRandom() {
	source.once.Do(func() {
		source.real = rand.Reader
		rand.Reader = reader{}
	})
}
