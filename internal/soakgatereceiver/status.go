package soakgatereceiver

import (
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// comeBack is the pause that a sender is asked for when the component that
// refused its data names none, as memory_limiter does not.
const comeBack = 2 * time.Second

// statusOf is the pipeline's refusal as OTLP tells it: a permanent error is not
// to be sent again, and every other one is, with a time to come back (U09).
func statusOf(err error) *status.Status {
	st, ok := status.FromError(err)
	switch {
	case !ok && consumererror.IsPermanent(err):
		return status.New(codes.Internal, err.Error())
	case !ok:
		st = status.New(codes.Unavailable, err.Error())
	}
	if !throttles(st.Code()) || retryDelay(st) > 0 {
		return st
	}
	if with, err := st.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(comeBack)}); err == nil {
		return with
	}
	return st
}

func throttles(c codes.Code) bool { return c == codes.Unavailable || c == codes.ResourceExhausted }

// retryDelay is the pause that a status asks for, 0 when it names none.
func retryDelay(st *status.Status) time.Duration {
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

// httpCode is the HTTP status for a gRPC code. OTLP's senders try again after
// 429, 502, 503 and 504 only.
func httpCode(c codes.Code) int {
	switch c {
	case codes.ResourceExhausted:
		return http.StatusTooManyRequests
	case codes.InvalidArgument:
		return http.StatusBadRequest
	case codes.Unauthenticated:
		return http.StatusUnauthorized
	case codes.PermissionDenied:
		return http.StatusForbidden
	case codes.Unimplemented:
		return http.StatusNotFound
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded, codes.Aborted, codes.OutOfRange, codes.DataLoss:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// grpcCode is the gRPC code in the body of an HTTP answer.
func grpcCode(httpStatus int) codes.Code {
	switch httpStatus {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType:
		return codes.InvalidArgument
	case http.StatusRequestEntityTooLarge:
		return codes.ResourceExhausted
	case http.StatusUnauthorized:
		return codes.Unauthenticated
	case http.StatusForbidden:
		return codes.PermissionDenied
	}
	return codes.Unknown
}

// tooLarge tells a sender that its request is refused for good, and what to
// change. It carries no RetryInfo: the same request would be refused again.
func (s *server) tooLarge() *status.Status {
	return status.New(codes.ResourceExhausted, fmt.Sprintf(
		"the request is larger than %d MiB after decompression: send fewer records in one request, or raise the soakgate receiver's max_request_size_mib",
		s.config.MaxRequestSizeMiB))
}
