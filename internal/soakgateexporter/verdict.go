package soakgateexporter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/soakgate/soakgate/config"
	"github.com/soakgate/soakgate/internal/soak"
	"github.com/soakgate/soakgate/internal/soak/policy"
)

// SoakConfig is the serving of the verdict as metrics.
type SoakConfig struct {
	// Interval is the time between verdicts. 0: none is computed here.
	Interval time.Duration `mapstructure:"interval"`
	// Policy is the policy file. Empty: the built-in config/soak-policy.yaml.
	Policy string `mapstructure:"policy"`
}

// minSoakInterval bounds what verdicts cost the store.
const minSoakInterval = 10 * time.Second

func (c *SoakConfig) validate() error {
	if c.Interval != 0 && c.Interval < minSoakInterval {
		return fmt.Errorf("soak::interval is %s: it must be 0 (off) or at least %s", c.Interval, minSoakInterval)
	}
	if _, err := c.policy(); err != nil {
		return fmt.Errorf("soak::policy: %w", err)
	}
	return nil
}

func (c *SoakConfig) policy() (policy.Policy, error) {
	text := config.SoakPolicy
	if c.Policy != "" {
		var err error
		if text, err = os.ReadFile(c.Policy); err != nil {
			return policy.Policy{}, err
		}
	}
	return policy.Parse(text)
}

// verdicts keeps the newest verdict for whoever collects metrics.
type verdicts struct{ newest atomic.Pointer[soak.Verdict] }

// judge computes a verdict at each interval until the context ends. A store
// that cannot be asked gives the verdict "could not tell", not an old one.
func (i *instance) judge(ctx context.Context) {
	p, err := i.config.Soak.policy()
	if err != nil {
		i.set.Logger.Error("No verdict is served: the policy cannot be read", zap.Error(err))
		return
	}
	last := ""
	for {
		at := soak.AsOf{At: time.Now().UTC()}
		figures, _, err := i.store.Figures(ctx, p, at, soak.Registers{})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			figures = soak.Unread(at, err)
			if err.Error() != last {
				i.set.Logger.Warn("The figures of the soak could not be read", zap.Error(err))
			}
			last = err.Error()
		} else {
			last = ""
		}
		verdict := soak.Judge(p, figures, at)
		i.verdicts.newest.Store(&verdict)
		if !pause(ctx, i.config.Soak.Interval) {
			return
		}
	}
}

// observeVerdict reads the newest verdict whenever metrics are collected. The
// labels are the policy's servers and the gates: closed sets both.
func (m *metrics) observeVerdict(meter metric.Meter, v *verdicts) error {
	gate, err1 := meter.Int64ObservableGauge("soakgate_soak_gate", metric.WithDescription("State of a gate: 1 pass, 2 waived, 0 hold, -1 block, -2 unknown."))
	decision, err2 := meter.Int64ObservableGauge("soakgate_soak_verdict", metric.WithDescription("The verdict: 1 FLIP, 0 HOLD, -1 BLOCK, -2 could not tell."))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	var err error
	m.verdict, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		newest := v.newest.Load()
		if newest == nil {
			return nil
		}
		o.ObserveInt64(decision, int64(newest.Decision.Number()))
		for _, g := range newest.Gates {
			o.ObserveInt64(gate, int64(g.State.Number()), metric.WithAttributes(
				attribute.String("server", g.Server), attribute.String("gate", string(g.Gate))))
		}
		return nil
	}, gate, decision)
	return err
}
