// Package endpoint counts tool definitions with the Messages API's own count_tokens,
// through the official client, over any transport: the network, or a cassette (SPEC
// E8). It asks a bounded number of questions and takes differences:
//
//	nothing                    one short message
//	ToolSearch                 the same with ToolSearch's definition
//	whole                      with all definitions behind it
//	names, names and hints     ToolSearch, what is never deferred, and the list of the
//	                           others in the message
//	defer_loading              all definitions, marked so that they stay out
//	whole less one             for each of the dearest tools
//
// ToolSearch is in all of them but the first, so that what the API adds to any prompt
// with tools is in no figure but ToolSearch's own. The answers are the API's word on
// the tokens of a prompt; it calls them an estimate itself.
package endpoint
