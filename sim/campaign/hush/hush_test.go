package hush

import (
	"errors"
	"strings"
	"testing"
)

func TestHide(t *testing.T) {
	for _, tt := range []struct{ url, text, want string }{
		{"redis://:secret@host:1", "dial redis://:secret@host:1 failed", "dial redis://:***@host:1 failed"},
		{"redis://user:p%40ss@host", "the password p@ss is p%40ss", "the password *** is ***"},
		{"redis://user:a@b@host", "a@b", "***"},
		{"rediss://:50%@host", "50% of it", "*** of it"},
		{"redis://host:6379", "host", "host"},
		{"s3://bucket?region=eu&secret_key=abc%2Fdef&x=1", "abc/def in eu", "*** in eu"},
		{"azblob://c?sig=zzz9", "?sig=zzz9", "?sig=***"},
		{"folder", "folder", "folder"},
		{"", "x", "x"},
	} {
		if got := Of(tt.url).Hide(tt.text); got != tt.want {
			t.Errorf("%s: %q is %q, not %q", tt.url, tt.text, got, tt.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("REDISCLI_AUTH", "fromenv")
	s := Of("redis://:fromenv2@host")
	err := s.Error(errors.New("WRONGPASS fromenv fromenv2"))
	if err.Error() != "WRONGPASS *** ***" {
		t.Error(err)
	}
	if plain := errors.New("other"); !errors.Is(s.Error(plain), plain) || s.Error(nil) != nil {
		t.Error("an error without a secret is another")
	}
	var b strings.Builder
	if n, err := s.Writer(&b).Write([]byte("a fromenv b")); n != 11 || err != nil || b.String() != "a *** b" {
		t.Error(n, err, b.String())
	}
}
