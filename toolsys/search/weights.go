package search

// What lexicon weighs how. The values were tuned on every other query of
// eighteen labelled sets, in English, Chinese and Korean, and hold on the rest; none of
// them is sharp.
const (
	// bend is how soon more of a term counts no more (Okapi's k1).
	bend = 1.1
	// wholeName is how much a tool gains whose name the query says in full.
	wholeName = 0.33
	// fitting is how much a tool gains that does the kind of thing that is asked,
	// and loses that does another.
	fitting = 0.15

	// What a group of the query counts, as a share of a word.
	weightNeighbours = 0.35 // two neighbouring words, as such
	weightJoined     = 0.6  // two neighbouring words, written as one
	weightAside      = 0.5  // a word of a placeholder or an address

	// What a term counts that stands for a word, as a share of the word itself.
	weightLike       = 0.5 // a word of like meaning
	weightTranslated = 0.9 // an English word for one of another language
	weightLater      = 0.6 // of these, any but the plainest
	weightInto       = 0.4 // a word of another language, for texts in it
	weightPiece      = 0.5 // a word of a phrase that is not known as such
	weightSplit      = 0.4 // half of a word that is two
	weightSlip       = 0.5 // a word spelt much like it
	weightBegins     = 0.4 // a word that it begins
)

// fieldWeights is what a term counts in each field; fieldNorms how much a field
// longer than others is held against it, from 0 to 1.
var (
	fieldWeights = [fieldCount]float64{fieldName: 2, fieldServer: 0.75, fieldHint: 2, fieldText: 1, fieldParam: 0.77, fieldParamText: 0.33}
	fieldNorms   = [fieldCount]float64{fieldName: 0.6, fieldServer: 0, fieldHint: 0.7, fieldText: 0.7, fieldParam: 0.75, fieldParamText: 0.6}
)
