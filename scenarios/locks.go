package scenarios

import (
	"fmt"
	"slices"
	"sync"

	"lockstep/sim/suggest"
	"lockstep/strategies"
)

// FindStrategy finds a strategy by name: one of the catalogue, or one that was admitted.
func FindStrategy(name string) (strategies.Strategy, error) {
	if s, found := strategies.Get(name); found {
		return s, nil
	}
	if s, found := admitted.Load(name); found {
		return s.(strategies.Strategy), nil
	}
	return strategies.Strategy{}, suggest.Unknown("lock", name, StrategyNames())
}

// admitted are the strategies that aren't of the catalogue, by name.
var admitted sync.Map

// Admit makes a strategy that isn't of the catalogue known by its name, until the function
// that it returns is called. It fails if the catalogue has that name.
func Admit(s strategies.Strategy) (dismiss func(), err error) {
	if _, taken := strategies.Get(s.Name); taken {
		return nil, fmt.Errorf("a lock of the catalogue is named %s: it needs another name", s.Name)
	}
	admitted.Store(s.Name, s)
	return func() { admitted.Delete(s.Name) }, nil
}

// StrategyNames lists the catalogue.
func StrategyNames() []string {
	var names []string
	for _, s := range strategies.All() {
		names = append(names, s.Name)
	}
	return names
}

// sortedKeys lists a map's keys in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
