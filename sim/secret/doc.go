// Package secret finds keys, tokens, passwords and organization ids in what is about
// to be written down, and blanks them (SPEC O5). A recording is a file that people
// share, so whatever can be recognized as a secret must never reach it.
//
// Three things make something a secret:
//
//   - it is known: the key in use, the values of variables with names of secrets
//     (FromEnv). A known value is found in every way of writing it that texts pass
//     through on their way: escaped for JSON once or more, for URLs, HTML, shells and
//     mail, in upper or lower case, in hexadecimal, in base64 at any alignment and
//     within longer base64, broken over lines, spelled over the deltas of a stream.
//   - it looks like one: the vendors' prefixes, also where they are glued to a word,
//     private keys, tokens of three parts, credentials in URLs, what signs a URL,
//     webhooks, bearers and cookies, hashes of passwords, the entries of password files
//     and the user that curl is given. Keys that vendors print in their documentation
//     are none.
//   - it is random where a secret is to be expected: after a label such as token or
//     password, or standing alone, long, of mixed classes and without words in it.
//
// What replay needs is left alone even where it looks random: ids of calls, messages
// and requests, hashes (hexadecimal of any length), UUIDs, checksums of packages,
// signatures of thinking blocks, images and other long base64 whose text shows no
// secret. A known value is blanked in these too. Known values of fewer than MinKnown
// bytes are not looked for: they would be found everywhere.
//
// Blanking is a function of the text alone. It keeps JSON valid, changes nothing that
// was blanked before, and gives the same for a request whether its secrets came from
// the world or were blanked in the answer it is built on, which is what keeps blanked
// recordings matchable. It takes time in proportion to the text.
package secret
