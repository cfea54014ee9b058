package certificate

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// format is the first line of a certificate. The number counts versions of the format, and of
// the way in which situations are written down.
const (
	format     = "lockstep certificate 1"
	formatName = "lockstep certificate "
	maxHeader  = 1 << 16
	maxRows    = 1 << 28
)

// Write writes a certificate: see the package comment for the format.
func (c *Certificate) Write(w io.Writer) error {
	header, err := json.Marshal(&c.Header)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s\n%s\n", format, header); err != nil {
		return err
	}
	z, err := flate.NewWriter(w, flate.BestCompression)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(z)
	var to []byte
	to = binary.AppendUvarint(to, uint64(len(c.Rows)))
	for i, row := range c.Rows {
		to = binary.AppendUvarint(to, uint64(i-row.Parent))
		to = append(to, byte(row.Move.Kind), row.Move.Place)
		to = append(to, row.Digest[:]...)
	}
	to = binary.AppendUvarint(to, uint64(len(c.Needs)))
	for _, key := range slices.SortedFunc(maps.Keys(c.Needs), func(a, b Digest) int { return bytes.Compare(a[:], b[:]) }) {
		to = append(append(to, key[:]...), byte(c.Needs[key]))
	}
	_, err = b.Write(to)
	return errors.Join(err, b.Flush(), z.Close())
}

// Begins reports whether a file that begins so is a certificate, if perhaps of another version.
func Begins(text string) bool { return strings.HasPrefix(text, formatName) }

// Read reads a certificate. It fails if that isn't one, is of another version of the format,
// or is damaged.
func Read(from io.Reader) (*Certificate, error) {
	in := bufio.NewReaderSize(from, maxHeader)
	first, err := in.ReadSlice('\n')
	line := strings.TrimSuffix(string(first), "\n")
	switch {
	case err != nil || !strings.HasPrefix(line, formatName):
		return nil, fmt.Errorf("this is no certificate of lockstep: it lacks the first line %q", format)
	case line != format:
		return nil, fmt.Errorf("the certificate has the format %q, and this lockstep reads %q: write it again with lockstep explore --certificate", line, format)
	}
	header, err := in.ReadSlice('\n')
	c := new(Certificate)
	if err == nil {
		err = json.Unmarshal(header, &c.Header)
	}
	if err != nil {
		return nil, fmt.Errorf("the certificate's header can't be read: %w", err)
	}
	body := bufio.NewReader(flate.NewReader(in))
	if err := c.readBody(body); err != nil {
		return nil, fmt.Errorf("the certificate is damaged: %w", err)
	}
	return c, nil
}

// readBody reads the rows and the needs.
func (c *Certificate) readBody(in *bufio.Reader) error {
	n, err := binary.ReadUvarint(in)
	if err != nil || n == 0 || n > maxRows {
		return errors.Join(err, fmt.Errorf("it has %d situations", n))
	}
	for i := range int(n) {
		back, err := binary.ReadUvarint(in)
		if err != nil {
			return err
		}
		var head [2 + len(Digest{})]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		if i > 0 && (back == 0 || back > uint64(i)) || i == 0 && back != 0 || MoveKind(head[0]) >= moveKinds {
			return fmt.Errorf("situation %d has no way to it", i)
		}
		c.Rows = append(c.Rows, Row{Parent: i - int(back), Move: Move{MoveKind(head[0]), head[1]}, Digest: Digest(head[2:])})
	}
	if n, err = binary.ReadUvarint(in); err != nil {
		return err
	}
	c.Needs = Needs{}
	for range n {
		var entry [len(Digest{}) + 1]byte
		if _, err := io.ReadFull(in, entry[:]); err != nil {
			return err
		}
		c.Needs[Digest(entry[:len(Digest{})])] = Need(entry[len(Digest{})])
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return errors.New("more follows its end")
	}
	return nil
}
