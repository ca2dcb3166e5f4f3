package chdb

import (
	"errors"
	"unsafe"
)

// Rows is the output of a query, taken chunk by chunk. It belongs to one
// connection, which runs nothing else until Close.
type Rows struct {
	conn  *Conn
	res   handle
	stats Stats
	done  bool
}

// Query starts a statement that reads and returns its output piece by piece,
// so that a large answer never lies in memory as a whole.
func (c *Conn) Query(query, format string, params ...Param) (*Rows, error) {
	p := newParams(params)
	defer p.unpin()
	res := c.lib.streamQuery(c.inner, bytesOf(query), uintptr(len(query)), bytesOf(format), uintptr(len(format)),
		unsafe.SliceData(p.names), unsafe.SliceData(p.nameLens), unsafe.SliceData(p.values), unsafe.SliceData(p.valueLens), uintptr(len(params)))
	if text := c.lib.resultError(res); text != "" {
		c.lib.resultDestroy(res)
		return nil, &Error{Text: text}
	}
	return &Rows{conn: c, res: res}, nil
}

// Next hands the next piece of the output to write, in the engine's own memory:
// write must not keep it. It reports false at the end.
func (r *Rows) Next(write func([]byte) error) (bool, error) {
	if r.done {
		return false, nil
	}
	res := r.conn.lib.streamFetch(r.conn.inner, r.res)
	defer r.conn.lib.resultDestroy(res)
	out, stats, err := r.conn.lib.look(res)
	if err != nil || len(out) == 0 {
		r.done = true
		return false, err
	}
	r.stats.add(stats)
	return true, write(out)
}

// Stats sums what the pieces so far have read.
func (r *Rows) Stats() Stats { return r.stats }

// Close ends the query, cancelling it when it has not ended by itself.
func (r *Rows) Close() {
	if r.res == nil {
		return
	}
	if !r.done {
		r.conn.lib.streamCancel(r.conn.inner, r.res)
	}
	r.conn.lib.resultDestroy(r.res)
	r.res, r.done = nil, true
}

// Insert is an INSERT whose data arrives piece by piece. Nothing is certain
// before Done returns without an error.
type Insert struct {
	conn   *Conn
	stream handle
	closed bool
}

// Insert starts "INSERT INTO t (...) SETTINGS ..." without its FORMAT clause;
// the data follows in the named input format.
func (c *Conn) Insert(query, format string, params ...Param) (*Insert, error) {
	p := newParams(params)
	defer p.unpin()
	stream := c.lib.insert(c.inner, bytesOf(query), uintptr(len(query)), bytesOf(format), uintptr(len(format)),
		unsafe.SliceData(p.names), unsafe.SliceData(p.nameLens), unsafe.SliceData(p.values), unsafe.SliceData(p.valueLens), uintptr(len(params)))
	if stream == nil {
		return nil, errors.New("the engine gave no insert stream")
	}
	if text := c.lib.insertError(stream); text != "" {
		c.lib.insertDestroy(stream)
		return nil, &Error{Text: text}
	}
	return &Insert{conn: c, stream: stream}, nil
}

// Write appends data; the engine copies it, and blocks while it is behind.
func (i *Insert) Write(data []byte) (int, error) {
	if len(data) == 0 {
		return 0, nil
	}
	if i.conn.lib.insertAppend(i.stream, unsafe.SliceData(data), uintptr(len(data))) == 0 {
		return len(data), nil
	}
	if text := i.conn.lib.insertError(i.stream); text != "" {
		return 0, &Error{Text: text}
	}
	return 0, errInsertEnded
}

// errInsertEnded is Write's answer when the engine has stopped reading; Done
// then says why.
var errInsertEnded = errors.New("the engine reads no more of this insert")

// Done ends the data and waits until the rows are stored.
func (i *Insert) Done() (Stats, error) {
	i.closed = true
	res := i.conn.lib.insertDone(i.stream)
	_, stats, err := i.conn.lib.look(res)
	i.conn.lib.resultDestroy(res)
	i.conn.lib.insertDestroy(i.stream)
	i.stream = nil
	return stats, err
}

// Cancel drops the insert. Blocks that the engine has already stored stay.
func (i *Insert) Cancel() {
	if i.closed {
		return
	}
	i.closed = true
	i.conn.lib.insertCancel(i.stream)
	i.conn.lib.insertDestroy(i.stream)
	i.stream = nil
}
