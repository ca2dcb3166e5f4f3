package schemas

// Rule is one row of rules.json: what a finding of that id means, and what the
// author of a server does about it.
type Rule struct {
	ID       string   `json:"rule"`
	Severity string   `json:"severity"`
	Where    string   `json:"where"`
	From     []string `json:"from"`
	Meaning  string   `json:"meaning"`
	Fix      string   `json:"fix"`
	// Right and Wrong are files below examples: one payload that keeps the
	// rule, and one that breaks it, with the finding at the pointer At.
	Right string   `json:"right"`
	Wrong string   `json:"wrong"`
	At    string   `json:"at"`
	Show  []string `json:"show,omitempty"`
	// Declared is the server that the emitter must have declared for the rule
	// to apply, "" when it applies without.
	Declared string `json:"declared,omitempty"`
}

// LoadRules reads rules.json, in the order of the contract's catalogue.
func LoadRules() ([]Rule, error) {
	var file struct {
		Title       string `json:"title"`
		Description string `json:"description"`
		Rules       []Rule `json:"rules"`
	}
	return file.Rules, load("rules.json", &file)
}
