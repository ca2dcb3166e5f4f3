package clickhouseextension

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/soakgate/soakgate/internal/store/embedded"
)

// clickhouse is one instance of the extension.
type clickhouse struct {
	config embedded.Config
	logger *zap.Logger

	mu     sync.Mutex
	server *embedded.Server // nil while stopped
}

// Start opens the engine and returns when its interface answers.
func (c *clickhouse) Start(ctx context.Context, _ component.Host) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	server, err := embedded.Start(ctx, c.config, c.logger)
	if err != nil {
		return err
	}
	c.server = server
	return nil
}

// Shutdown drains and stops the engine within ctx, or within the store's own
// deadline when ctx has none. It is safe twice and without Start.
func (c *clickhouse) Shutdown(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil {
		return nil
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, embedded.DefaultShutdownDeadline)
		defer cancel()
	}
	server := c.server
	c.server = nil
	return server.Shutdown(ctx)
}

// Addr is the address of ClickHouse's HTTP interface, empty while stopped.
func (c *clickhouse) Addr() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil {
		return ""
	}
	return c.server.Addr()
}
