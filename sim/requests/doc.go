// Package requests reads what recorded sessions really sent: the tools of each
// request with their cache breakpoints, the system prompt and the messages, in the
// order in which the API puts them into a prompt, and what the API said it cost
// (SPEC D5, E8). Package recording tells what the model did; this one tells what it
// was asked with, which is what definitions and their order cost.
//
// A text is a member of the request as it was sent, its JSON compact, less its
// cache breakpoint: that says where a prefix is kept and is no part of it. A text
// content counts as the block it is short for. What was sent before is kept once, so
// that a session takes memory for what it says and not for how often it repeats it.
//
// # What is not read
//
// Tool choice, thinking and the like are left out, though a change of them loses
// cached messages too. A tool that the API defines itself ("web_search_20250305") has
// no definition in the request; it stands for the bytes that were sent.
package requests
