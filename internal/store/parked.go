package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/soakgate/soakgate/internal/store/native"
)

// maxParked bounds the batches set aside: at most about 768 MiB before packing
// with the default batch size. When it is reached, batches wait in the journal
// instead, and a full journal refuses senders.
const maxParked = 16

// parking keeps batches that ClickHouse refuses for a reason that is neither
// passing nor a value, such as a missing column, so that what comes behind them
// goes on. Each is one file; it is tried again until it goes in.
type parking struct {
	dir   string
	files []parkedBatch // by the arrival of their oldest record
}

// parkedBatch is the header of a file, one line of JSON before the blocks.
type parkedBatch struct {
	Format    int         `json:"format"`
	JournalID uuid.UUID   `json:"journal_id"`
	Rows      int         `json:"rows"`
	Slices    []time.Time `json:"slices"` // oldest first
	Reason    string      `json:"reason"`
	path      string
}

// parkedFormat 2 has packed blocks, 1 had blocks as they are.
const parkedFormat = 2

// openParking reads what a folder holds. A file that was cut while it was
// written has no final name, and its batch is still in the journal.
func openParking(dir string) (*parking, error) {
	p := &parking{dir: dir}
	if dir == "" {
		return p, nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("make the folder of parked batches: %w", err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.parked"))
	if err != nil {
		return nil, fmt.Errorf("list parked batches: %w", err)
	}
	for _, name := range names {
		header, _, err := readParked(name)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, header)
	}
	p.sort()
	return p, nil
}

func (p *parking) sort() {
	slices.SortFunc(p.files, func(a, b parkedBatch) int { return a.Slices[0].Compare(b.Slices[0]) })
}

func (p *parking) full() bool { return p.dir == "" || len(p.files) >= maxParked }

// rows is the number of records set aside.
func (p *parking) rows() (n int) {
	for _, f := range p.files {
		n += f.Rows
	}
	return n
}

// oldest is the beginning of the earliest slice that waits here.
func (p *parking) oldest() time.Time { return p.files[0].Slices[0] }

// add keeps a batch on disk, fsynced, so that the journal may forget it.
func (p *parking) add(b *batch, reason error) error {
	header := parkedBatch{
		Format: parkedFormat, JournalID: uuid.UUID(b.journalID), Rows: b.rows,
		Slices: slices.SortedFunc(slices.Values(b.slices), time.Time.Compare), Reason: reason.Error(),
		path: filepath.Join(p.dir, fmt.Sprintf("%020d.parked", b.lastSeq)),
	}
	line, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("park a batch: %w", err)
	}
	if err := writeDurably(header.path, append(line, '\n'), b.records); err != nil {
		return fmt.Errorf("park a batch of %d records: %w", b.rows, err)
	}
	p.files = append(p.files, header)
	p.sort()
	return nil
}

// remove forgets a batch that is stored.
func (p *parking) remove(at int) error {
	if err := os.Remove(p.files[at].path); err != nil {
		return fmt.Errorf("remove a parked batch: %w", err)
	}
	p.files = slices.Delete(p.files, at, at+1)
	return nil
}

func readParked(path string) (parkedBatch, []byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return parkedBatch{}, nil, fmt.Errorf("read a parked batch: %w", err)
	}
	line, blocks, found := bytes.Cut(text, []byte("\n"))
	header := parkedBatch{path: path}
	err = json.Unmarshal(line, &header)
	switch {
	case !found || err != nil || len(header.Slices) == 0:
		if err == nil {
			err = errors.New("it is cut short")
		}
		return header, nil, fmt.Errorf("read the parked batch %s: its header is damaged (%w); move the file away to go on without its records", path, err)
	case header.Format > parkedFormat:
		return header, nil, fmt.Errorf("read the parked batch %s: its format %d is newer than this release's %d: run the release that wrote it", path, header.Format, parkedFormat)
	}
	if header.Format < 2 {
		blocks, err = native.Pack(nil, blocks)
	}
	return header, blocks, err
}

// writeDurably writes a file whole or not at all, as far as a crash can tell.
func writeDurably(path string, parts ...[]byte) (err error) {
	temporary := strings.TrimSuffix(path, filepath.Ext(path)) + ".writing"
	f, err := os.Create(temporary)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if _, werr := f.Write(part); err == nil {
			err = werr
		}
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
