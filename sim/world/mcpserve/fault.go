package mcpserve

import "time"

// Fault is one thing that goes wrong with a server (O7). Call or Tool names the calls it
// befalls, Connect the connection, counted from 1. Server narrows it; "" is any.
type Fault struct {
	Server, Call, Tool string
	Connect            int

	// Gone takes the server away when the call reaches it, before it answers; it can be
	// connected again after Back, never when that is 0.
	Gone bool
	Back time.Duration
	// Twice answers the call twice. Stray first answers a request that nobody made.
	Twice, Stray bool
	// Rubbish is sent in place of the answer, as it stands.
	Rubbish string
	// Slow is how long the server takes for its answer.
	Slow time.Duration

	// Refused turns the connection down; ListFails and ListHangs let the list of tools
	// end in an error, or never come.
	Refused, ListFails, ListHangs bool
}

// Ask is a question a tool puts to the person before it does its work (N5): a form, or
// with URL a page to visit, asked for by an error as the protocol has it.
type Ask struct {
	Message string
	// Schema is the form's: a JSON Schema.
	Schema []byte
	URL    string
}

// concerns says whether a fault befalls a call.
func (f Fault) concerns(server, tool, call string) bool {
	if f.Server != "" && f.Server != server || f.Connect > 0 {
		return false
	}
	return f.Call != "" && f.Call == call || f.Tool != "" && f.Tool == tool
}

func (o Options) faultOf(server, tool, call string) Fault {
	for _, f := range o.Faults {
		if f.concerns(server, tool, call) {
			return f
		}
	}
	return Fault{}
}

func (o Options) connecting(server string, n int) Fault {
	for _, f := range o.Faults {
		if f.Connect == n && (f.Server == "" || f.Server == server) {
			return f
		}
	}
	return Fault{}
}
