package cli

import (
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"toolbench/reports"
)

// assumedWidth is that of a screen of which nothing is known: a file, or the log of
// a CI system, where there is room.
const assumedWidth = 120

// looks are the flags about looks that all commands share.
type looks struct {
	width          int
	noColor, ascii bool
}

// drawing gives how to draw on the standard output.
func (a *app) drawing(l looks) reports.Options {
	return reports.Options{
		Width: a.width(l.width),
		Color: !l.noColor && a.colour(),
		ASCII: l.ascii || !a.unicode(),
	}
}

// colour is for people at a terminal who did not ask to be spared.
func (a *app) colour() bool {
	return a.env("NO_COLOR") == "" && a.env("CI") == "" && a.env("TERM") != "dumb" && isTerminal(a.Stdout)
}

// unicode holds unless the locale says otherwise; none at all says nothing.
func (a *app) unicode() bool {
	for _, key := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(a.env(key)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return true
}

// width is the asked one, else the terminal's, else COLUMNS, else an assumed one.
func (a *app) width(asked int) int {
	if asked > 0 {
		return asked
	}
	if f, ok := a.Stdout.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	if columns, err := strconv.Atoi(a.env("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	return assumedWidth
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
