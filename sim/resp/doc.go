// Package resp reads the Redis protocol: commands as clients write them, and replies
// as a person reads them.
package resp
