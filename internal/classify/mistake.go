package classify

// Mistake says whose mistake a failed call was. The empty value: nobody's, or
// not told.
type Mistake string

// The parties to a call.
const (
	MistakeNone     Mistake = ""
	MistakeCaller   Mistake = "caller"   // the agent sent what it must not
	MistakeServer   Mistake = "server"   // the MCP server broke
	MistakeUpstream Mistake = "upstream" // the API behind the server failed or refused
)

// mistakes has one row a kind of the taxonomy (R40 to R49).
var mistakes = map[string]Mistake{
	"mcp_input_validation": MistakeCaller,
	"tool_not_found":       MistakeCaller,
	"auth_error":           MistakeCaller,
	"sandbox_runtime":      MistakeCaller,
	"sp_api_http":          MistakeUpstream,
	"ads_api_http":         MistakeUpstream,
	"rate_limited":         MistakeUpstream,
	"sp_api_client":        MistakeServer,
	"ads_api_client":       MistakeServer,
	"internal_error":       MistakeServer,
}

// errorTypes has one row a value of error.type that is not the server's fault:
// the JSON-RPC codes of malformed requests and unknown methods, tools and
// resources, and refusals by HTTP before any answer.
var errorTypes = map[string]Mistake{
	"-32700": MistakeCaller, "-32600": MistakeCaller, "-32601": MistakeCaller,
	"-32602": MistakeCaller, "-32002": MistakeCaller,
	"400": MistakeCaller, "401": MistakeCaller, "403": MistakeCaller, "404": MistakeCaller,
	"429": MistakeUpstream,
}

// Mistake tells whose mistake a failed call was: by the envelope's kind, else
// by error.type or the JSON-RPC code, else the server's.
func (r *Record) Mistake() Mistake {
	if r.Failed() != OutcomeError {
		return MistakeNone
	}
	if r.ErrorKind.Set {
		if m, ok := mistakes[r.ErrorKind.Value]; ok {
			return m
		}
		return MistakeServer
	}
	for _, code := range []string{r.ErrorType, r.StatusCode} {
		if m, ok := errorTypes[code]; ok {
			return m
		}
	}
	return MistakeServer
}
