package redis

import "time"

// Config is one node's part of it.
type Config struct {
	Offset      time.Duration // of its clock
	Persistence Persistence
}
