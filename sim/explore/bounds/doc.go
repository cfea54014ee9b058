// Package bounds delimits the schedules of a search: how many clients and cycles they have, and how many faults of
// which kinds.
package bounds
