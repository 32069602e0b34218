package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/shell"

	"toolbench/reports"
	"toolbench/sim/cassette"
	"toolbench/sim/scenario"
	"toolbench/sim/world"
	"toolbench/toolsys/host"
	"toolbench/toolsys/mcptool"
)

// serverFlags name live MCP servers.
type serverFlags struct {
	commands, urls, configs []string
	grants                  string
	limit                   time.Duration
}

func (f *serverFlags) add(flags *pflag.FlagSet, limit time.Duration) {
	repeatable(flags, &f.commands, "mcp", "an MCP server's command over stdio, with its arguments")
	repeatable(flags, &f.urls, "mcp-url", "an MCP server's address over streamable HTTP")
	repeatable(flags, &f.configs, "mcp-config", "a .mcp.json that names servers")
	flags.StringVar(&f.grants, "grants", "", "the file for what servers granted at toolbench mcp login, instead of grants.json in the user's configuration")
	f.limit = limit
	flags.Var(period(&f.limit, time.Millisecond), "timeout", "what each live server has to answer")
}

// named reports whether there is any.
func (f serverFlags) named() bool { return len(f.commands)+len(f.urls)+len(f.configs) > 0 }

// processes is how live servers that are programs are run.
func (a *app) processes() world.Processes { return world.Processes{Env: a.Env, Group: host.Grouped} }

// specs are the live servers that the flags name. One whose entry in a configuration is
// wrong is a failure of its own. Servers that granted something are given it back.
func (a *app) specs(f serverFlags) (specs []world.ServerConfig, failures []world.ListFailure, err error) {
	for _, line := range f.commands {
		words, err := shell.Fields(line, a.env) // as a shell reads a command
		switch {
		case err != nil:
			return nil, nil, usage("--mcp %q: %s", line, err)
		case len(words) == 0:
			return nil, nil, usage("--mcp %q: it names no command", line)
		}
		specs = append(specs, world.ServerConfig{Kind: "stdio", Command: words[0], Args: words[1:]})
	}
	for _, url := range f.urls {
		if err := webAddress("--mcp-url", url); err != nil {
			return nil, nil, err
		}
		specs = append(specs, world.ServerConfig{Kind: "http", URL: url})
	}
	for _, path := range f.configs {
		data, err := os.ReadFile(a.path(path))
		if err != nil {
			return nil, nil, usage("%s: %s", path, reason(err))
		}
		some, broken, err := world.ParseServers(path, data, a.lookup)
		if err != nil {
			return nil, nil, usage("%s", err)
		}
		specs, failures = append(specs, some...), append(failures, broken...)
	}
	return specs, failures, a.letIn(specs, f.grants)
}

// webAddress refuses what is no address for HTTP.
func webAddress(flag, url string) error {
	if strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") {
		return nil
	}
	return usage("%s %q: an address begins with http:// or https://", flag, url)
}

// letIn gives servers that want OAuth what they granted before. Nobody is asked here:
// a command may run where nobody is.
func (a *app) letIn(specs []world.ServerConfig, file string) error {
	for i := range specs {
		s := &specs[i]
		switch {
		case s.URL == "":
			continue
		case s.OAuth.Unattended():
			s.Let = &mcptool.Authorization{Client: &mcptool.Client{ID: s.OAuth.ID, Secret: s.OAuth.Secret}}
			continue
		}
		kept, err := a.grantsFile(file)
		if err != nil {
			continue // without a place for grants there is none
		}
		all, err := kept.read()
		if err != nil {
			return err
		}
		if grant, ok := all[s.URL]; ok {
			s.Let = &mcptool.Authorization{
				Redirect: "http://127.0.0.1/callback", Client: &grant.Client, Grant: &grant,
				Keep:  func(g mcptool.Grant) error { return kept.keep(s.URL, g) },
				Visit: func(context.Context, string) (url.Values, error) { return nil, errOver },
			}
		}
	}
	return nil
}

// errOver is the error of a grant that its server does not take any more.
var errOver = errors.New("what it granted is over")

// loginHint is what to do about a server that did not let us in. The library gives its
// refusals as text.
func loginHint(address, refusal string) string {
	if address != "" && (strings.Contains(refusal, "Unauthorized") || strings.Contains(refusal, errOver.Error())) {
		return "; log in with: toolbench mcp login --mcp-url " + reports.Quoted(address)
	}
	return ""
}

// unreached names the servers that could not be listed, each with what to do, and blanks the secrets in what
// a report has of them.
func (a *app) unreached(failures []world.ListFailure) {
	for i, failed := range failures {
		a.logServer("MCP server %q: %s%s", failed.Server, failed.Err, loginHint(failed.Address, failed.Err.Error()))
		failures[i].Server, failures[i].Err = a.blanked(failed.Server), errors.New(a.blanked(failed.Err.Error()))
	}
}

// logServer is logf for what may name a server by its address or its command.
func (a *app) logServer(format string, args ...any) {
	a.logf("%s", a.blanked(fmt.Sprintf(format, args...)))
}

// blanked is a text without secrets. What an address has for a parameter is one, whatever it is.
func (a *app) blanked(text string, more ...string) string {
	return reports.Options{Secrets: append(a.secrets(), more...)}.Blank()(parameters.ReplaceAllString(text, "${1}"+cassette.Redacted))
}

var parameters = regexp.MustCompile(`([?&][\w.-]+=)[^&\s"']*[^&\s"':]`)

// callback is the page on this machine that an authorization server sends a person back
// to.
type callback struct {
	listener net.Listener
	show     func(page string)
}

// visit shows the page to the person and waits until the callback was called.
func (c callback) visit(ctx context.Context, page string) (url.Values, error) {
	back := make(chan url.Values, 1)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.URL.Path != "/callback" || q.Get("code") == "" && q.Get("error") == "" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintln(w, "toolbench has the answer; this page can be closed.")
		select {
		case back <- q:
		default: // called twice: the first one counts
		}
	})}
	go func() { _ = server.Serve(c.listener) }() // it ends with Close
	defer server.Close()
	c.show(page)
	select {
	case q := <-back:
		return q, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// listenForCallback opens the page that a person is sent back to.
func listenForCallback(port int, show func(string)) (callback, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return callback{}, usage("callbackPort %d: %s; take another, or 0 for a free one", port, err)
	}
	return callback{listener, show}, nil
}

// grants are what authorization servers granted, by the address of the MCP server, in a
// file that nobody else can read.
type grants struct{ file string }

// grantsFile is where grants are kept when --grants does not name a file.
func (a *app) grantsFile(named string) (grants, error) {
	if named != "" {
		return grants{a.path(named)}, nil
	}
	dir := a.env("XDG_CONFIG_HOME")
	if dir == "" {
		home := a.env("HOME")
		if home == "" {
			return grants{}, usage("there is no place for what servers grant: set HOME, or name a file with --grants")
		}
		dir = filepath.Join(home, ".config")
	}
	return grants{filepath.Join(dir, "toolbench", "grants.json")}, nil
}

// read gives what is kept; a file that is not there holds nothing.
func (g grants) read() (map[string]mcptool.Grant, error) {
	all := map[string]mcptool.Grant{}
	info, err := os.Stat(g.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return nil, usage("%s: %s", g.file, reason(err))
	case info.Mode().Perm()&0o077 != 0:
		return nil, usage("%s: others can read it, and it lets in whoever has it; run chmod 600 on it", g.file)
	}
	data, err := os.ReadFile(g.file)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, usage("%s: %s; remove it and log in again with `toolbench mcp login`", g.file, reason(err))
	}
	return all, nil
}

// How long others may hold the file of grants, and how often it is looked whether they do.
const (
	grantsHeld  = 5 * time.Second
	grantsPause = 20 * time.Millisecond
)

// keep adds one grant, while no other process does: each writes what it has read.
func (g grants) keep(server string, one mcptool.Grant) error {
	if err := os.MkdirAll(filepath.Dir(g.file), 0o700); err != nil {
		return err
	}
	name := g.file + ".lock"
	for waited := time.Duration(0); ; waited += grantsPause {
		lock, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			defer os.Remove(name) // one that stays is named to the next
			_ = lock.Close()      // nothing was written
			return g.add(server, one)
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if waited >= grantsHeld {
			return usage("%s: another toolbench keeps a grant and does not end; remove the file if none runs", name)
		}
		time.Sleep(grantsPause)
	}
}

// add puts the file in place as a whole, so that a reader never finds half of it.
func (g grants) add(server string, one mcptool.Grant) error {
	all, err := g.read()
	if err != nil {
		return err
	}
	all[server] = one
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", g.file, err)
	}
	return replaceFile(g.file, append(data, '\n'), 0o600)
}

// catalogues reads files and folders of them. Of a folder's files, broken are those that nobody
// could read, each named with a word.
func (a *app) catalogues(paths []string) (all world.Catalogue, broken int, err error) {
	for _, path := range paths {
		info, err := os.Stat(a.path(path))
		if err != nil {
			return nil, 0, usage("%s: %s; name a catalogue's file or a folder of them", path, reason(err))
		}
		read := a.catalogueFile
		if info.IsDir() {
			read = func(folder string) (world.Catalogue, error) { return a.catalogueFolder(folder, &broken) }
		}
		c, err := read(path)
		if err != nil {
			return nil, 0, err
		}
		all = a.joinFrom(path, all, c)
	}
	return all, broken, nil
}

// joinFrom adds what a file or a folder holds. A tool that is there already is left out,
// with a word.
func (a *app) joinFrom(path string, all, more world.Catalogue) world.Catalogue {
	joined, left := world.JoinCatalogueRests(all, more)
	a.leftOut(path+": ", left)
	return joined
}

// mostNamed is how many of the tools that are left out are named.
const mostNamed = 3

// leftOut names tools that a catalogue has twice.
func (a *app) leftOut(where string, left []error) {
	for i, err := range left {
		if i == mostNamed {
			a.logf("%s%d more tools are left out: their servers have others of their names", where, len(left)-mostNamed)
			return
		}
		a.logf("left out: %s%s", where, strings.TrimPrefix(err.Error(), world.ErrCatalogue.Error()+": "))
	}
}

// catalogueFile reads one file, and no more of it than a catalogue may have.
func (a *app) catalogueFile(path string) (world.Catalogue, error) {
	data, err := a.readFile(path, world.MaxCatalogueBytes)
	if err != nil {
		return nil, err
	}
	if data, err = cassette.Decode(data, "", world.MaxCatalogueBytes); err != nil {
		return nil, invalid(scenario.InFile(path, err))
	}
	if isYAML(unpacked(path)) {
		if data, err = documents(data); err != nil {
			return nil, invalid(scenario.InFile(path, err))
		}
	}
	c, left, err := world.ParseCatalogueRest(filepath.ToSlash(path), data)
	if errors.Is(err, world.ErrNoTools) || err != nil && !named(path) {
		err = fmt.Errorf("%w (a recorded session is named with `toolbench tokens --recording %s`)", err, path)
	}
	if err != nil {
		return nil, invalid(err)
	}
	a.leftOut("", left)
	return c, nil
}

// documents writes all documents of a YAML file as JSON, one behind the other.
func documents(data []byte) (all []byte, err error) {
	file, err := scenario.Tree(data)
	if err != nil {
		return nil, err
	}
	last := data[bytes.LastIndex(data, []byte("\n---"))+1:]
	for _, doc := range file.Docs {
		var v any
		if doc.Body == nil && len(bytes.Trim(last, "- \t\r\n")) > 0 { // the parser ends at the second of two marks
			return nil, errors.New("a document in it is empty; take it out")
		} else if doc.Body == nil {
			continue
		}
		if err := yaml.NodeToValue(doc.Body, &v, yaml.UseOrderedMap()); err != nil {
			return nil, err
		}
		one, err := yaml.MarshalWithOptions(v, yaml.JSON())
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

// unpacked is a file's name without the ending of what packed it.
func unpacked(path string) string { return strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst") }

// named reports whether a file has a name that catalogues have.
func named(path string) bool {
	path = unpacked(path)
	return isYAML(path) || slices.Contains([]string{".json", ".jsonl", ".ndjson", ".snap"}, filepath.Ext(path))
}

// catalogueFolder reads a folder and those in it. What lies there and holds no tools
// is passed over, with a word, and so is what cannot be read: one broken file is no reason to
// count nothing of the others.
func (a *app) catalogueFolder(folder string, broken *int) (all world.Catalogue, err error) {
	var first error
	err = a.within(folder, func(f found) error {
		if !named(f.path) {
			return nil
		}
		c, err := a.catalogueFile(f.path)
		switch {
		case errors.Is(err, world.ErrNoTools):
			a.logf("%s: skipped: it holds no tool", f.path)
		case err != nil:
			a.logf("skipped: %s", err)
			if !isYAML(unpacked(f.path)) { // a template of YAML is none, and no catalogue
				first = cmp.Or(first, err)
				*broken++
			}
		default:
			all = a.joinFrom(f.path, all, a.placed(f.path, c))
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		err = cmp.Or(first, usage("%s: it holds no tool in any .json, .jsonl, .ndjson, .yaml or .snap; name the catalogue's file", folder))
	}
	return all, err
}

// placed names the server after the folder where only the file's own name stood for
// it, which distinguishes nothing: a tool a file, or one of those that all are called alike.
func (a *app) placed(path string, c world.Catalogue) world.Catalogue {
	base := strings.TrimSuffix(filepath.Base(unpacked(path)), filepath.Ext(unpacked(path)))
	alike := slices.Contains([]string{"tools", "tool", "tools_list", "tools-list", "index"}, base)
	if len(c) == 1 && c[0].Name == base && (len(c[0].Tools) == 1 || alike) {
		c[0].Name = filepath.Base(filepath.Dir(filepath.Clean(a.path(path))))
	}
	return c
}
