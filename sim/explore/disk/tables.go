package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"

	"lockstep/sim/explore/intern"
)

// Tables have the values for the ids of packed states. Their entries are appended to a file at
// the end of each level, and read again by a process that goes on.
type Tables struct {
	Kept []intern.Kept // those before others that refer to them
	// Note returns all other changes, and Recall takes them in, in another process, after
	// all entries that there were then.
	Note   func() []byte
	Recall func(note []byte) error
}

// journal is the file to which tables are appended. It consists of blocks: one with the bytes that
// Begin was given as known, and one for each level.
type journal struct {
	tables  Tables
	file    *os.File
	size    int64
	written []int // of each table: how many entries
}

const blockHead = 8 // the length and the checksum of a block

// beginJournal makes the file.
func beginJournal(path string, t Tables, known []byte) (*journal, error) {
	f, err := os.Create(path) //nolint:gosec // a file of the search's own
	if err != nil {
		return nil, err
	}
	j := &journal{tables: t, file: f, written: make([]int, len(t.Kept))}
	return j, j.block(known)
}

// append writes the entries that the tables have gained since it was called last. They are on
// disk when append returns.
func (j *journal) append() error {
	var buf []byte
	now := make([]int, len(j.written))
	for i, k := range j.tables.Kept {
		now[i] = k.Len()
		buf = binary.AppendUvarint(buf, uint64(now[i]-j.written[i]))
		for id := j.written[i] + 1; id <= now[i]; id++ {
			buf = k.Append(buf, id)
		}
	}
	if err := j.block(append(buf, j.tables.Note()...)); err != nil {
		return err
	}
	j.written = now
	return j.file.Sync()
}

func (j *journal) block(data []byte) error {
	var head [blockHead]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(data)))
	binary.LittleEndian.PutUint32(head[4:], crc32.Checksum(data, castagnoli))
	if _, err := j.file.WriteAt(append(head[:], data...), j.size); err != nil {
		return err
	}
	j.size += int64(blockHead + len(data))
	return nil
}

// resumeJournal gives tables the entries of a file, of which so many bytes count: the bytes
// after them were written by a process that didn't come to the end of its level.
func resumeJournal(path string, recall func(known []byte) (Tables, error), size int64) (j *journal, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // a file of the search's own
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.Size() < size {
		return nil, damaged(path, info.Size())
	}
	j = &journal{file: f}
	known, err := j.read(path, size)
	if err != nil {
		return nil, err
	}
	if j.tables, err = recall(known); err != nil {
		return nil, err
	}
	j.written = make([]int, len(j.tables.Kept))
	var note []byte
	for j.size < size {
		if note, err = j.restore(path, size); err != nil {
			return nil, err
		}
	}
	return j, errors.Join(j.tables.Recall(note), f.Truncate(size))
}

// read reads the next block.
func (j *journal) read(path string, size int64) ([]byte, error) {
	var head [blockHead]byte
	if j.size+blockHead > size {
		return nil, damaged(path, j.size)
	}
	if _, err := j.file.ReadAt(head[:], j.size); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	if j.size+blockHead+n > size {
		return nil, damaged(path, j.size)
	}
	data := make([]byte, n)
	if _, err := j.file.ReadAt(data, j.size+blockHead); err != nil {
		return nil, err
	}
	if crc32.Checksum(data, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, damaged(path, j.size)
	}
	j.size += blockHead + n
	return data, nil
}

// restore restores the entries of a level, and returns its note.
func (j *journal) restore(path string, size int64) (note []byte, err error) {
	at := j.size
	data, err := j.read(path, size)
	if err != nil {
		return nil, err
	}
	for i, k := range j.tables.Kept {
		n, used := binary.Uvarint(data)
		if used <= 0 {
			return nil, damaged(path, at)
		}
		data = data[used:]
		for range n {
			if data, err = k.Restore(data, j.written[i]+1); err != nil {
				return nil, fmt.Errorf("the lock does otherwise than when its search was begun (%w): begin again in another directory", err)
			}
			j.written[i]++
		}
	}
	return data, nil
}

func (j *journal) close() error { return j.file.Close() }
