package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
)

// The events of the records that the sender sends.
const (
	sentCall  = "mcp.tool_call"
	sentError = "mcp.error_envelope"
	sentMeta  = "mcp.response_meta"
)

const (
	crashEnvelope = `{"error_kind":"internal_error","tool":"t","summary":"s","details":[],"hints":[],"examples":[],"error_code":"INTERNAL_ERROR","retryable":false,"_envelope_version":1}`
	crashBroken   = `{"error_kind":"internal_error","tool":"t","summary":"s","details":[],"hints":[],"examples":[],"error_code":"INTERNAL_ERROR","retryable":"no","_envelope_version":1}`
	crashMeta     = `{"_meta":{"normalized":[{"kind":"renamed","from":"a","to":"b"},{"kind":"coerced","field":"b","from_type":"str","to_type":"list"}],` +
		`"rate_limit":{"remaining":3},"warnings":[{"kind":"upstream_warning","summary":"s","details":[],"hints":[]}]}}`
)

// sentRecord is what the sender knows of one record.
type sentRecord struct {
	call   string // session id, which names the call
	event  string
	broken bool // an envelope that breaks the contract
}

// sender sends small requests over OTLP/HTTP until it is told to stop, and
// counts what was acknowledged. A request without an acknowledgement is sent
// again, byte for byte, or given up: its records may be stored, once.
type sender struct {
	endpoint string
	client   *http.Client

	mu           sync.Mutex
	sent         map[sentRecord]bool // whether it was acknowledged
	acknowledged int                 // requests
	again        int                 // requests acknowledged after a failed try
	givenUp      int                 // requests
}

func newSender(address string) *sender {
	return &sender{
		endpoint: "http://" + address + "/v1/logs",
		client:   &http.Client{Timeout: 10 * time.Second},
		sent:     make(map[sentRecord]bool),
	}
}

// run sends with several workers until the context ends; then each worker's
// last request is still seen through.
func (s *sender) run(ctx context.Context, workers int, seed uint64, pause time.Duration) {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(w)+1))
			var records []sentRecord
			for n := 0; ctx.Err() == nil; n++ {
				var body []byte
				body, records = crashRequest(random, w, n, records)
				s.deliver(ctx, random, body, records)
				time.Sleep(time.Duration(random.Int64N(int64(2 * pause))))
			}
		})
	}
	wg.Wait()
}

// deliver sends one request until it is acknowledged or given up.
func (s *sender) deliver(ctx context.Context, random *rand.Rand, body []byte, records []sentRecord) {
	s.note(records, false)
	for try := 0; ; try++ {
		if s.post(body) == nil {
			s.note(records, true)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.acknowledged++
			if try > 0 {
				s.again++
			}
			return
		}
		if random.IntN(20) == 0 || ctx.Err() != nil && try > 100 {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.givenUp++
			return
		}
		time.Sleep(time.Duration(10+random.Int64N(40)) * time.Millisecond)
	}
}

func (s *sender) note(records []sentRecord, acknowledged bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range records {
		s.sent[r] = acknowledged
	}
}

func (s *sender) post(body []byte) error {
	answer, err := s.client.Post(s.endpoint, "application/x-protobuf", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", answer.Status)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(answer.Body); err != nil {
		return err
	}
	response := plogotlp.NewExportResponse()
	if err := response.UnmarshalProto(text.Bytes()); err != nil {
		return err
	}
	if n := response.PartialSuccess().RejectedLogRecords(); n != 0 {
		return fmt.Errorf("%d records were refused: %s", n, response.PartialSuccess().ErrorMessage())
	}
	return nil
}

// crashRequest is one request of a few records: calls, failures, answers with
// _meta, and failures of calls that the request before told of.
func crashRequest(random *rand.Rand, worker, n int, before []sentRecord) ([]byte, []sentRecord) {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "amazon_sp_mcp")
	resource.Resource().Attributes().PutStr("service.instance.id", fmt.Sprint("w", worker))
	out := resource.ScopeLogs().AppendEmpty().LogRecords()
	var records []sentRecord
	add := func(call, event, body string) {
		l := out.AppendEmpty()
		l.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
		l.SetEventName(event)
		l.Attributes().PutStr("gen_ai.tool.name", fmt.Sprint("tool_", worker%3))
		l.Attributes().PutStr("mcp.session.id", call)
		l.Attributes().PutStr("jsonrpc.request.id", "1")
		if body != "" {
			l.Body().SetStr(body)
		}
		records = append(records, sentRecord{call: call, event: event, broken: body == crashBroken})
	}
	for _, r := range before {
		if r.event == sentCall && random.IntN(3) == 0 {
			add(r.call, sentError, crashEnvelope)
		}
	}
	for i := range 1 + random.IntN(12) {
		call := fmt.Sprintf("w%d-%d-%d", worker, n, i)
		switch random.IntN(5) {
		case 0:
			add(call, sentError, crashEnvelope)
		case 1:
			add(call, sentError, crashBroken)
		case 2:
			add(call, sentMeta, crashMeta)
		default:
			add(call, sentCall, "")
		}
	}
	body, err := plogotlp.NewExportRequestFromLogs(logs).MarshalProto()
	if err != nil {
		panic(err) // a request that we made ourselves
	}
	return body, records
}
