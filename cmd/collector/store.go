package main

import (
	"context"

	"github.com/soakgate/soakgate/internal/classify"
	"github.com/soakgate/soakgate/internal/conformance"
	"github.com/soakgate/soakgate/internal/ship"
	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/soak/evidence"
	"github.com/soakgate/soakgate/internal/soak/policy"
	"github.com/soakgate/soakgate/internal/store"
)

// withStore opens the store at a DSN, runs do, and closes it.
func withStore(dsn string, do func(*store.Store) error) error {
	s, err := store.Open(store.DSNFromEnv(dsn))
	if err != nil {
		return err
	}
	defer s.Close()
	return do(s)
}

// declareReplay declares backdated shipping, so that its records are told from
// late ones (D16).
func declareReplay(ctx context.Context, dsn string, r ship.Replay) error {
	return withStore(dsn, func(s *store.Store) error {
		return s.DeclareReplay(ctx, soak.Replay{ID: r.ID, From: r.From, To: r.To, By: r.By, At: r.At}, "shipped by collector ship")
	})
}

// readFigures reads what a verdict rests on, and says by which queries and versions.
func readFigures(ctx context.Context, dsn string, p policy.Policy, at soak.AsOf, registers soak.Registers) (soak.Figures, evidence.Sources, error) {
	var figures soak.Figures
	var sources evidence.Sources
	err := withStore(dsn, func(s *store.Store) (err error) {
		if figures, sources.Queries, err = s.Figures(ctx, p, at, registers); err != nil {
			return err
		}
		engine, schema, err := s.Version(ctx)
		sources.Versions = map[string]string{"soakgate": version, "clickhouse": engine, "schema": schema}
		return err
	})
	return figures, sources, err
}

// recordConformance keeps a run of the conformance suite for the soak (D12).
func recordConformance(ctx context.Context, dsn string, run conformance.Run) error {
	items := make(map[string]string, len(run.Summary.Items))
	for item, result := range run.Summary.Items {
		items[item] = string(result)
	}
	server, _ := classify.NameServer(run.Server)
	return withStore(dsn, func(s *store.Store) error {
		return s.RecordConformance(ctx, store.ConformanceRun{
			Server: server, Version: run.ServerVersion, SuiteVersion: run.Summary.SuiteVersion, Items: items,
			Payloads: run.Summary.Payloads, Conforming: run.Summary.Conforming,
			Violating: run.Summary.Violating, Unrecognized: run.Summary.Unrecognized, At: run.At,
		})
	})
}
