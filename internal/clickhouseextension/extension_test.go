package clickhouseextension

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.uber.org/goleak"

	"github.com/soakgate/soakgate/internal/store/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newExtension makes an instance from a configuration as an operator writes it.
func newExtension(t *testing.T, settings map[string]any) *clickhouse {
	t.Helper()
	factory := NewFactory()
	cfg := factory.CreateDefaultConfig()
	require.NoError(t, confmap.NewFromStringMap(settings).Unmarshal(cfg))
	require.NoError(t, confmap.Validate(cfg))
	ext, err := factory.Create(t.Context(), extensiontest.NewNopSettings(Type), cfg)
	require.NoError(t, err)
	return ext.(*clickhouse)
}

// ask runs a statement over the interface and returns status and answer.
func ask(t *testing.T, addr, statement string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post("http://"+addr+"/", "text/plain", strings.NewReader(statement))
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

func TestStoreLivesFromStartToShutdownAndItsDataBeyond(t *testing.T) {
	settings := map[string]any{"path": t.TempDir(), "listen": "127.0.0.1:0"}
	first := newExtension(t, settings)
	require.Empty(t, first.Addr())
	require.NoError(t, first.Start(t.Context(), componenttest.NewNopHost()))
	addr := first.Addr()
	for _, statement := range []string{
		"CREATE DATABASE d",
		"CREATE TABLE d.t (a UInt8) ENGINE = MergeTree ORDER BY a",
		"INSERT INTO d.t VALUES (1), (2)",
	} {
		status, body := ask(t, addr, statement)
		require.Equal(t, http.StatusOK, status, body)
	}
	require.NoError(t, first.Shutdown(t.Context()))
	_, err := net.Dial("tcp", addr)
	require.Error(t, err, "the port is still open after Shutdown")
	require.NoError(t, first.Shutdown(t.Context()), "a second Shutdown")

	second := newExtension(t, settings)
	require.NoError(t, second.Start(t.Context(), componenttest.NewNopHost()))
	_, body := ask(t, second.Addr(), "SELECT sum(a) FROM d.t")
	require.Equal(t, "3\n", body)
	require.NoError(t, second.Shutdown(t.Context()))
}

func TestSecondInstanceIsRefused(t *testing.T) {
	first := newExtension(t, map[string]any{"path": t.TempDir(), "listen": "127.0.0.1:0"})
	second := newExtension(t, map[string]any{"path": t.TempDir(), "listen": "127.0.0.1:0"})
	require.NoError(t, first.Start(t.Context(), componenttest.NewNopHost()))
	require.ErrorIs(t, second.Start(t.Context(), componenttest.NewNopHost()), embedded.ErrOpen)
	require.NoError(t, second.Shutdown(t.Context()), "Shutdown after a failed Start")
	require.NoError(t, first.Shutdown(t.Context()))
	require.NoError(t, second.Start(t.Context(), componenttest.NewNopHost()), "the first has ended")
	require.NoError(t, second.Shutdown(t.Context()))
}

func TestShutdownWithoutStart(t *testing.T) {
	require.NoError(t, newExtension(t, map[string]any{"path": "never-made"}).Shutdown(context.Background()))
	require.NoDirExists(t, "never-made")
}

func TestConfigErrorsNameFieldAndValue(t *testing.T) {
	for _, tc := range []struct {
		name     string
		settings map[string]any
		want     string
	}{
		{"no path", map[string]any{}, "path is empty"},
		{"listen beyond loopback", map[string]any{"path": "p", "listen": "0.0.0.0:8123"}, `listen is "0.0.0.0:8123"`},
		{"listen on a name", map[string]any{"path": "p", "listen": "example.com:8123"}, `listen is "example.com:8123"`},
		{"listen without a port", map[string]any{"path": "p", "listen": "127.0.0.1"}, `listen is "127.0.0.1"`},
		{"memory", map[string]any{"path": "p", "memory_limit_mib": 10}, "memory_limit_mib is 10"},
		{"negative cache", map[string]any{"path": "p", "mark_cache_mib": -1}, "mark_cache_mib is -1"},
		{"caches beyond half", map[string]any{"path": "p", "memory_limit_mib": 512, "uncompressed_cache_mib": 300}, "396 together"},
		{"queries", map[string]any{"path": "p", "max_queries": 0}, "max_queries is 0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := NewFactory().CreateDefaultConfig()
			require.NoError(t, confmap.NewFromStringMap(tc.settings).Unmarshal(cfg))
			require.ErrorContains(t, confmap.Validate(cfg), tc.want)
		})
	}
	t.Run("unknown key", func(t *testing.T) {
		cfg := NewFactory().CreateDefaultConfig()
		require.ErrorContains(t, confmap.NewFromStringMap(map[string]any{"pth": "p"}).Unmarshal(cfg), "pth")
	})
}

func TestDefaultsAreThoseOfTheStore(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	require.Equal(t, embedded.NewDefaultConfig(), cfg.embedded())
	require.Equal(t, "127.0.0.1:8123", cfg.Listen)
	require.Equal(t, int64(1024), cfg.MemoryLimitMiB)
	var _ extension.Extension = (*clickhouse)(nil)
}
