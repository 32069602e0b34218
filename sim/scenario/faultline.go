package scenario

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// FaultLine names a thing that goes wrong, at one place (O7): what, where and for how
// long, on one line that reads as it prints.
//
//	panic @ call=c3
//	error it broke @ tool=Read
//	hang @ call=c3
//	deaf @ call=c3
//	huge @ call=c3
//	empty @ call=c3
//	full @ call=c3
//	readonly @ call=c3
//	slow @ call=c3 for 2s
//	progress @ call=c3 for 2s
//	lags @ call=c3 for 2s
//	gone @ call=c3 for 2s
//	gone @ call=c3
//	duplicate @ call=c3
//	unknown @ call=c3
//	rubbish Segmentation fault @ call=c3
//	status 529 @ request=1
//	cut @ request=2 event=8
//	say overloaded_error @ request=2 event=3
//	malformed @ request=1 event=4
//	twice @ request=1 event=4
//	late @ request=1 event=4 for 2s
//	stall @ request=2 event=7 for 3s
//	stall @ request=2 event=7
//
// The last one stalls for ever. Requests are counted from 1 as they reach the model,
// events from 1 within their stream: a cut or a stall comes behind so many, an
// event that is late behind those that arrive meanwhile. full and readonly are the
// disk's, from the moment in which the call does its work; progress is reported so
// long after the call's end. lags, gone, duplicate, unknown and rubbish are an MCP
// server's: it takes so long for its answer; it dies under the call, to come back when
// so much time has passed or never; it answers twice, or first a request that nobody
// made; it sends something that is no message. What the language does not do: conditions
// on what was sent, chances.
type FaultLine struct {
	// What is the verb.
	What string
	// Arg is what the verb is about: a status, the name of an error, a text.
	Arg string
	// Call or Tool name the call that goes wrong; Request and Event a place in a stream.
	Call, Tool     string
	Request, Event int
	// For is how long it takes; 0 where none is given.
	For time.Duration
}

// verb is one thing that can go wrong.
type verb struct {
	name string
	// arg describes its argument; "" if it has none. lasts reports whether it may have a
	// duration, needs whether it must have one.
	arg   string
	lasts bool
	needs bool
	// at is the place it needs: the call that goes wrong, a request, or one of its
	// events too.
	at faultPlace
	// set has the fault that a checked line describes do it.
	set func(*Fault, FaultLine)
}

// faultPlace is the kind of place a verb applies to.
type faultPlace uint8

// The places.
const (
	atCall faultPlace = iota
	atRequest
	atEvent
)

// verbs are all of them.
var verbs = [...]verb{
	{name: "panic", at: atCall, set: func(f *Fault, _ FaultLine) { f.Panic = "it panicked" }},
	{name: "error", arg: "a text", at: atCall, set: func(f *Fault, n FaultLine) { f.Error = n.Arg }},
	{name: "hang", at: atCall, set: func(f *Fault, _ FaultLine) { f.Hang = true }},
	{name: "deaf", at: atCall, set: func(f *Fault, _ FaultLine) { f.Deaf = true }},
	{name: "huge", at: atCall, set: func(f *Fault, _ FaultLine) { f.Huge = true }},
	{name: "empty", at: atCall, set: func(f *Fault, _ FaultLine) { f.Empty = true }},
	{name: "full", at: atCall, set: func(f *Fault, _ FaultLine) { f.DiskFull = true }},
	{name: "readonly", at: atCall, set: func(f *Fault, _ FaultLine) { f.DiskReadOnly = true }},
	{name: "slow", lasts: true, needs: true, at: atCall, set: func(f *Fault, n FaultLine) { f.Slow = n.For }},
	{name: "progress", lasts: true, needs: true, at: atCall, set: func(f *Fault, n FaultLine) { f.Progress = n.For }},
	{name: "lags", lasts: true, needs: true, at: atCall, set: atServer(func(s *ServerFault, n FaultLine) { s.Slow = Duration(n.For) })},
	{name: "gone", lasts: true, at: atCall, set: atServer(func(s *ServerFault, n FaultLine) { s.Gone, s.Back = true, Duration(n.For) })},
	{name: "duplicate", at: atCall, set: atServer(func(s *ServerFault, _ FaultLine) { s.Duplicate = true })},
	{name: "unknown", at: atCall, set: atServer(func(s *ServerFault, _ FaultLine) { s.Unknown = true })},
	{name: "rubbish", arg: "a text", at: atCall, set: atServer(func(s *ServerFault, n FaultLine) { s.Rubbish = n.Arg })},
	{name: "status", arg: "an HTTP status from 400 to 599", at: atRequest, set: func(f *Fault, n FaultLine) { f.Status, _ = strconv.Atoi(n.Arg) }},
	{name: "cut", at: atEvent, set: func(f *Fault, n FaultLine) { f.CutAfter = n.Event }},
	{name: "say", arg: "the name of an error", at: atEvent, set: func(f *Fault, n FaultLine) { f.StreamError, f.CutAfter = n.Arg, n.Event }},
	{name: "malformed", at: atEvent, set: func(f *Fault, n FaultLine) { f.Malformed = n.Event }},
	{name: "twice", at: atEvent, set: func(f *Fault, n FaultLine) { f.Twice = n.Event }},
	{name: "late", lasts: true, needs: true, at: atEvent, set: func(f *Fault, n FaultLine) { f.Late, f.LateFor = n.Event, n.For }},
	{name: "stall", lasts: true, at: atEvent, set: func(f *Fault, n FaultLine) { f.StallAfter, f.Stall = n.Event, Duration(n.For) }},
}

// atServer sets what an MCP server does under the call.
func atServer(set func(*ServerFault, FaultLine)) func(*Fault, FaultLine) {
	return func(f *Fault, n FaultLine) {
		f.Server = &ServerFault{Call: n.Call, Tool: n.Tool}
		set(f.Server, n)
	}
}

func verbNamed(name string) (verb, error) {
	var names []string
	for _, v := range verbs {
		if v.name == name {
			return v, nil
		}
		names = append(names, v.name)
	}
	return verb{}, fmt.Errorf("%q is nothing that goes wrong; use %s", name, strings.Join(names, ", "))
}

// String is the fault as ParseFault reads it.
func (f FaultLine) String() string {
	var b strings.Builder
	b.WriteString(f.What)
	if f.Arg != "" {
		b.WriteString(" " + f.Arg)
	}
	b.WriteString(" @")
	for _, at := range []struct{ key, value string }{
		{"call", f.Call}, {"tool", f.Tool}, {"request", number(f.Request)}, {"event", number(f.Event)},
	} {
		if at.value != "" {
			fmt.Fprintf(&b, " %s=%s", at.key, at.value)
		}
	}
	if f.For > 0 {
		fmt.Fprintf(&b, " for %s", f.For)
	}
	return b.String()
}

// MarshalText writes the fault as ParseFault reads it.
func (f FaultLine) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads a fault as ParseFault does.
func (f *FaultLine) UnmarshalText(text []byte) (err error) {
	*f, err = ParseFault(string(text))
	return err
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

var errNoPlace = errors.New("it has no place; write it as `panic @ call=c3` or `cut @ request=2 event=8`")

// ParseFault reads one fault. An error has what is wrong and what would be right.
func ParseFault(text string) (FaultLine, error) {
	what, where, ok := strings.Cut(text, "@")
	if !ok {
		return FaultLine{}, errNoPlace
	}
	var f FaultLine
	name, arg, _ := strings.Cut(strings.TrimSpace(what), " ")
	f.What, f.Arg = name, strings.Join(strings.Fields(arg), " ")
	v, err := verbNamed(name)
	if err != nil {
		return FaultLine{}, err
	}
	if err := f.place(strings.Fields(where)); err != nil {
		return FaultLine{}, err
	}
	return f, f.check(v)
}

// place reads what stands behind the @.
func (f *FaultLine) place(words []string) error {
	for len(words) > 0 {
		if words[0] == "for" {
			return f.lasting(words[1:])
		}
		key, value, ok := strings.Cut(words[0], "=")
		if !ok || value == "" {
			return fmt.Errorf("%q is no place; write call=, tool=, request= or event=, and then `for 3s`", words[0])
		}
		if err := f.at(key, value); err != nil {
			return err
		}
		words = words[1:]
	}
	return nil
}

func (f *FaultLine) at(key, value string) error {
	switch key {
	case "call":
		return once(&f.Call, value, key)
	case "tool":
		return once(&f.Tool, value, key)
	case "request", "event":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("%s is %q; they are counted from 1", key, value)
		}
		if key == "request" {
			return once(&f.Request, n, key)
		}
		return once(&f.Event, n, key)
	}
	return fmt.Errorf("%q is no place; use call, tool, request, event", key)
}

func once[T comparable](to *T, value T, key string) error {
	var none T
	if *to != none {
		return fmt.Errorf("%s is there twice", key)
	}
	*to = value
	return nil
}

func (f *FaultLine) lasting(words []string) error {
	if len(words) != 1 {
		return errors.New("one duration ends it, as `for 3s`")
	}
	d, err := time.ParseDuration(words[0])
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is no duration; write it like 300ms or 2s", words[0])
	}
	f.For, err = lasting(words[0])
	return err
}

// check holds a fault against its verb.
func (f *FaultLine) check(v verb) error {
	ofCall, ofStream := f.Call != "" || f.Tool != "", f.Request > 0 || f.Event > 0
	switch {
	case (f.Arg != "") != (v.arg != ""):
		if v.arg == "" {
			return fmt.Errorf("%s takes no argument, and there is %q", v.name, f.Arg)
		}
		return fmt.Errorf("%s needs %s behind it", v.name, v.arg)
	case f.For > 0 && !v.lasts:
		return fmt.Errorf("%s does not last; leave out `for %s`", v.name, f.For)
	case f.For == 0 && v.needs:
		return fmt.Errorf("%s needs a duration; write `for 2s` behind it", v.name)
	case f.Call != "" && f.Tool != "":
		return errors.New("call and tool exclude each other")
	case v.at == atCall && (!ofCall || ofStream):
		return fmt.Errorf("%s is of a call: write call= or tool=, and nothing else", v.name)
	case v.at != atCall && (ofCall || f.Request == 0):
		return fmt.Errorf("%s is of a request: write request=", v.name)
	case v.at == atEvent && f.Event == 0, v.at == atRequest && f.Event > 0:
		return fmt.Errorf("%s comes at %s", v.name, map[faultPlace]string{atEvent: "an event: write event=", atRequest: "a request, not at an event"}[v.at])
	}
	return f.checkStatus()
}

func (f *FaultLine) checkStatus() error {
	if f.What != "status" {
		return nil
	}
	if n, err := strconv.Atoi(f.Arg); err != nil || n < 400 || n > 599 || strconv.Itoa(n) != f.Arg {
		return fmt.Errorf("%q is no HTTP status of a failure", f.Arg)
	}
	return nil
}
