package disk

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"sync"
)

const (
	// parts is the number of parts into which a run is divided by the shards of its states, for
	// workers to merge one each at the same time.
	parts = 8

	blockBytes = 32 << 10 // of a block, about

	trailerBytes = 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// run is a file with states, in ascending order within each part. A file is written once, and
// then only read.
//
// A file has blocks, an index of these, and a trailer, which has the index's place and
// checksum. A block has the states of one part, as column says, and ends with a checksum.
type run struct {
	file   *os.File
	name   string
	width  int   // of a state, in ids
	states int64 // in all
	size   int64 // of the file, in bytes
	parts  [parts]index
}

// index lists the blocks of a part.
type index struct {
	blocks []block
	first  []uint32 // the first states of all blocks, one after the other
}

// block is where a block is.
type block struct {
	offset int64
	size   uint32 // in bytes, with the checksum
	states uint32
}

// column returns the column of a state that counts as its nth when states are compared and
// written: the last id, that of the state's world, has the fewest values, and so states that
// are next to each other have most of their first columns in common.
func column(width, n int) int { return width - 1 - n }

// compare compares two states.
func compare(a, b []uint32) int {
	for i := len(a) - 1; i >= 0; i-- {
		switch {
		case a[i] < b[i]:
			return -1
		case a[i] > b[i]:
			return 1
		}
	}
	return 0
}

// writer writes a run. Several goroutines may write one part of it each.
type writer struct {
	run *run
	mu  sync.Mutex // guards run.size and run.states
}

// create begins a run.
func create(path, name string, width int) (*writer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // what is in it is no secret
	if err != nil {
		return nil, err
	}
	return &writer{run: &run{file: f, name: name, width: width}}, nil
}

// place reserves room for so many bytes.
func (w *writer) place(bytes int, states uint32) (offset int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	offset = w.run.size
	w.run.size += int64(bytes)
	w.run.states += int64(states)
	return offset
}

// partWriter writes the states of a part, which come in ascending order.
type partWriter struct {
	w      *writer
	part   int
	buf    []byte
	last   []uint32
	states uint32 // in buf
}

func (w *writer) part(n int) *partWriter {
	return &partWriter{w: w, part: n, last: make([]uint32, w.run.width)}
}

// add adds a state: the number of its first columns that are as in the state before, by how much
// the next is greater, and the values of the others. A small difference has its place in the first
// byte.
func (p *partWriter) add(state []uint32) error {
	width := len(state)
	if p.states == 0 {
		index := &p.w.run.parts[p.part]
		index.first = append(index.first, state...)
		clear(p.last)
	}
	same := 0
	for same < width-1 && state[column(width, same)] == p.last[column(width, same)] {
		same++
	}
	at := column(width, same)
	if more := state[at] - p.last[at]; more > 0 && more < 16 {
		p.buf = append(p.buf, byte(same)<<4|byte(more))
	} else {
		p.buf = append(p.buf, byte(same)<<4)
		p.buf = binary.AppendUvarint(p.buf, uint64(more))
	}
	for n := same + 1; n < width; n++ {
		p.buf = binary.AppendUvarint(p.buf, uint64(state[column(width, n)]))
	}
	copy(p.last, state)
	p.states++
	if len(p.buf) >= blockBytes {
		return p.flush()
	}
	return nil
}

// flush writes the block.
func (p *partWriter) flush() error {
	if p.states == 0 {
		return nil
	}
	p.buf = binary.LittleEndian.AppendUint32(p.buf, crc32.Checksum(p.buf, castagnoli))
	b := block{offset: p.w.place(len(p.buf), p.states), size: uint32(len(p.buf)), states: p.states}
	index := &p.w.run.parts[p.part]
	index.blocks = append(index.blocks, b)
	_, err := p.w.run.file.WriteAt(p.buf, b.offset)
	p.buf, p.states = p.buf[:0], 0
	return err
}

// finish writes the index.
func (w *writer) finish() (*run, error) {
	var buf []byte
	for i := range w.run.parts {
		p := &w.run.parts[i]
		buf = binary.AppendUvarint(buf, uint64(len(p.blocks)))
		for _, b := range p.blocks {
			buf = binary.AppendUvarint(buf, uint64(b.offset))
			buf = binary.AppendUvarint(buf, uint64(b.size))
			buf = binary.AppendUvarint(buf, uint64(b.states))
		}
		for _, id := range p.first {
			buf = binary.AppendUvarint(buf, uint64(id))
		}
	}
	sum := crc32.Checksum(buf, castagnoli)
	at := w.place(len(buf)+trailerBytes, 0)
	buf = binary.LittleEndian.AppendUint64(buf, uint64(at))
	buf = binary.LittleEndian.AppendUint32(buf, sum)
	buf = append(buf, "run1"...)
	if _, err := w.run.file.WriteAt(buf, at); err != nil {
		return nil, err
	}
	return w.run, nil
}

// damaged is the error of a file that isn't as it was written.
func damaged(name string, at int64) error {
	return fmt.Errorf("%s is damaged at byte %d: what was searched is lost; remove the directory, and begin again", name, at)
}

// open opens a run that was finished.
func open(path, name string, width int) (*run, error) {
	f, err := os.Open(path) //nolint:gosec // a file of the search's own
	if err != nil {
		return nil, err
	}
	r := &run{file: f, name: name, width: width}
	if err := r.readIndex(); err != nil {
		f.Close() //nolint:errcheck,gosec // nothing was written
		return nil, err
	}
	return r, nil
}

func (r *run) readIndex() error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	r.size = info.Size()
	var trailer [trailerBytes]byte
	if r.size < trailerBytes {
		return damaged(r.name, r.size)
	}
	if _, err := r.file.ReadAt(trailer[:], r.size-trailerBytes); err != nil {
		return err
	}
	at := int64(binary.LittleEndian.Uint64(trailer[:]))
	if string(trailer[12:]) != "run1" || at < 0 || at > r.size-trailerBytes {
		return damaged(r.name, r.size-trailerBytes)
	}
	buf := make([]byte, r.size-trailerBytes-at)
	if _, err := r.file.ReadAt(buf, at); err != nil {
		return err
	}
	if crc32.Checksum(buf, castagnoli) != binary.LittleEndian.Uint32(trailer[8:]) {
		return damaged(r.name, at)
	}
	number := func() (n uint64) { // the checksum says that they are as they were written
		n, size := binary.Uvarint(buf)
		buf = buf[size:]
		return n
	}
	for i := range r.parts {
		p := &r.parts[i]
		p.blocks = make([]block, number())
		for n := range p.blocks {
			p.blocks[n] = block{offset: int64(number()), size: uint32(number()), states: uint32(number())}
			r.states += int64(p.blocks[n].states)
		}
		p.first = make([]uint32, len(p.blocks)*r.width)
		for n := range p.first {
			p.first[n] = uint32(number())
		}
	}
	return nil
}

// cursor reads a part of a run.
type cursor struct {
	run   *run
	part  int
	next  int    // the block to be read next
	buf   []byte // the block's bytes
	rest  []byte // of which these are still to be decoded
	state []uint32
	err   error
}

// cursor returns one that is before the first state of a part.
func (r *run) cursor(part int) *cursor {
	return &cursor{run: r, part: part, state: make([]uint32, r.width)}
}

// advance goes on to the next state, and reports whether there is any.
func (c *cursor) advance() bool {
	if len(c.rest) == 0 && !c.load() {
		return false
	}
	width := len(c.state)
	head := c.rest[0]
	c.rest = c.rest[1:]
	same := int(head >> 4)
	at := column(width, same)
	if more := uint32(head & 15); more > 0 {
		c.state[at] += more
	} else {
		c.state[at] += c.number()
	}
	for i := at - 1; i >= 0; i-- {
		c.state[i] = c.number()
	}
	return true
}

// number decodes an id.
func (c *cursor) number() uint32 {
	if b := c.rest[0]; b < 0x80 {
		c.rest = c.rest[1:]
		return uint32(b)
	}
	n, size := binary.Uvarint(c.rest)
	c.rest = c.rest[size:]
	return uint32(n)
}

// load reads the next block.
func (c *cursor) load() bool {
	blocks := c.run.parts[c.part].blocks
	if c.err != nil || c.next == len(blocks) {
		return false
	}
	b := blocks[c.next]
	c.next++
	if cap(c.buf) < int(b.size) {
		c.buf = make([]byte, b.size)
	}
	c.buf = c.buf[:b.size]
	if _, err := c.run.file.ReadAt(c.buf, b.offset); err != nil {
		c.err = fmt.Errorf("%s: %w", c.run.name, err)
		return false
	}
	data := c.buf[:len(c.buf)-4]
	if crc32.Checksum(data, castagnoli) != binary.LittleEndian.Uint32(c.buf[len(data):]) {
		c.err = damaged(c.run.name, b.offset)
		return false
	}
	c.rest = data
	clear(c.state)
	return true
}

// seek goes on to the first state that isn't less than the given one, unless it is there or
// beyond, and reports whether there is any. It reads no blocks of which it can tell that all
// states are less. The cursor must have a state.
func (c *cursor) seek(to []uint32) bool {
	if compare(c.state, to) >= 0 {
		return true
	}
	index, width := &c.run.parts[c.part], len(to)
	if at := c.next * width; at < len(index.first) && compare(index.first[at:at+width], to) <= 0 {
		for c.next+1 < len(index.blocks) && compare(index.first[(c.next+1)*width:(c.next+2)*width], to) <= 0 {
			c.next++
		}
		c.rest = nil
	}
	for c.advance() {
		if compare(c.state, to) >= 0 {
			return true
		}
	}
	return false
}

// remove closes and removes the run's file.
func (r *run) remove() error {
	r.file.Close() //nolint:errcheck,gosec // it goes
	return os.Remove(r.file.Name())
}
