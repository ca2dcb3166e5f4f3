// Command loadgen sends pre-generated OTLP log requests over loopback and
// reports how many records the receiver acknowledged and how fast.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/soakgate/soakgate/bench/loadgen/gen"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// raw is a codec that sends marshalled bytes as they are.
type raw struct{}

func (raw) Name() string                  { return "proto" }
func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (raw) Unmarshal(b []byte, v any) error {
	*v.(*[]byte) = slices.Clone(b)
	return nil
}

// errRetry marks an answer after which the sender may send the same again.
var errRetry = errors.New("retryable")

// send sends one request and returns the records that the receiver rejected.
type send func(ctx context.Context, wire []byte) (rejected int64, err error)

func grpcSender(addr string) (send, error) {
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{})))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, wire []byte) (int64, error) {
		var out []byte
		err := conn.Invoke(ctx, "/opentelemetry.proto.collector.logs.v1.LogsService/Export", &wire, &out)
		if err != nil {
			switch status.Code(err) {
			case codes.Unavailable, codes.ResourceExhausted, codes.Aborted:
				return 0, fmt.Errorf("%w: %v", errRetry, err)
			}
			return 0, err
		}
		return rejected(out)
	}, nil
}

func httpSender(addr string, streams int) send {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams, WriteBufferSize: 64 << 10}}
	return func(ctx context.Context, wire []byte) (int64, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/v1/logs", bytes.NewReader(wire))
		if err != nil {
			return 0, err
		}
		req.Header.Set("Content-Type", "application/x-protobuf")
		resp, err := client.Do(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		switch {
		case err != nil:
			return 0, err
		case resp.StatusCode == 429 || resp.StatusCode >= 502 && resp.StatusCode <= 504:
			return 0, fmt.Errorf("%w: %s", errRetry, resp.Status)
		case resp.StatusCode != 200:
			return 0, fmt.Errorf("%s: %.200s", resp.Status, body)
		}
		return rejected(body)
	}
}

func rejected(resp []byte) (int64, error) {
	if len(resp) == 0 {
		return 0, nil
	}
	r := plogotlp.NewExportResponse()
	if err := r.UnmarshalProto(resp); err != nil {
		return 0, err
	}
	return r.PartialSuccess().RejectedLogRecords(), nil
}

type result struct {
	Acked      int64      `json:"acked_records"`
	Rejected   int64      `json:"rejected_records"`
	Requests   int64      `json:"acked_requests"`
	Errors     int64      `json:"failed_requests"`
	Retries    int64      `json:"retries"`
	Started    int64      `json:"started_unix_ns"`
	Seconds    float64    `json:"seconds"`
	PerSecond  float64    `json:"records_per_second"`
	P50        float64    `json:"p50_ms"`
	P99        float64    `json:"p99_ms"`
	Max        float64    `json:"max_ms"`
	CPU        float64    `json:"loadgen_cpu_seconds"`
	BodyMean   float64    `json:"body_bytes_mean"`
	WireMean   float64    `json:"wire_bytes_per_record"`
	AckedKinds gen.Counts `json:"acked"`
	FirstError string     `json:"first_error,omitempty"`
}

func main() {
	o := gen.Defaults()
	addr := flag.String("addr", "127.0.0.1:4317", "receiver, a loopback address")
	useHTTP := flag.Bool("http", false, "OTLP/HTTP protobuf, not gRPC")
	streams := flag.Int("c", 4, "requests in flight")
	total := flag.Int64("total-records", 1_000_000, "stop after this many records (rounded up to whole requests)")
	limit := flag.Duration("duration", 25*time.Second, "stop sending after this time")
	rate := flag.Float64("rate", 0, "records/s to offer; 0: as fast as possible")
	timeout := flag.Duration("timeout", 20*time.Second, "limit of one request, its retries included")
	flag.IntVar(&o.Batch, "batch", o.Batch, "records in a request")
	flag.IntVar(&o.Payloads, "payloads", o.Payloads, "distinct requests")
	flag.Uint64Var(&o.Seed, "seed", o.Seed, "seed")
	flag.Float64Var(&o.Success, "success", o.Success, "share of _meta success events")
	flag.Float64Var(&o.Invalid, "invalid", o.Invalid, "share of invalid records")
	flag.BoolVar(&o.Structured, "structured", false, "body as a kvlist map, not a JSON string")
	dump := flag.Int("dump", 0, "print this many bodies and exit")
	flag.Parse()
	log.SetFlags(0)

	payloads, err := gen.Generate(o)
	if err != nil {
		log.Fatal(err)
	}
	if *dump > 0 {
		for i := range *dump {
			fmt.Printf("%s\n", payloads[i%len(payloads)].Bodies[i/len(payloads)])
		}
		return
	}
	if err := loopback(*addr); err != nil {
		log.Fatal(err)
	}
	requests := (*total + int64(o.Batch) - 1) / int64(o.Batch)
	var res result
	var mu sync.Mutex
	var lat []time.Duration
	var next atomic.Int64
	var retries atomic.Int64
	acked := make([]int64, len(payloads))
	var wg sync.WaitGroup
	start := time.Now()
	deadline := start.Add(*limit)
	for range *streams {
		do, err := grpcSender(*addr)
		if *useHTTP {
			do, err = httpSender(*addr, 1), nil
		}
		if err != nil {
			log.Fatal(err)
		}
		wg.Go(func() {
			var buf []byte
			var mine []time.Duration
			for {
				k := next.Add(1) - 1
				if k >= requests || time.Now().After(deadline) {
					break
				}
				if *rate > 0 {
					at := start.Add(time.Duration(float64(k) * float64(o.Batch) / *rate * float64(time.Second)))
					if at.After(deadline) {
						break
					}
					time.Sleep(time.Until(at))
				}
				i := int(k) % len(payloads)
				p := payloads[i]
				buf = append(buf[:0], p.Wire...)
				t := time.Now()
				p.Stamp(buf, uint64(k), t)
				rej, err := withRetry(do, buf, *timeout, &retries)
				took := time.Since(t)
				if err != nil {
					buf = nil // the transport may still hold it
				}
				mu.Lock()
				if err != nil {
					res.Errors++
					if res.FirstError == "" {
						res.FirstError = err.Error()
					}
				} else {
					acked[i]++
					res.Requests++
					res.Rejected += rej
				}
				mu.Unlock()
				mine = append(mine, took)
			}
			mu.Lock()
			lat = append(lat, mine...)
			mu.Unlock()
		})
	}
	wg.Wait()
	res.Started = start.UnixNano()
	res.Seconds = time.Since(start).Seconds()
	for i, n := range acked {
		res.AckedKinds.Add(payloads[i].Counts, n)
	}
	res.Retries = retries.Load()
	res.Acked = res.AckedKinds.Records - res.Rejected
	res.PerSecond = float64(res.Acked) / res.Seconds
	slices.Sort(lat)
	res.P50, res.P99, res.Max = quantile(lat, 0.5), quantile(lat, 0.99), quantile(lat, 1)
	if n := float64(res.AckedKinds.Records); n > 0 {
		res.BodyMean, res.WireMean = float64(res.AckedKinds.BodyBytes)/n, float64(res.AckedKinds.WireBytes)/n
	}
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) == nil {
		res.CPU = time.Duration(ru.Utime.Nano() + ru.Stime.Nano()).Seconds()
	}
	out, _ := json.Marshal(res)
	fmt.Println(string(out))
	if res.Errors > 0 {
		os.Exit(1)
	}
}

func withRetry(do send, wire []byte, timeout time.Duration, retries *atomic.Int64) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		rej, err := do(ctx, wire)
		if !errors.Is(err, errRetry) {
			return rej, err
		}
		retries.Add(1)
		select {
		case <-ctx.Done():
			return 0, err
		case <-time.After(wait):
		}
	}
}

func quantile(d []time.Duration, q float64) float64 {
	if len(d) == 0 {
		return 0
	}
	return float64(d[min(len(d)-1, int(q*float64(len(d))))].Microseconds()) / 1000
}

// loopback refuses any address that is not on this machine.
func loopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%s is not a loopback address", addr)
	}
	return nil
}
