// Package world is what a scenario's calls reach outside of the tool system (SPEC O1): a
// disk in memory, and MCP servers.
//
// # Disk
//
// [FS] is a filesystem in memory that follows a disk's rules (SPEC L6). afero's MemMapFs lets a tool write below a
// missing folder or below a file, read without permission, rename over a folder and remove a full one, and it has no
// symbolic links. A tool proved there may fail on the first real disk, so this one forbids what a disk forbids, with
// the disk's errors: *os.PathError and *os.LinkError with the errno that the kernel gives.
//
// It wraps nothing. Those rules are about the tree - who is whose parent, what a path means at each of its steps -
// and a map from path to file, which is what MemMapFs is, has no such thing; a tree of nodes is both smaller and
// right. afero stays the interface: it is an afero.Fs and an afero.Symlinker.
//
// The rules are Linux's, met through package os, since that is what tools meet on a host: Remove, RemoveAll and
// MkdirAll answer as their namesakes in os do. Rename onto a folder fails as in os even where the system call would
// replace an empty one, but with the errno that has the reason (ENOTEMPTY, EISDIR).
//
// It does not do: hard links, devices, extended attributes, access times, supplementary groups, and files beyond 1
// GiB (EFBIG). A hole in a file takes memory and counts against the capacity. Listings are sorted by name.
//
// # Servers
//
// Servers are real ones, the official library's server at the other end of a line in memory, made from catalogue
// files. What they list is what the catalogue has, to the letter, also where a real server would be wrong to list it
// (no schema, a root that is no object), since such servers are what a client has to live with.
//
// A tool answers from a script, or by echoing its arguments; it may ask the person something first. A [Host] is the
// same servers as programs that can be started any number of times: they die under a call and come back, answer
// twice, late or with rubbish, and list other tools from some moment on, each as a [ServerFault] demands.
//
// [ListServers] lists the tools of servers that run outside of the bench, as a user's own .mcp.json names them: child
// processes over stdio, and servers over HTTP. It starts processes and opens connections only for what a user named;
// the environment is passed in, and a server that fails is reported while the others are listed.
//
// All but that works inside a synctest bubble: no keep-alive, no socket, and the server's side is closed first,
// without which its goroutines stay behind. The sessions must be made and closed in the same bubble.
//
// # Catalogues
//
// A file holds JSON objects, one a line or one after the other; or one array of them; or {"server": "...", "tools":
// [...]}, as a server's own listing, also as the result of a protocol answer or the data of its event stream. Tools
// may stand under their names, servers under theirs, {"name", "tools"} is a server. Tools out of a request to a model
// are read too: {"name", "description", "input_schema"}, the same with "parameters", either within {"type":
// "function", "function": {...}}, as functionDeclarations or toolSpec; a tool of the provider's own goes by its type.
// Equal definitions that several requests repeat count once. Text is UTF-8, or UTF-16 with a mark. Each object has
//
//	server       the server's name; default: that of the listing, else of the file
//	name         required; or tool, beside its server
//	title, description, inputSchema, outputSchema, annotations, _meta
//
// as in the protocol; arguments in a list stand for a schema; other members are ignored. The format does not define
// how tools answer, does not hold prompts or resources, and has no comments.
package world
