// Package sources has the works that documents, scenarios and locks cite, as data for the program.
package sources

import (
	"bytes"
	_ "embed"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed works.yaml
var list []byte

// Work is something that is cited.
type Work struct {
	Name, URL, Title string // the URL is relative to docs/sources if the work is a page there
}

// Works returns all works. The caller must not change them.
var Works = sync.OnceValue(func() []Work {
	var all struct{ Works []Work }
	if err := yaml.NewDecoder(bytes.NewReader(list), yaml.Strict()).Decode(&all); err != nil {
		panic(err) // the file is part of the program
	}
	return all.Works
})

// Find returns the work that a piece of a source names, or nil: the one with that very name, or with the
// longest that a comma follows.
func Find(piece string) *Work {
	var found *Work
	for i, w := range Works() {
		if (piece == w.Name || strings.HasPrefix(piece, w.Name+", ")) && (found == nil || len(w.Name) > len(found.Name)) {
			found = &Works()[i]
		}
	}
	return found
}

// Address is where the work is to be read: a URL, or a file of this project.
func (w *Work) Address() string {
	if strings.Contains(w.URL, "://") {
		return w.URL
	}
	return "docs/sources/" + w.URL
}

// Addressed is a source, which may name several works, with the address behind each of them.
func Addressed(source string) string {
	pieces := strings.Split(source, "; ")
	for i, piece := range pieces {
		if w := Find(piece); w != nil {
			address := w.Address()
			if address != w.URL { // by its name alone nobody would find it
				address = w.Title + ", " + address
			}
			pieces[i] = piece + " (" + address + ")"
		}
	}
	return strings.Join(pieces, "; ")
}
