package statement

import "strings"

// judgeTokens applies the rules that hold anywhere in a statement.
func judgeTokens(tokens []token) error {
	at := func(i int) token {
		if i < 0 || i >= len(tokens) {
			return token{}
		}
		return tokens[i]
	}
	for i, t := range tokens {
		if !t.name() {
			continue
		}
		word := strings.ToLower(t.text)
		called := at(i + 1).symbol("(")
		qualified := at(i - 1).symbol(".")
		switch {
		case fileFunctions[word] && (called || !qualified):
			return refuse("`" + t.text + "` is a function that reads files or calls out, and may be handed on by its bare name; for a column of that name write table.column")
		case called && !qualified && RefusedTableFunctions[word]:
			return refuse("the function " + t.text + "() reaches outside the store or takes code from a string")
		case called && otherFunctions[word]:
			return refuse("the function " + t.text + "() reaches outside the store")
		case called && word == "format" && !scalarFormat(at(i+2), at(i+3)):
			return refuse("format() takes a pattern with {} as a plain string here; the table function of that name evaluates code in a string")
		case called && structured[word]:
			if err := judgeStructure(tokens[i+1:]); err != nil {
				return err
			}
		case refusedSettings[word]:
			return refuse("the setting " + t.text + " names a file or a host, or switches on what is refused")
		case t.is("FORMAT") && at(i+1).name() && RefusedFormat(at(i+1).text):
			return refuse("the format " + at(i+1).text + " reads a schema from a file or a registry")
		case t.is("OUTFILE") && at(i-1).is("INTO") && at(i+1).kind == kindString:
			return refuse("INTO OUTFILE writes a file; take the answer of the request")
		case t.is("INFILE") && at(i-1).is("FROM") && at(i+1).kind == kindString:
			return refuse("FROM INFILE reads a file; send the rows with the request")
		case t.is("FUNCTION") && (at(i-1).is("INTO") || at(i-2).is("INTO")):
			return refuse("INSERT INTO FUNCTION writes outside the store")
		case t.is("PARALLEL") && at(i+1).is("WITH"):
			return refuse("it holds several statements; send one a request")
		case t.is("SECURITY") && at(i-1).is("SQL") && at(i+1).is("NONE"):
			return refuse("SQL SECURITY NONE would run a view without the grants")
		}
	}
	return nil
}

// scalarFormat tells format('{} of {}', a, b) from the table function, whose
// first argument is the name of a format.
func scalarFormat(first, second token) bool {
	return first.kind == kindString && strings.Contains(first.text, "{") && (second.symbol(",") || second.symbol(")"))
}

// judgeStructure refuses default expressions in the structure that a table
// function takes as its first argument; from is at the call's opening bracket.
func judgeStructure(from []token) error {
	if len(from) < 2 {
		return nil
	}
	first := from[1]
	if first.kind == kindWord {
		return refuse("the first argument of a table function must be a plain literal here, since a structure is code")
	}
	if first.kind != kindString {
		return nil
	}
	if len(from) > 2 && !from[2].symbol(",") && !from[2].symbol(")") {
		return refuse("the first argument of a table function must be a plain literal here, since a structure is code")
	}
	upper := strings.ToUpper(first.text)
	for _, word := range []string{"DEFAULT", "MATERIALIZED", "ALIAS", "EPHEMERAL"} {
		if strings.Contains(upper, word) {
			return refuse("the structure given to a table function holds " + word + ", which would be code in a string")
		}
	}
	return nil
}
