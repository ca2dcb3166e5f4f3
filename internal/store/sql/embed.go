// Package sql holds the project's SQL statements, one a file, named for what
// they do. It owns their texts and how a name is filled into them; it runs none.
package sql

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"text/template"
)

//go:embed migrations/*.sql seal/*.sql hours/*.sql from/*.sql read/*.sql panels/*.sql alerts/*.sql
var files embed.FS

// Statement is one SQL file, ready to be filled in.
type Statement struct {
	Name string // the file's name without its ending
	tmpl *template.Template
}

// Folder reads all statements of a folder, in the order of their names.
func Folder(name string) ([]Statement, error) {
	names, err := fs.Glob(files, name+"/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list the statements of %s: %w", name, err)
	}
	statements := make([]Statement, 0, len(names))
	for _, file := range names {
		text, err := files.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read statement %s: %w", file, err)
		}
		tmpl, err := template.New(file).Option("missingkey=error").Parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("parse statement %s: %w", file, err)
		}
		statements = append(statements, Statement{Name: strings.TrimSuffix(path.Base(file), ".sql"), tmpl: tmpl})
	}
	return statements, nil
}

// Named reads one statement.
func Named(folder, name string) (Statement, error) {
	statements, err := Folder(folder)
	if err != nil {
		return Statement{}, err
	}
	for _, st := range statements {
		if st.Name == name {
			return st, nil
		}
	}
	return Statement{}, fmt.Errorf("there is no statement %s in %s", name, folder)
}

// Fill gives the statement's text with the values filled in. Values are names
// and literals that the program makes, never text from a sender.
func (s Statement) Fill(values map[string]string) (string, error) {
	var b strings.Builder
	if err := s.tmpl.Execute(&b, values); err != nil {
		return "", fmt.Errorf("fill statement %s: %w", s.Name, err)
	}
	return b.String(), nil
}
