package classify

import "strings"

// servers maps the names of the known servers, folded, to their families (R53).
var servers = map[string]Family{
	"amazon_sp_mcp":  FamilySP,
	"amazon_ads_mcp": FamilyAds,
	"openbridge_mcp": FamilyOpenbridge,
}

// NameServer gives the name under which a server is stored, and its family. The
// known three are stored in one spelling, however they are spelt; any other name
// stays as it is.
func NameServer(name string) (stored string, family Family) {
	folded := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_")
	if family, ok := servers[folded]; ok {
		return folded, family
	}
	return name, FamilyUnknown
}
