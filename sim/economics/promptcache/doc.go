// Package promptcache models a provider's prompt cache (SPEC D5), so that what a
// change of a tool pool costs can be seen before it is shipped.
//
// A request is blocks: tool definitions, the system prompt, messages. A breakpoint
// stands behind the last built-in tool, behind the system prompt and behind the last
// message. What stands before a breakpoint is kept under a hash of all its bytes; a
// later request reads the longest kept prefix, looking back up to 20 blocks from each
// of its breakpoints, writes from there up to its last one, and pays the rest as
// plain input. A token is missed when the request before had its block too, and it is
// not read all the same.
//
// # What the model leaves out
//
// Nothing expires between turns; a prefix has no minimum length; the system prompt and
// the messages are of a fixed size, since they are the same under every ordering.
// Tool definitions are the real ones, and so is our ordering: it is the pool's.
package promptcache
