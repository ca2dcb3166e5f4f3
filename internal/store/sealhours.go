package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/store/sql"
)

const (
	// hourMargin is how long after its end an hour of arrival is sealed: by then
	// what its collectors took is stored and sealed by the minute, but for those
	// that lag, and an hour that changes afterwards is sealed again.
	hourMargin = 5 * time.Minute

	// hoursARound bounds how long one round keeps the lease.
	hoursARound = 24
)

// SealHours adds the rollups by minute up to hours, for the hours of arrival of
// which a slice was sealed since they were, and tells how many those were.
func (s *Sealer) SealHours(ctx context.Context) (sealed int, err error) {
	hours, err := s.dirtyHours(ctx)
	if err != nil || len(hours) == 0 {
		return 0, err
	}
	statements, err := sql.Folder("hours")
	if err != nil {
		return 0, err
	}
	if err := s.lease(ctx); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.release(ctx)) }()
	for _, hour := range hours {
		if err := s.sealHour(ctx, statements, hour); err != nil {
			return sealed, err
		}
		sealed++
	}
	return sealed, nil
}

func (s *Sealer) dirtyHours(ctx context.Context) ([]time.Time, error) {
	db := s.store.database
	result, err := s.store.conn.Query(ctx, fmt.Sprintf(`SELECT s.hour
FROM (SELECT toStartOfHour(slice) AS hour, max(sealed_at) AS sealed FROM %[1]s.slice_seals GROUP BY hour) AS s
LEFT JOIN (SELECT hour, max(version) AS version FROM %[1]s.hour_seals GROUP BY hour) AS h ON s.hour = h.hour
WHERE s.sealed >= h.version AND s.hour + 3600 + %[2]d <= now('UTC')
ORDER BY s.hour
LIMIT %[3]d`, db, int(hourMargin.Seconds()), hoursARound))
	if err != nil {
		return nil, s.store.wrap("look for hours to seal", err)
	}
	hours, err := scanAll(result, func(t *time.Time, scan scanner) error { return scan(t) })
	if err != nil {
		return nil, s.store.wrap("look for hours to seal", err)
	}
	return hours, nil
}

func (s *Sealer) sealHour(ctx context.Context, statements []sql.Statement, hour time.Time) error {
	version, err := s.now(ctx)
	if err != nil {
		return err
	}
	for _, st := range statements {
		if err := s.lease(ctx); err != nil {
			return err
		}
		text, err := st.Fill(hourValues(s.store.database, hour, version))
		if err != nil {
			return err
		}
		if err := s.exec(ctx, st.Name, text); err != nil {
			return s.store.wrap(fmt.Sprintf("seal the hour %s (%s)", hour.Format(time.RFC3339), st.Name), err)
		}
	}
	return nil
}

// hourValues are what the statements that seal an hour take.
func hourValues(database string, hour, version time.Time) map[string]string {
	return map[string]string{
		"Database": database,
		"Hour":     dateTime(hour),
		"HourEnd":  dateTime(hour.Add(time.Hour)),
		"JoinGap":  strconv.FormatInt(int64(soak.JoinGap), 10),
		"Version":  dateTimeMicro(version),
	}
}
