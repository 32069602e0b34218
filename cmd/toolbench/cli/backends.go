package cli

import (
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/shell"

	"toolbench/toolsys/builtin"
	"toolbench/toolsys/builtin/file"
	"toolbench/toolsys/builtin/web"
	"toolbench/toolsys/host"
	"toolbench/toolsys/host/browser"
	"toolbench/toolsys/settings"
)

// backendFlags name what stands behind tools that need more than the disk, the shell and
// the web. A tool whose back end is named is offered.
type backendFlags struct {
	browser      bool
	languages    []string
	engine, push string
}

func (f *backendFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.browser, "browser", false, "offer WebBrowser, which drives this machine's Chromium or Chrome, without a window")
	repeatable(flags, &f.languages, "lsp", "offer LSP with this language server: "+strings.Join(slices.Sorted(maps.Keys(knownServers)), ", ")+", or '.EXT[,.EXT]=COMMAND'")
	flags.StringVar(&f.engine, "search-url", "", "have WebSearch ask the SearXNG at this address, instead of DuckDuckGo")
	flags.StringVar(&f.push, "push-url", "", "offer PushNotification with the feature KAIROS; it sends to this topic, as https://ntfy.sh/my-topic")
}

// knownServers are language servers that need nothing but their name.
var knownServers = map[string]file.LanguageServer{
	"clangd":                     {Language: "cpp", Extensions: []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp"}, Command: []string{"clangd"}},
	"gopls":                      {Language: "go", Extensions: []string{".go"}, Command: []string{"gopls"}},
	"pyright":                    {Language: "python", Extensions: []string{".py", ".pyi"}, Command: []string{"pyright-langserver", "--stdio"}},
	"rust-analyzer":              {Language: "rust", Extensions: []string{".rs"}, Command: []string{"rust-analyzer"}},
	"typescript-language-server": {Language: "typescript", Extensions: []string{".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs"}, Command: []string{"typescript-language-server", "--stdio"}},
}

// settings turns on what the back ends are for.
func (f *backendFlags) settings(set settings.Settings) settings.Settings {
	if f.browser {
		set = set.With(settings.WebBrowserTool)
	}
	if f.push != "" {
		set = set.With(settings.Kairos)
	}
	set.LSP = set.LSP || len(f.languages) > 0
	return set
}

// tools are those whose back ends are named.
func (f *backendFlags) tools() (names []string) {
	for name, named := range map[string]bool{"LSP": len(f.languages) > 0, "PushNotification": f.push != "", "WebBrowser": f.browser, "WebSearch": f.engine != ""} {
		if named {
			names = append(names, name)
		}
	}
	return names
}

// backends puts the back ends that are named behind the tools.
func (w *workplace) backends(d *builtin.Deps) error {
	f := w.flags.backends
	if f.browser {
		b, err := browser.New(browser.Config{})
		if err != nil {
			return usage("--browser: %s", err)
		}
		w.onClose(b.Close)
		d.Browser = b
	}
	if err := w.languages(d); err != nil {
		return err
	}
	if f.engine != "" {
		if !isAddress(f.engine) {
			return usage("--search-url %q: an address begins with http:// or https://", f.engine)
		}
		d.Search = web.SearXNG(d.HTTP, f.engine)
	}
	if f.push != "" {
		push, err := web.Ntfy(http.DefaultTransport.RoundTrip, f.push)
		if err != nil {
			return usage("--push-url: %s", err)
		}
		d.Push = push
	}
	return nil
}

// languages finds the language servers, which start when they are first asked.
func (w *workplace) languages(d *builtin.Deps) error {
	var servers []file.LanguageServer
	for _, text := range w.flags.backends.languages {
		s, err := w.languageServer(text)
		if err != nil {
			return err
		}
		servers = append(servers, s)
	}
	if len(servers) > 0 {
		d.Languages = file.NewLanguages(file.LanguagesConfig{Servers: servers, Start: host.StartProcess})
		w.onClose(d.Languages.Close)
	}
	return nil
}

// languageServer reads one value of --lsp.
func (w *workplace) languageServer(text string) (file.LanguageServer, error) {
	server, known := knownServers[text]
	if extensions, command, given := strings.Cut(text, "="); given && !known {
		words, err := shell.Fields(command, w.a.env)
		if err != nil || len(words) == 0 {
			return server, usage("--lsp %q: behind = stands the server's command", text)
		}
		server = file.LanguageServer{Extensions: strings.Split(extensions, ","), Command: words}
		for _, e := range server.Extensions {
			if len(e) < 2 || filepath.Ext(e) != e {
				return server, usage("--lsp %q: %q is no extension; write one like .php", text, e)
			}
		}
		server.Language = server.Extensions[0][1:]
	} else if !known {
		return server, usage("--lsp %s: it is not one of %s; name another by '.EXT=COMMAND'", text, strings.Join(slices.Sorted(maps.Keys(knownServers)), ", "))
	}
	if _, err := exec.LookPath(server.Command[0]); err != nil {
		return server, usage("--lsp %s: %s", text, err)
	}
	return server, nil
}
