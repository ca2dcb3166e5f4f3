package statement

import "strings"

// judge applies every rule to a statement's tokens, the verb first.
func judge(tokens []token) error {
	if err := judgeVerb(tokens); err != nil {
		return err
	}
	return judgeTokens(tokens)
}

// verbs says for each first word of a statement what it may be followed by:
// nil is anything, else one of the object words.
var verbs = map[string]map[string]bool{
	"select": nil, "with": nil, "insert": nil, "explain": nil, "describe": nil, "desc": nil,
	"show": nil, "exists": nil, "check": set("table all"), "optimize": nil, "truncate": nil, "delete": nil, "update": nil,
	"kill":     set("query mutation"),
	"create":   set("table view materialized database"),
	"drop":     set("table view database"),
	"undrop":   set("table"),
	"alter":    set("table"),
	"rename":   set("table"),
	"exchange": set("tables"),
	"system":   set("flush merges start stop wait sync"),
}

// refusedVerbs are known statements that are refused, each with its reason.
var refusedVerbs = map[string]string{
	"set":      "SET would change the session, and there is none: give settings with the request, as URL parameters or in a SETTINGS clause",
	"use":      "USE would change the session, and there is none: name the database in the request (`database=`) or before the table",
	"attach":   "ATTACH takes data from a path; use CREATE",
	"detach":   "DETACH hides a table until a restart; use DROP or RENAME",
	"backup":   "BACKUP writes outside the store; stop the collector and copy the data folder",
	"restore":  "RESTORE reads from outside the store",
	"grant":    "there are no users here; run a ClickHouse server where access must be managed",
	"revoke":   "there are no users here; run a ClickHouse server where access must be managed",
	"begin":    "there are no transactions over this interface",
	"commit":   "there are no transactions over this interface",
	"rollback": "there are no transactions over this interface",
	"execute":  "EXECUTE AS changes the user, and there is one",
	"watch":    "WATCH needs a session, and there is none",
	"copy":     "COPY writes or reads files",
	"move":     "access entities are not managed here",
	"snapshot": "SNAPSHOT writes outside the store",
	"parallel": "it runs several statements; send one a request",
}

// modifiers may stand between a verb and its object.
var modifiers = set("or replace if not exists temporary")

// judgeVerb looks at what the statement is and acts on.
func judgeVerb(tokens []token) error {
	i := 0
	for i < len(tokens) && tokens[i].symbol("(") {
		i++
	}
	if i == len(tokens) || tokens[i].kind != kindWord {
		return nil // no SQL: the engine names the place of the syntax error
	}
	verb := strings.ToLower(tokens[i].text)
	if reason, ok := refusedVerbs[verb]; ok {
		return refuse(reason)
	}
	objects, known := verbs[verb]
	if !known {
		return nil // not a verb of ClickHouse: likewise
	}
	object := ""
	for i++; i < len(tokens) && objects != nil; i++ {
		t := tokens[i]
		word := strings.ToLower(t.text)
		if t.kind == kindWord && modifiers[word] {
			if word == "temporary" {
				return refuse("a temporary table ends with its session, and each request is its own session")
			}
			continue
		}
		if t.kind != kindWord || !objects[word] {
			return refuse(strings.ToUpper(verb) + " " + strings.ToUpper(t.text) + " is not among the statements that it runs")
		}
		object = word
		break
	}
	switch verb {
	case "create", "alter":
		return judgeEngines(tokens, object == "database")
	case "drop", "truncate", "rename":
		return judgeDatabase(tokens)
	}
	return nil
}

// judgeEngines allows only table and database engines that store here. An
// ENGINE clause stands outside brackets and before "AS SELECT"; what is
// elsewhere is a column of that name.
func judgeEngines(tokens []token, database bool) error {
	allowed := AllowedTableEngines
	if database {
		allowed = AllowedDatabaseEngines
	}
	depth := 0
	for i, t := range tokens {
		switch {
		case t.symbol("("):
			depth++
		case t.symbol(")"):
			depth--
		case depth == 0 && t.is("AS") && i+1 < len(tokens) && (tokens[i+1].is("SELECT") || tokens[i+1].is("WITH") || tokens[i+1].symbol("(")):
			return nil
		case depth == 0 && t.is("ENGINE") && i+1 < len(tokens):
			next := tokens[i+1]
			if next.symbol("=") && i+2 < len(tokens) {
				next = tokens[i+2]
			}
			if next.name() && !allowed[strings.ToLower(next.text)] {
				return refuse("the engine " + next.text + " keeps its data elsewhere, or is not among those that it runs")
			}
		}
	}
	return nil
}

// judgeDatabase keeps the engine's own databases.
func judgeDatabase(tokens []token) error {
	for i, t := range tokens {
		if !t.is("DATABASE") {
			continue
		}
		for _, n := range tokens[i+1:] {
			if n.name() && keptDatabases[strings.ToLower(n.text)] {
				return refuse("the database " + n.text + " is the engine's own")
			}
		}
	}
	return nil
}
