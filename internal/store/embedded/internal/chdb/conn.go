package chdb

import (
	"errors"
	"runtime"
	"sync"
	"unsafe"
)

// ErrConnect means that the engine gave no connection. The C interface says no
// more than that; the reason is on the process's standard error.
var ErrConnect = errors.New("the engine refused a connection")

// Conn is one connection of the engine: one session, which runs one statement
// at a time. It is not safe for concurrent use.
type Conn struct {
	lib   *Library
	outer handle // what chdb_connect returned, for closing
	inner handle // what it points to, for everything else
	once  sync.Once
}

// Connect opens a connection with the engine's command-line arguments. The
// first connection of a process starts the engine; the last to close stops it.
func (l *Library) Connect(args ...string) (*Conn, error) {
	argv := make([]*byte, 0, len(args)+1)
	var pin runtime.Pinner
	defer pin.Unpin()
	for _, a := range append([]string{"clickhouse"}, args...) {
		p := unsafe.SliceData(append([]byte(a), 0))
		pin.Pin(p)
		argv = append(argv, p)
	}
	var outer handle
	keepSignals(func() { outer = l.connect(int32(len(argv)), unsafe.SliceData(argv)) })
	if outer == nil {
		return nil, ErrConnect
	}
	return &Conn{lib: l, outer: outer, inner: *(*handle)(outer)}, nil
}

// Close ends the session. Closing the last connection stops the engine, which
// waits for its background work.
func (c *Conn) Close() {
	c.once.Do(func() { c.lib.closeConn(c.outer) })
}

// Param is one query parameter: the value of {name:Type} in a statement.
type Param struct{ Name, Value string }

// Stats are what a statement read and wrote.
type Stats struct {
	ReadRows, ReadBytes       uint64
	WrittenRows, WrittenBytes uint64
	ResultRows, ResultBytes   uint64
	// Elapsed is in seconds.
	Elapsed float64
}

// add sums two steps of one statement.
func (s *Stats) add(o Stats) {
	s.ReadRows += o.ReadRows
	s.ReadBytes += o.ReadBytes
	s.WrittenRows += o.WrittenRows
	s.WrittenBytes += o.WrittenBytes
	s.ResultRows += o.ResultRows
	s.ResultBytes += o.ResultBytes
	s.Elapsed += o.Elapsed
}

// Error is the engine's own text for a failed statement.
type Error struct{ Text string }

// Error returns the engine's text.
func (e *Error) Error() string { return e.Text }

// Exec runs a statement whose output is of no interest, or small, and returns a
// copy of it.
func (c *Conn) Exec(query, format string, params ...Param) ([]byte, Stats, error) {
	var out []byte
	stats, err := c.Run(query, format, func(b []byte) error {
		out = append(out, b...)
		return nil
	}, params...)
	return out, stats, err
}

// Run runs a statement and hands its whole output to write, in the engine's own
// memory: write must not keep it.
func (c *Conn) Run(query, format string, write func([]byte) error, params ...Param) (Stats, error) {
	p := newParams(params)
	defer p.unpin()
	q, f := bytesOf(query), bytesOf(format)
	var res handle
	if len(params) == 0 {
		res = c.lib.query(c.inner, q, uintptr(len(query)), f, uintptr(len(format)))
	} else {
		res = c.lib.queryParams(c.inner, q, uintptr(len(query)), f, uintptr(len(format)),
			unsafe.SliceData(p.names), unsafe.SliceData(p.nameLens), unsafe.SliceData(p.values), unsafe.SliceData(p.valueLens), uintptr(len(params)))
	}
	runtime.KeepAlive(query)
	runtime.KeepAlive(format)
	defer c.lib.resultDestroy(res)
	out, stats, err := c.lib.look(res)
	if err != nil || len(out) == 0 {
		return stats, err
	}
	return stats, write(out)
}

// look reads a result: its output, which is valid until the result is
// destroyed, and its figures.
func (l *Library) look(res handle) ([]byte, Stats, error) {
	if text := l.resultError(res); text != "" {
		return nil, Stats{}, &Error{Text: text}
	}
	stats := Stats{
		ReadRows: l.storageRows(res), ReadBytes: l.storageBytes(res),
		WrittenRows: l.rowsWritten(res), WrittenBytes: l.bytesWritten(res),
		ResultRows: l.rowsRead(res), ResultBytes: l.bytesRead(res),
		Elapsed: l.resultElapsed(res),
	}
	n := l.resultLength(res)
	if n == 0 {
		return nil, stats, nil
	}
	return unsafe.Slice((*byte)(l.resultBuffer(res)), n), stats, nil
}

// bytesOf is the address of a string's bytes; never nil, since the C side takes
// a null pointer for an error even when the length is 0.
func bytesOf(s string) *byte {
	if s == "" {
		return new(byte)
	}
	return unsafe.StringData(s)
}

// params holds query parameters as the parallel C arrays, pinned.
type params struct {
	names, values       []*byte
	nameLens, valueLens []uintptr
	pin                 runtime.Pinner
}

func newParams(in []Param) *params {
	p := &params{}
	for _, v := range in {
		name, value := unsafe.SliceData(append([]byte(v.Name), 0)), unsafe.SliceData(append([]byte(v.Value), 0))
		p.pin.Pin(name)
		p.pin.Pin(value)
		p.names, p.nameLens = append(p.names, name), append(p.nameLens, uintptr(len(v.Name)))
		p.values, p.valueLens = append(p.values, value), append(p.valueLens, uintptr(len(v.Value)))
	}
	return p
}

func (p *params) unpin() { p.pin.Unpin() }
