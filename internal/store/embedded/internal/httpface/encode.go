package httpface

import (
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// encodings in the order of preference when a client takes several.
var encodings = []string{"br", "lz4", "zstd", "gzip", "deflate"}

// chooseEncoding picks from an Accept-Encoding header; one with q=0 is refused
// by the client.
func chooseEncoding(accept string) string {
	offered := map[string]bool{}
	for part := range strings.SplitSeq(accept, ",") {
		name, q, _ := strings.Cut(part, ";")
		q = strings.ReplaceAll(q, " ", "")
		offered[strings.ToLower(strings.TrimSpace(name))] = q != "q=0" && q != "q=0.0"
	}
	for _, e := range encodings {
		if offered[e] {
			return e
		}
	}
	return ""
}

// newEncoder compresses what is written into w.
func newEncoder(encoding string, w io.Writer) (io.WriteCloser, error) {
	switch encoding {
	case "gzip":
		return gzip.NewWriterLevel(w, gzip.BestSpeed)
	case "deflate":
		return zlib.NewWriterLevel(w, zlib.BestSpeed)
	case "br":
		return brotli.NewWriterLevel(w, brotli.BestSpeed), nil
	case "lz4":
		return lz4.NewWriter(w), nil
	case "zstd":
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	default:
		return nil, fmt.Errorf("there is no encoder for %q", encoding)
	}
}

// frameSize is how much of an answer goes into one frame of ClickHouse's native
// compression, as with a server.
const frameSize = 1 << 20

// frameWriter writes ClickHouse's native compression, one frame a piece.
type frameWriter struct {
	out io.Writer
	c   *compress.Writer
}

func newFrameWriter(w io.Writer, useZSTD bool) *frameWriter {
	method := compress.LZ4
	if useZSTD {
		method = compress.ZSTD
	}
	return &frameWriter{out: w, c: compress.NewWriter(compress.LevelZero, method)}
}

func (f *frameWriter) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		piece := p[:min(len(p), frameSize)]
		if err := f.c.Compress(piece); err != nil {
			return written, fmt.Errorf("compress the answer: %w", err)
		}
		if _, err := f.out.Write(f.c.Data); err != nil {
			return written, err
		}
		written += len(piece)
		p = p[len(piece):]
	}
	return written, nil
}
