package soakgatereceiver

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/config/configgrpc"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

// formatProtobuf and formatJSON are the formats in the Collector's telemetry.
const (
	formatProtobuf = "protobuf"
	formatJSON     = "json"
)

func (s *server) serveGRPC(ctx context.Context, config configgrpc.ServerConfig, host component.Host) error {
	obs, err := s.observer(transportGRPC)
	if err != nil {
		return err
	}
	config.MaxRecvMsgSizeMiB = s.config.MaxRequestSizeMiB
	server, err := config.ToServer(ctx, host.GetExtensions(), s.set.TelemetrySettings,
		configgrpc.WithGrpcServerOption(grpc.ForceServerCodecV2(codec{})))
	if err != nil {
		return err
	}
	for i := range s.signals {
		server.RegisterService(s.serviceOf(&s.signals[i], obs), nil)
	}
	listener, err := config.NetAddr.Listen(ctx)
	if err != nil {
		return err
	}
	s.grpc, s.grpcAddress = server, listener.Addr().String()
	s.set.Logger.Info("Receiving OTLP over gRPC", zap.String("endpoint", s.grpcAddress))
	s.serving.Go(func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
	return nil
}

// serviceOf describes the signal's service with Export as a stream of one answer,
// which is the same on the wire as a unary method. Only so does our code learn of
// a request that the library refuses for its size, and can count it.
func (s *server) serviceOf(sig *signal, obs *receiverhelper.ObsReport) *grpc.ServiceDesc {
	return &grpc.ServiceDesc{
		ServiceName: sig.service,
		Streams: []grpc.StreamDesc{{
			StreamName:    "Export",
			ServerStreams: true,
			Handler: func(_ any, stream grpc.ServerStream) error {
				return s.stream(stream, sig, obs)
			},
		}},
	}
}

func (s *server) stream(stream grpc.ServerStream, sig *signal, obs *receiverhelper.ObsReport) error {
	ctx := stream.Context()
	var m message
	if err := stream.RecvMsg(&m); err != nil {
		s.unreceived(ctx, err)
		return err
	}
	r := sig.request()
	err := r.UnmarshalProto(m.buffer.ReadOnlyData())
	m.buffer.Free() // pdata has copied all it keeps
	if err != nil {
		s.metrics.refused(ctx, transportGRPC, reasonUndecodable)
		return status.Error(codes.InvalidArgument, "the request is not OTLP: "+err.Error())
	}
	a, err := s.export(ctx, sig, r, obs, transportGRPC, formatProtobuf)
	if err != nil {
		return statusOf(err).Err()
	}
	return stream.SendMsg(a)
}

// unreceived counts a request that the library has refused. Its answer is on the
// way already, and says the limit in bytes but not what to do.
func (s *server) unreceived(ctx context.Context, err error) {
	switch status.Code(err) {
	case codes.ResourceExhausted:
		s.metrics.refused(ctx, transportGRPC, reasonTooLarge)
		s.warnTooLarge.Do(func() {
			s.set.Logger.Warn("A request over gRPC was refused for its size; further ones are only counted", zap.String("remedy", s.tooLarge().Message()))
		})
	case codes.Canceled, codes.DeadlineExceeded: // the sender went away
	default:
		s.metrics.refused(ctx, transportGRPC, reasonOther)
	}
}

// message is a request as it came, decompressed.
type message struct{ buffer mem.Buffer }

// messages are buffers for whole messages. gRPC's own pool takes a megabyte for
// a message of 300 KB and clears it first.
var messages messagePool

type messagePool struct{ buffers sync.Pool }

func (p *messagePool) Get(length int) *[]byte {
	if b, ok := p.buffers.Get().(*[]byte); ok && cap(*b) >= length {
		*b = (*b)[:length]
		return b
	}
	b := make([]byte, length)
	return &b
}

func (p *messagePool) Put(b *[]byte) { p.buffers.Put(b) }

// codec hands messages through to pdata.
type codec struct{}

// Name is the content subtype that OTLP senders use.
func (codec) Name() string { return "proto" }

// Unmarshal keeps a request's bytes for pdata.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(*message)
	if !ok {
		return fmt.Errorf("receive a gRPC message into %T", v)
	}
	m.buffer = data.MaterializeToBuffer(&messages)
	return nil
}

// Marshal encodes an answer.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	a, ok := v.(answer)
	if !ok {
		return nil, fmt.Errorf("encode %T as a gRPC message, which is no export response", v)
	}
	text, err := a.MarshalProto()
	if err != nil {
		return nil, err
	}
	return mem.BufferSlice{mem.SliceBuffer(text)}, nil
}

var _ encoding.CodecV2 = codec{}
