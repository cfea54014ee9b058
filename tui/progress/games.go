package progress

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Games are files of their own, beside that of the progress: they are written at every
// move, so that nothing is lost however the program ends.

// Game is the content under a name that was kept last, or nil. Names are letters, digits,
// '.', '_' and '-'.
func (s *Store) Game(name string) []byte {
	if data, known := s.games[name]; known || s.path == "" {
		return data
	}
	data, err := os.ReadFile(s.gameFile(name)) //nolint:gosec // the user's own file, at the place where it belongs
	if err != nil {
		return nil
	}
	return data
}

// KeepGame keeps a game under a name: in its file, and only if there is none in memory.
func (s *Store) KeepGame(name string, data []byte) {
	var err error
	if s.path != "" {
		if err = replaceFile(s.gameFile(name), data); err == nil {
			delete(s.games, name)
			return
		}
		s.trouble = fmt.Sprintf("the game can't be saved: %v", err)
	}
	if s.games == nil {
		s.games = map[string][]byte{}
	}
	s.games[name] = data
}

// SetGameAside renames a game that can't be read, or that was played under other rules, so
// that it isn't overwritten.
func (s *Store) SetGameAside(name string) {
	delete(s.games, name)
	if s.path != "" {
		_ = os.Rename(s.gameFile(name), s.gameFile(name)+".old") // if there is no such file, nothing is lost
	}
}

// longestName keeps a game's file name within the limits of file systems.
const longestName = 120

func (s *Store) gameFile(name string) string {
	if name = strings.ReplaceAll(name, string(filepath.Separator), "_"); len(name) > longestName {
		name = name[:longestName]
	}
	return filepath.Join(filepath.Dir(s.path), "games", name+".json")
}

// replaceFile replaces a file in one step: a reader sees the old or the new one, never a
// half.
func replaceFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
