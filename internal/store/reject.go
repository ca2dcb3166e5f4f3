package store

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"

	"github.com/soakgate/soakgate/internal/store/native"
)

// State of a rejected record.
const (
	RejectedOpen      = "open"
	RejectedReplayed  = "replayed"
	RejectedExplained = "explained"
)

// ReasonStore is the reason of records that ClickHouse refused for a value.
const ReasonStore = "store"

// insertOrReject inserts packed blocks of records; those that ClickHouse refuses
// for a value are kept in rejected_records, and the others go in. It returns how many
// were rejected. Errors about anything but values are returned as they are, and
// nothing is split for them.
func (s *Store) insertOrReject(ctx context.Context, blocks []byte) (rejected int, err error) {
	err = s.inserter.insert(ctx, s.database+".records", recordColumns, blocks)
	if err == nil || sortFailure(err) != failureValue {
		return 0, err
	}
	parts, err := unpackBlocks(blocks)
	if err != nil {
		return 0, err
	}
	for _, b := range parts {
		n, err := s.split(ctx, b)
		rejected += n
		if err != nil {
			return rejected, err
		}
	}
	return rejected, nil
}

// split inserts a block by halves until each refused record stands alone.
func (s *Store) split(ctx context.Context, b *proto.Block) (rejected int, err error) {
	text, err := encodeBlock(b)
	if err != nil {
		return 0, err
	}
	refusal := s.insertRecords(ctx, text)
	if refusal == nil || sortFailure(refusal) != failureValue {
		return 0, refusal
	}
	if b.Rows() == 1 {
		return 1, s.reject(ctx, b, text, ReasonStore, refusal.Error())
	}
	for _, half := range [][2]int{{0, b.Rows() / 2}, {b.Rows() / 2, b.Rows()}} {
		part, err := rowsOf(b, half[0], half[1])
		if err != nil {
			return rejected, err
		}
		n, err := s.split(ctx, part)
		rejected += n
		if err != nil {
			return rejected, err
		}
	}
	return rejected, nil
}

// reject keeps one record that was refused, with its text and as it was sent.
func (s *Store) reject(ctx context.Context, b *proto.Block, text []byte, reason, detail string) error {
	cell := func(name string) any {
		for i, c := range b.ColumnsNames() {
			if c == name {
				return b.Columns[i].Row(0, false)
			}
		}
		return nil
	}
	received, _ := cell("received_at").(time.Time)
	return s.enter(ctx, "keep a rejected record",
		"INSERT INTO "+s.database+".rejected_records (id, server, reason, detail, original, block, state, note, received_at, changed_at)"+
			" SELECT ?, ?, ?, ?, ?, ?, ?, '', ?, now64(6)",
		fmt.Sprint(cell("record_id")), fmt.Sprint(cell("server")), reason, detail, fmt.Sprint(cell("payload")), base64.StdEncoding.EncodeToString(text), RejectedOpen, millis(received))
}

// insertRecords inserts blocks that are not packed.
func (s *Store) insertRecords(ctx context.Context, blocks []byte) error {
	packed, err := native.Pack(nil, blocks)
	if err != nil {
		return err
	}
	return s.inserter.insert(ctx, s.database+".records", recordColumns, packed)
}

func unpackBlocks(packed []byte) ([]*proto.Block, error) {
	blocks, err := native.Unpack(packed)
	if err != nil {
		return nil, err
	}
	return decodeBlocks(blocks)
}

// decodeBlocks reads Native blocks of revision 0, one after the other.
func decodeBlocks(blocks []byte) ([]*proto.Block, error) {
	reader := chproto.NewReader(bytes.NewReader(blocks))
	var all []*proto.Block
	for {
		b := proto.NewBlock()
		err := b.Decode(reader, 0)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decode block %d of a refused batch: %w", len(all), err)
		}
		all = append(all, b)
	}
}

func encodeBlock(b *proto.Block) ([]byte, error) {
	var buffer chproto.Buffer
	if err := b.Encode(&buffer, 0); err != nil {
		return nil, fmt.Errorf("encode %d rows of a refused batch: %w", b.Rows(), err)
	}
	return buffer.Buf, nil
}

// rowsOf copies the rows [from, to) of a block.
func rowsOf(b *proto.Block, from, to int) (*proto.Block, error) {
	part := proto.NewBlock()
	for i, name := range b.ColumnsNames() {
		if err := part.AddColumn(name, b.Columns[i].Type()); err != nil {
			return nil, fmt.Errorf("copy column %s of a refused batch: %w", name, err)
		}
	}
	row := make([]any, len(b.Columns))
	for at := from; at < to; at++ {
		for i, c := range b.Columns {
			row[i] = c.Row(at, false)
		}
		if err := part.Append(row...); err != nil {
			return nil, fmt.Errorf("copy row %d of a refused batch: %w", at, err)
		}
	}
	return part, nil
}
