// Package permission decides whether one call may run: rules, modes and the order in which they, hooks, the tool
// itself and a classifier decide (SPEC F1-F4, D2, L6).
//
// It is pure: it asks nobody, remembers nothing and touches no filesystem. The caller describes a call as a [Query],
// with paths cleaned and symlinks resolved and a shell command already parsed, and gets a [Decision]; where that is
// Ask, the caller asks whoever can answer and hands the answer to [Decision.Answer].
//
// One principle runs through the matching: a rule that forbids is read wide, a rule that permits is read narrow. A
// deny or ask rule matches if it covers any part of a call, under any of the readings a path or a command can be
// given; an allow rule only if the rules cover every part under the plain one. Doubt never lets a call run.
//
// # Rule syntax
//
//	Bash                          every call of the tool
//	Bash(*)                       the same
//	Bash(git *)                   * is any text; a closing " *" also covers bare git
//	Bash(npm run test:*)          the old prefix form: the words, alone or followed by more
//	Read(/src/**)                 an absolute path, as a glob
//	Read(//src/**)                the same; two slashes are another way to write absolute
//	Read(\\host\share\**)         a UNC path
//	Read(~/notes/*)               below the home directory
//	Read(docs/**)                 below the working directory
//	WebFetch(domain:example.com)  whatever else a tool names as its content
//	mcp__server                   all tools of a server, also as mcp__server__*
//	mcp__server__get_*            some tools of a server
//	Cron*                         * also works in the tool's name
//
// In the text of a rule a parenthesis may be escaped with a backslash, and backslashes count as escapes only before a
// parenthesis (there they are doubled), so that Windows paths need none. A rule that begins with mcp__ is about MCP
// tools only, any other about built-in tools only (SPEC D1).
//
// Globs know *, **, ?, [class] and {a,b}. A forbidding rule is also tried with its brackets taken literally, at any
// depth if it has no slash, from every allowed root if it is relative, and for all that lies below what it names.
//
// What it does not do: it does not fold case in paths, and it does not know
// which files a shell command opens unless the caller lists them.
package permission
