package httpface

import (
	"errors"
	"io"
	"net/http"
	"regexp"
	"strconv"

	"github.com/soakgate/soakgate/internal/store/embedded/internal/chdb"
	"github.com/soakgate/soakgate/internal/store/embedded/internal/statement"
)

// Codes of ClickHouse that this side gives itself.
const (
	codeBadArguments     = 36
	codeNotImplemented   = 48
	codeSyntaxError      = 62
	codeQueryTooLarge    = 229
	codeCannotDecompress = 271
	codeCancelled        = 394
	codeTooManyBytes     = 396
	codeAccessDenied     = 497
	codeStdException     = 1001
	codeNetwork          = 210
	codeReadOnly         = 164
)

// names are the symbolic names of those codes.
var names = map[int]string{
	codeBadArguments: "BAD_ARGUMENTS", codeNotImplemented: "NOT_IMPLEMENTED", codeSyntaxError: "SYNTAX_ERROR",
	codeQueryTooLarge: "QUERY_IS_TOO_LARGE", codeCannotDecompress: "CANNOT_DECOMPRESS", codeCancelled: "QUERY_WAS_CANCELLED",
	codeTooManyBytes: "TOO_MANY_ROWS_OR_BYTES", codeAccessDenied: "ACCESS_DENIED", codeStdException: "STD_EXCEPTION",
	codeNetwork: "NETWORK_ERROR", codeReadOnly: "READONLY",
}

// exception is an error of this side, told in ClickHouse's form.
type exception struct {
	code int
	text string
}

// Error is the text as ClickHouse would word it, which clients take apart.
func (e *exception) Error() string {
	return "Code: " + strconv.Itoa(e.code) + ". DB::Exception: " + e.text + ". (" + names[e.code] + ")"
}

// engineCode finds the code in the engine's text.
var engineCode = regexp.MustCompile(`Code: (\d+)\.`)

// describe turns any error into code and text.
func describe(err error) (int, string) {
	var (
		own     *exception
		engine  *chdb.Error
		refusal *statement.Refusal
		syntax  *statement.SyntaxError
	)
	switch {
	case errors.As(err, &own):
		return own.code, own.Error()
	case errors.As(err, &engine):
		if m := engineCode.FindStringSubmatch(engine.Text); m != nil {
			if code, err := strconv.Atoi(m[1]); err == nil {
				return code, engine.Text
			}
		}
		return describe(&exception{code: codeStdException, text: engine.Text})
	case errors.As(err, &refusal):
		return describe(&exception{code: codeAccessDenied, text: refusal.Error()})
	case errors.As(err, &syntax):
		return describe(&exception{code: codeSyntaxError, text: syntax.Error()})
	default:
		return describe(&exception{code: codeStdException, text: err.Error()})
	}
}

// statuses are ClickHouse's HTTP statuses by exception code; the rest is 500.
var statuses = func() map[int]int {
	m := map[int]int{
		codeNotImplemented: http.StatusNotImplemented, codeQueryTooLarge: http.StatusRequestEntityTooLarge,
		159: http.StatusRequestTimeout, 194: http.StatusUnauthorized, 381: http.StatusLengthRequired, 779: http.StatusUnsupportedMediaType,
	}
	for status, codes := range map[int][]int{
		http.StatusForbidden: {192, 193, codeAccessDenied, 512, 516},
		http.StatusBadRequest: {
			6, 8, 15, 25, 26, 27, codeBadArguments, 37, 38, 41, 44, 53, codeSyntaxError, 72, 117, 123,
			167, 168, 223, 321, 376, 427, 441, 675, 676,
		},
		http.StatusNotFound:           {46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511},
		http.StatusServiceUnavailable: {76, 209, 439},
	} {
		for _, code := range codes {
			m[code] = status
		}
	}
	return m
}()

// status is the HTTP status of an exception code.
func status(code int) int {
	if s, ok := statuses[code]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// isEnd tells a clean end from a body that was cut off.
func isEnd(err error) bool { return errors.Is(err, io.EOF) }
