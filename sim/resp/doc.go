// Package resp reads and writes the Redis protocol: commands as clients write them, and replies
// as a person reads them.
package resp
