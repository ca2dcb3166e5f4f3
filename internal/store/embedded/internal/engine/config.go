package engine

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/soakgate/soakgate/internal/store/embedded/internal/statement"
)

// Limits bound what the engine keeps in memory, in bytes.
type Limits struct {
	// Memory is for everything together; a query that would pass it fails.
	Memory int64
	// MarkCache, UncompressedCache and IndexCache are parts of it.
	MarkCache, UncompressedCache, IndexCache int64
}

// queryShare is the part of the memory that one query may take, in percent: a
// single large SELECT must leave room for the inserts.
const queryShare = 75

// DisplayName is the engine's name for itself, as displayName() gives it.
const DisplayName = "soakgate"

// configFolder holds the engine's own configuration inside the data folder. It
// is written at every start: what counts is what the program was told.
const configFolder = "soakgate"

//go:embed config.xml.tmpl
var configTemplate string

//go:embed users.xml.tmpl
var usersTemplate string

// templateData fills both files.
type templateData struct {
	Limits
	QueryMemory      int64
	UsersFile        string
	DisplayName      string
	TableEngines     []string
	ConstantSettings []string
}

// writeConfig writes the engine's two configuration files and returns the first
// one's path. The engine would otherwise look for a config.xml in the working
// directory and in the home folder, and open with whatever is there.
func writeConfig(path string, limits Limits) (string, error) {
	dir := filepath.Join(path, configFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the configuration folder of the embedded ClickHouse: %w", err)
	}
	config, users := filepath.Join(dir, "config.xml"), filepath.Join(dir, "users.xml")
	data := templateData{
		Limits:           limits,
		QueryMemory:      limits.Memory / 100 * queryShare,
		UsersFile:        users,
		DisplayName:      DisplayName,
		TableEngines:     strings.Fields(statement.TableEngines),
		ConstantSettings: statement.RefusedSettings(),
	}
	for file, text := range map[string]string{config: configTemplate, users: usersTemplate} {
		t, err := template.New(filepath.Base(file)).Funcs(template.FuncMap{"xml": escape}).Parse(text)
		if err != nil {
			return "", fmt.Errorf("read the template of %s: %w", file, err)
		}
		var out bytes.Buffer
		if err := t.Execute(&out, data); err != nil {
			return "", fmt.Errorf("fill the template of %s: %w", file, err)
		}
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			return "", fmt.Errorf("write the configuration of the embedded ClickHouse: %w", err)
		}
	}
	return config, nil
}

func escape(s string) (string, error) {
	var b strings.Builder
	err := xml.EscapeText(&b, []byte(s))
	return b.String(), err
}
