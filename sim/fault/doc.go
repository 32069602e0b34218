// Package fault is the language in which a thing that goes wrong is named (O7): what,
// where and for how long, on one line that reads as it prints.
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
package fault
