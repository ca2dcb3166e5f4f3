package store

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/soak/policy"
	"github.com/soakgate/soakgate/internal/store/sql"
	"github.com/soakgate/soakgate/schemas"
)

// Version is ClickHouse's version, and the newest migration applied.
func (s *Store) Version(ctx context.Context) (clickhouse, schema string, err error) {
	err = s.conn.QueryRow(ctx, "SELECT version(), toString(max(version)) FROM "+s.database+".schema_migrations").Scan(&clickhouse, &schema)
	if err != nil {
		return "", "", s.wrap("read the versions", err)
	}
	return clickhouse, schema, nil
}

// Figures reads what a verdict rests on: one reading, by the bounds that policy
// and instant demand. A group that cannot be read carries its error, so that
// the verdict can tell unknown from absent; only a store that does not answer
// at all is an error of Figures itself. The texts of the queries, by name, come
// with it for the evidence.
//
// The entries of registers come from files and count like those of the store.
func (s *Store) Figures(ctx context.Context, p policy.Policy, asOf soak.AsOf, registers soak.Registers) (soak.Figures, map[string]string, error) {
	if err := s.Ping(ctx); err != nil {
		return soak.Figures{}, nil, err
	}
	if err := s.CheckSchema(ctx); err != nil {
		return soak.Figures{}, nil, err
	}
	statements, err := sql.Folder("read")
	if err != nil {
		return soak.Figures{}, nil, err
	}
	from, err := sql.Folder("from")
	if err != nil {
		return soak.Figures{}, nil, err
	}
	taxonomy, err := schemas.LoadTaxonomy()
	if err != nil {
		return soak.Figures{}, nil, err
	}
	r := &reading{
		ctx: ctx, store: s, statements: make(map[string]sql.Statement, len(statements)), from: from,
		values: boundsOf(s.database, p, asOf, taxonomy.NormalizationKinds), queries: make(map[string]string, len(statements)),
	}
	for _, st := range statements {
		r.statements[st.Name] = st
	}
	return r.figures(p, asOf, registers), r.queries, nil
}

// reading is one reading of the figures.
type reading struct {
	ctx        context.Context
	store      *Store
	statements map[string]sql.Statement
	from       []sql.Statement
	values     map[string]string

	mu      sync.Mutex // guards queries: groups are read at the same time
	queries map[string]string
}

// figures reads in the order that package soak demands: what later queries are
// bounded by comes first.
func (r *reading) figures(p policy.Policy, asOf soak.AsOf, registers soak.Registers) soak.Figures {
	f := soak.Figures{Version: soak.FiguresVersion, Bounds: soak.Bounds{AsOf: asOf}}
	together(
		func() { f.Registers = r.registers() },
		func() { r.declarations(&f) },
		func() {
			f.Kept = one(r, "kept", func(v *soak.Kept, scan scanner) error { return scan((*int64)(&v.Oldest), &v.Expired) })
		},
		func() { f.Heartbeats = r.heartbeats() },
		func() { f.Lateness = r.lateness() },
	)
	f.Registers.Value = f.Registers.Value.Join(registers)
	f.Bounds.Untrusted = soak.Untrusted(p, f.Lateness.Value)
	r.values["Trusted"] = trusted("minute <= arrived +", f.Bounds.Untrusted, p)
	r.values["TrustedLead"] = trusted("lead <=", f.Bounds.Untrusted, p)

	r.sources(p, asOf, nil)

	r.telemetry(&f)
	f.Bounds.RunStarts = soak.RunStarts(p, f, asOf)
	r.values["InRun"] = inRun(f.Bounds.RunStarts)
	r.sources(p, asOf, f.Bounds.RunStarts)

	r.coverage(&f)
	return f
}

// boundsOf are the bounds that every query carries, as SQL literals and
// conditions.
func boundsOf(database string, p policy.Policy, asOf soak.AsOf, normalizationKinds []schemas.NormalizationKind) map[string]string {
	t := asOf.Minute()
	at := func(m soak.Minute) string { return dateTime(m.Time()) }
	arrived := "true"
	if !asOf.AllEvents {
		arrived = "arrived < " + at(t)
	}
	window := "minute >= " + at(t.Add(-p.LookBack)) + " AND minute < " + at(t) + " AND " + arrived
	kinds := make([]string, len(normalizationKinds))
	for i, k := range normalizationKinds {
		kinds[i] = quote(k.Kind)
	}
	return map[string]string{
		"Database":           database,
		"From":               at(t.Add(-p.LookBack)),
		"T":                  at(t),
		"AsOf":               dateTimeMilli(asOf.At),
		"Arrived":            arrived,
		"Window":             window,
		"Live":               at(t.Add(-p.CandidateWindow)),
		"Recent":             at(t.Add(-recent)),
		"Settled":            settled(database, asOf),
		"LatenessFrom":       at(t.Add(-p.Gates.Lateness.Window)),
		"Anchored":           anchored(p),
		"JoinGap":            fmt.Sprint(int64(soak.JoinGap)),
		"NormalizationKinds": strings.Join(kinds, ", "),
	}
}

// recent is the time that rates are taken over, for what a HOLD still needs.
const recent = 7 * policy.Day

// settled is the hour of arrival before which the rollups by hour are read.
func settled(database string, asOf soak.AsOf) string {
	through := "(SELECT through FROM " + database + ".hours_settled)"
	if asOf.AllEvents {
		return through
	}
	return "least(" + through + ", " + dateTime(asOf.Minute().Time().Truncate(time.Hour)) + ")"
}

// sources fills in what queries read from: the rollups by hour, and by minute
// what those cannot tell.
func (r *reading) sources(p policy.Policy, asOf soak.AsOf, starts []soak.RunStart) {
	r.values["CutHours"], r.values["CutMinutes"] = cutHours(p, asOf, starts)
	for _, st := range r.from {
		text, err := st.Fill(r.values)
		if err != nil {
			continue // the queries that read from it fail, and say that it is missing
		}
		_, text, _ = strings.Cut(text, "\n") // without the comment
		r.values[strings.ToUpper(st.Name[:1])+st.Name[1:]] = text
	}
}

// cutHours are the conditions that an hour is cut by one of the bounds that
// queries by the hour have, and that a minute lies in such an hour.
func cutHours(p policy.Policy, asOf soak.AsOf, starts []soak.RunStart) (hours, minutes string) {
	t := asOf.Minute()
	bounds := []soak.Minute{t, t.Add(-p.LookBack), t.Add(-recent), t.Add(-p.CandidateWindow)}
	for _, server := range p.Servers {
		if !server.Anchor.IsZero() {
			bounds = append(bounds, soak.MinuteOf(server.Anchor))
		}
	}
	for _, s := range starts {
		bounds = append(bounds, s.From)
	}
	var cut, within []string
	for _, b := range bounds {
		hour := b.Time().Truncate(time.Hour)
		if hour.Equal(b.Time()) {
			continue
		}
		cut = append(cut, dateTime(hour))
		within = append(within, fmt.Sprintf("minute >= %s AND minute < %s", dateTime(hour), dateTime(hour.Add(time.Hour))))
	}
	if cut == nil {
		return "false", "false"
	}
	return "hour IN (" + strings.Join(cut, ", ") + ")", "(" + strings.Join(within, " OR ") + ")"
}

// anchored is the condition that a row's event is not before its server's anchor.
func anchored(p policy.Policy) string {
	var parts []string
	for _, server := range p.Servers {
		if !server.Anchor.IsZero() {
			parts = append(parts, fmt.Sprintf("(server != %s OR minute >= %s)", quote(server.Name), dateTime(server.Anchor)))
		}
	}
	if len(parts) == 0 {
		return "true"
	}
	return strings.Join(parts, " AND ")
}

// trusted is the condition that a row's clock is trusted (D15). The text ahead is
// completed with how many seconds events may lie ahead of their arrival.
func trusted(ahead string, untrusted []soak.Instance, p policy.Policy) string {
	condition := fmt.Sprintf("%s %d", ahead, int64(p.Gates.Clocks.Ahead))
	if len(untrusted) == 0 {
		return condition
	}
	instances := make([]string, len(untrusted))
	for i, u := range untrusted {
		instances[i] = fmt.Sprintf("(%s, %s, %s)", quote(u.Server), quote(u.Deployment), quote(u.Instance))
	}
	return condition + " AND (server, deployment, instance) NOT IN (" + strings.Join(instances, ", ") + ")"
}

// inRun is the condition that a row lies in its server's current run (D4). A
// server without a run has no such rows.
func inRun(starts []soak.RunStart) string {
	if len(starts) == 0 {
		return "false"
	}
	parts := make([]string, len(starts))
	for i, s := range starts {
		parts[i] = fmt.Sprintf("(server = %s AND minute >= %s)", quote(s.Server), dateTime(s.From.Time()))
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

// quote is a text as a ClickHouse string literal. Names come from senders.
func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// scanner scans one row into pointers.
type scanner func(into ...any) error

// rows runs a statement by name and reads its rows.
func rows[T any](r *reading, name string, scan func(*T, scanner) error) soak.Read[[]T] {
	values, err := readRows(r, name, scan)
	if err != nil {
		return soak.Failed[[]T](err)
	}
	return soak.Got(values)
}

// one runs a statement that answers with one row.
func one[T any](r *reading, name string, scan func(*T, scanner) error) soak.Read[T] {
	values, err := readRows(r, name, scan)
	switch {
	case err != nil:
		return soak.Failed[T](err)
	case len(values) != 1:
		return soak.Failed[T](fmt.Errorf("query %s answered with %d rows, not one", name, len(values)))
	}
	return soak.Got(values[0])
}

// queryTimeout bounds one query. A figure that takes longer is unknown.
const queryTimeout = 2 * time.Minute

func readRows[T any](r *reading, name string, scan func(*T, scanner) error) ([]T, error) {
	statement, ok := r.statements[name]
	if !ok {
		return nil, fmt.Errorf("there is no query %s", name)
	}
	text, err := statement.Fill(r.values)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.queries[name] = text
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(r.ctx, queryTimeout)
	defer cancel()
	result, err := r.store.conn.Query(ctx, text)
	if err != nil {
		return nil, r.store.wrap("read "+name, err)
	}
	values, err := scanAll(result, scan)
	if err != nil {
		return nil, r.store.wrap("read "+name, err)
	}
	return values, nil
}

func scanAll[T any](result driver.Rows, scan func(*T, scanner) error) ([]T, error) {
	defer result.Close()
	values := []T{}
	for result.Next() {
		var v T
		if err := scan(&v, result.Scan); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, result.Err()
}
