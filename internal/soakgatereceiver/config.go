package soakgatereceiver

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configgrpc"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
)

// Config is what the operator sets. Its protocols are written as those of the
// otlp receiver, so that one can take the other's place.
type Config struct {
	Protocols Protocols `mapstructure:"protocols"`
	// MaxRequestSizeMiB bounds one request on both protocols, after
	// decompression. A larger one is refused for good: the sender must split it.
	MaxRequestSizeMiB int `mapstructure:"max_request_size_mib"`
	// RejectInvalid counts records that break the contract as rejected in the
	// answer, and keeps them in quarantine only (`collector rejected`). The soak
	// holds until they are replayed or explained.
	RejectInvalid bool `mapstructure:"reject_invalid"`
}

// Protocols are the listeners. One that is absent from the configuration is off.
type Protocols struct {
	GRPC configoptional.Optional[configgrpc.ServerConfig] `mapstructure:"grpc"`
	HTTP configoptional.Optional[HTTPConfig]              `mapstructure:"http"`
}

// HTTPConfig is the HTTP listener.
type HTTPConfig struct {
	Server confighttp.ServerConfig `mapstructure:",squash"`
	// LogsURLPath and TracesURLPath are where requests are posted to.
	LogsURLPath   string `mapstructure:"logs_url_path"`
	TracesURLPath string `mapstructure:"traces_url_path"`
	// MaxConnectionAge ends a connection after its next answer once it is this
	// old, give or take a tenth, so that long-lived connections spread over
	// collectors that were added behind a load balancer. 0 is no limit. The gRPC
	// twin is keepalive::server_parameters::max_connection_age.
	MaxConnectionAge time.Duration `mapstructure:"max_connection_age"`
}

const (
	// defaultMaxRequestSizeMiB is the HTTP default of the stock receiver; the gRPC
	// library's own 4 MiB loses batches that SDKs make in good faith (U10).
	defaultMaxRequestSizeMiB = 20
	// largestMaxRequestSizeMiB keeps a request below the 64 MiB that the journal
	// takes as one frame, with room for what judging adds.
	largestMaxRequestSizeMiB = 48
)

func createDefaultConfig() component.Config {
	grpc := configgrpc.NewDefaultServerConfig()
	grpc.NetAddr.Endpoint = "localhost:4317"
	server := confighttp.NewDefaultServerConfig()
	server.NetAddr.Endpoint = "localhost:4318"
	return &Config{
		Protocols: Protocols{
			GRPC: configoptional.Default(grpc),
			HTTP: configoptional.Default(HTTPConfig{Server: server, LogsURLPath: "/v1/logs", TracesURLPath: "/v1/traces"}),
		},
		MaxRequestSizeMiB: defaultMaxRequestSizeMiB,
	}
}

// Validate names the first field that cannot be, and its value.
func (c *Config) Validate() error {
	if !c.Protocols.GRPC.HasValue() && !c.Protocols.HTTP.HasValue() {
		return errors.New("protocols is empty: name grpc, http or both")
	}
	if c.MaxRequestSizeMiB < 1 || c.MaxRequestSizeMiB > largestMaxRequestSizeMiB {
		return fmt.Errorf("max_request_size_mib is %d: it must be between 1 and %d", c.MaxRequestSizeMiB, largestMaxRequestSizeMiB)
	}
	if g := c.Protocols.GRPC.Get(); g != nil && g.MaxRecvMsgSizeMiB != 0 {
		return errors.New("protocols::grpc::max_recv_msg_size_mib is set: use max_request_size_mib, which is one limit for both protocols")
	}
	h := c.Protocols.HTTP.Get()
	switch {
	case h == nil:
		return nil
	case h.Server.MaxRequestBodySize != 0:
		return errors.New("protocols::http::max_request_body_size is set: use max_request_size_mib, which is one limit for both protocols")
	case h.MaxConnectionAge != 0 && h.MaxConnectionAge < time.Second:
		return fmt.Errorf("protocols::http::max_connection_age is %s: it must be at least 1s, or 0 for no limit", h.MaxConnectionAge)
	}
	for _, p := range []struct{ name, path string }{{"logs_url_path", h.LogsURLPath}, {"traces_url_path", h.TracesURLPath}} {
		if len(p.path) < 2 || p.path[0] != '/' {
			return fmt.Errorf("protocols::http::%s is %q: it must be a path such as /v1/logs", p.name, p.path)
		}
	}
	if h.LogsURLPath == h.TracesURLPath {
		return fmt.Errorf("protocols::http::logs_url_path and traces_url_path are both %q", h.LogsURLPath)
	}
	return nil
}

func (c *Config) maxBytes() int64 { return int64(c.MaxRequestSizeMiB) << 20 }
