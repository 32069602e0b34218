// Package cassette records a model's answers into go-vcr cassettes and plays
// them back with their timing (SPEC O2, O3, O5).
//
// The file format is go-vcr's, and its own recorder writes it; but go-vcr's replay hands over a body in one piece,
// and what the bench measures is what happens while a body is still arriving. So two transports are added. Beneath
// the recorder one notes when each event arrives and stores the times in a response header (OffsetsHeader). In place
// of the replay stands Player, which delivers a body event by event at those times, in whatever clock its Wait
// function keeps, and which reports precisely why a request has no answer.
//
// Load reads the files of go-vcr v1 to v4. Other recorders' formats are read
// elsewhere and end up as the same Cassette.
package cassette
