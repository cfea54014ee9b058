// Package hush keeps passwords out of everything that is printed, logged or kept: errors of
// drivers often quote the URL that they were given.
package hush

import (
	"errors"
	"io"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Secrets are texts that nobody may read.
type Secrets []string

// mask stands in place of a secret.
const mask = "***"

// environment are the variables that may hold a secret for the drivers and for this program.
var environment = []string{"REDISCLI_AUTH", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN"}

// Of returns the secrets in URLs and in the environment. A password between a URL's scheme
// and its last @ counts even where the URL can't be parsed; of queries, the values of the parameters
// that sound like secrets.
func Of(urls ...string) (s Secrets) {
	for _, name := range environment {
		s = s.with(os.Getenv(name))
	}
	for _, u := range urls {
		s = s.ofURL(u)
	}
	// The longest first, so that no part of one is left.
	slices.SortFunc(s, func(a, b string) int { return len(b) - len(a) })
	return s
}

var parameter = regexp.MustCompile(`(?i)[?&;](?:[^=&]*(?:pass|secret|token|key|sig)[^=&]*)=([^&;#]+)`)

func (s Secrets) ofURL(text string) Secrets {
	_, rest, found := strings.Cut(text, "://")
	if !found {
		return s
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		_, password, _ := strings.Cut(rest[:at], ":")
		s = s.with(password)
	}
	for _, m := range parameter.FindAllStringSubmatch(rest, -1) {
		s = s.with(m[1])
	}
	return s
}

// with adds a text in all the forms in which it may be quoted.
func (s Secrets) with(text string) Secrets {
	forms := []string{text}
	if plain, err := url.QueryUnescape(text); err == nil {
		forms = append(forms, plain)
	}
	if plain, err := url.PathUnescape(text); err == nil {
		forms = append(forms, plain, url.PathEscape(plain), url.QueryEscape(plain), url.UserPassword("", plain).String()[1:])
	}
	for _, f := range forms {
		if f != "" && !slices.Contains(s, f) {
			s = append(s, f)
		}
	}
	return s
}

// Hide returns a text without the secrets in it.
func (s Secrets) Hide(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, mask)
	}
	return text
}

// Error returns an error with the same text, less the secrets, and with nothing behind it.
func (s Secrets) Error(err error) error {
	if err == nil {
		return nil
	}
	if hidden := s.Hide(err.Error()); hidden != err.Error() {
		return errors.New(hidden)
	}
	return err
}

// Writer hides the secrets in all that is written: one that is cut between two calls is not
// found.
func (s Secrets) Writer(w io.Writer) io.Writer {
	if len(s) == 0 {
		return w
	}
	return writer{s, w}
}

type writer struct {
	secrets Secrets
	to      io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.secrets.Hide(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
