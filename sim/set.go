package sim

// Set is a set of clients, by index.
type Set uint32

// SetOf is the set of the given clients.
func SetOf(clients ...int) Set {
	var s Set
	for _, c := range clients {
		s |= 1 << c
	}
	return s
}

// Has reports whether the client is in the set.
func (s Set) Has(client int) bool { return s&(1<<client) != 0 }
