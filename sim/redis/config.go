package redis

import "time"

// Config is one node's part of a run's configuration.
type Config struct {
	Offset      time.Duration // of its clock from true time
	Persistence Persistence
}
