package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/soakgate/soakgate/internal/store/embedded/internal/engine"
	"github.com/soakgate/soakgate/internal/store/embedded/internal/httpface"
)

// ErrOpen means that this process runs an embedded ClickHouse already.
var ErrOpen = engine.ErrOpen

const (
	// headerTimeout bounds how long a client may take over its headers.
	headerTimeout = 10 * time.Second
	// maxHeader is large since a query may stand in the URL.
	maxHeader = 1 << 20
	// cancelGrace is how long cancelled queries get to end, over and above the
	// deadline of Shutdown: the engine looks for a cancellation about every second.
	cancelGrace = 5 * time.Second
)

// Server is a running embedded ClickHouse.
type Server struct {
	engine   *engine.Engine
	listener net.Listener
	http     *http.Server
	logger   *zap.Logger
	cancel   context.CancelFunc // ends the requests that are still running
	served   chan error         // what Serve returned

	stop    sync.Once
	stopErr error
}

// Start opens the engine on cfg.Path and serves its HTTP interface on
// cfg.Listen. ctx bounds the start alone. One engine a process: a second Start
// before Shutdown gives ErrOpen.
func Start(ctx context.Context, cfg Config, logger *zap.Logger) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configuration of the embedded ClickHouse: %w", err)
	}
	library, err := FindLibrary(cfg.Library)
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("the address %s is taken; stop what listens there, or choose another with `listen`: %w", cfg.Listen, err)
		}
		return nil, fmt.Errorf("listen on %s for the embedded ClickHouse: %w", cfg.Listen, err)
	}
	eng, err := engine.Open(engine.Options{
		Library:  library,
		Path:     cfg.Path,
		Sessions: cfg.MaxQueries,
		Limits: engine.Limits{
			Memory:            cfg.MemoryLimitMiB << 20,
			MarkCache:         cfg.MarkCacheMiB << 20,
			UncompressedCache: cfg.UncompressedCacheMiB << 20,
			IndexCache:        cfg.IndexCacheMiB << 20,
		},
	})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &Server{
		engine:   eng,
		listener: listener,
		logger:   logger,
		cancel:   cancel,
		served:   make(chan error, 1),
		http: &http.Server{
			Handler:           httpface.New(eng, logger),
			ReadHeaderTimeout: headerTimeout,
			MaxHeaderBytes:    maxHeader,
			BaseContext:       func(net.Listener) context.Context { return base },
			ErrorLog:          zap.NewStdLog(logger.Named("http")),
		},
	}
	go func() { s.served <- s.http.Serve(listener) }()
	logger.Info("embedded ClickHouse is open", zap.String("address", s.Addr()), zap.String("path", cfg.Path),
		zap.String("version", eng.Info().Version), zap.Int64("memory_limit_mib", cfg.MemoryLimitMiB))
	return s, nil
}

// Addr is the address that is listened on, with the port that was taken.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Version is the engine's version of ClickHouse.
func (s *Server) Version() string { return s.engine.Info().Version }

// Shutdown refuses new requests, lets the running ones end until ctx is done,
// cancels what is left, flushes, and stops the engine. It is safe to call more
// than once. An error says what could not be ended; the process can still exit,
// and what was acknowledged is on disk.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop.Do(func() { s.stopErr = s.shutdown(ctx) })
	return s.stopErr
}

func (s *Server) shutdown(ctx context.Context) error {
	var errs []error
	began := time.Now()
	drained := s.http.Shutdown(ctx)
	drain := time.Since(began)
	s.cancel()
	grace, cancelGraceTimer := context.WithTimeout(context.WithoutCancel(ctx), cancelGrace)
	defer cancelGraceTimer()
	if drained != nil {
		s.logger.Warn("embedded ClickHouse cancels the queries that are still running", zap.Error(drained))
		if err := s.http.Shutdown(grace); err != nil {
			errs = append(errs, fmt.Errorf("end the requests of the embedded ClickHouse: %w", err), s.http.Close())
		}
	}
	if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
		errs = append(errs, fmt.Errorf("serve the embedded ClickHouse: %w", err))
	}
	wait, cancelWait := context.WithTimeout(context.WithoutCancel(ctx), cancelGrace)
	defer cancelWait()
	errs = append(errs, s.engine.Close(wait))
	s.logger.Info("embedded ClickHouse is closed", zap.Duration("drain", drain), zap.Duration("took", time.Since(began)))
	return errors.Join(errs...)
}
