package trace

import "time"

// Epoch is the reading of every correct wall clock at the start of a run. It is early, so
// that the timestamps that some strategies store are short.
var Epoch = time.Unix(1000, 0).UTC()

// MaxTime bounds the virtual time of a run. No clock that a configuration allows overflows
// within it.
const MaxTime = 25 * 365 * 24 * time.Hour

// MaxSpan bounds every duration in a configuration or a fault. It keeps all arithmetic on
// instants far from overflow.
const MaxSpan = 24 * 365 * time.Hour
