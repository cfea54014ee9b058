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
// or isn't as [Certificate.Write] writes it: a check covers all that the file says.
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
		err = c.readHeader(header)
	}
	if err != nil {
		return nil, fmt.Errorf("the certificate's header can't be read: %w", err)
	}
	body := bufio.NewReader(flate.NewReader(in))
	err = c.readBody(body)
	if err == nil {
		err = atEnd(body)
	}
	if err == nil {
		err = atEnd(in)
	}
	if err != nil {
		return nil, fmt.Errorf("the certificate is damaged: %w", err)
	}
	return c, nil
}

// readHeader reads the header. It fails if that says more than is read of it: a field that nobody knows, or
// one that is there twice, of which the other would be read by a person.
func (c *Certificate) readHeader(line []byte) error {
	if err := json.Unmarshal(line, &c.Header); err != nil {
		return err
	}
	again, err := json.Marshal(&c.Header)
	if err == nil && !bytes.Equal(append(again, '\n'), line) {
		err = errors.New("it says more, or in another form, than lockstep writes")
	}
	return err
}

// atEnd fails if there is more to be read, or the end can't be.
func atEnd(in io.ByteReader) error {
	switch _, err := in.ReadByte(); {
	case err == nil:
		return errors.New("more follows its end")
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

// readBody reads the rows and the needs.
func (c *Certificate) readBody(in *bufio.Reader) error {
	n, err := binary.ReadUvarint(in)
	if err != nil || n == 0 || n > maxRows {
		return errors.Join(err, fmt.Errorf("it has %d situations", n))
	}
	first := map[Digest]int{}
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
		row := Row{Parent: i - int(back), Move: Move{MoveKind(head[0]), head[1]}, Digest: Digest(head[2:])}
		if was, twice := first[row.Digest]; twice {
			return fmt.Errorf("its situation %d is its situation %d once more, and would count twice", i, was)
		}
		first[row.Digest] = i
		c.Rows = append(c.Rows, row)
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
	return nil
}
