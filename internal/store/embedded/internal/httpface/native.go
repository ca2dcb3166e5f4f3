package httpface

import (
	"bytes"
	"fmt"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

// transcode rewrites whole Native blocks from revision 0, which is all that the
// library writes, to the revision that the client asked for. A column type that
// clickhouse-go does not know is an error: it could not read the answer either.
func transcode(in []byte, revision uint64) ([]byte, error) {
	var out chproto.Buffer
	src := bytes.NewReader(in)
	reader := chproto.NewReader(src)
	for {
		// The reader buffers, so only it knows whether anything is left.
		block := proto.NewBlock()
		if err := block.Decode(reader, 0); err != nil {
			if isEnd(err) && src.Len() == 0 && len(block.Columns) == 0 {
				return out.Buf, nil
			}
			return nil, fmt.Errorf("read a Native block of the engine: %w", err)
		}
		if err := block.Encode(&out, revision); err != nil {
			return nil, fmt.Errorf("write a Native block of revision %d: %w", revision, err)
		}
	}
}
