package secret

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// of makes n signs of a set, its digits and letters in turn.
func (s byteSet) of(n int) string {
	var all []byte
	for c := range 256 {
		if s[c] && alnum[byte(c)] {
			all = append(all, byte(c))
		}
	}
	out := make([]byte, n)
	for i := range out {
		out[i] = all[i*7%len(all)]
	}
	return string(out)
}

// Each row finds a key that is as long as it must be, and nothing that is shorter.
func TestEachRowFindsItsKeyAndNothingShorter(t *testing.T) {
	finder := New()
	seen := map[string]bool{}
	for _, v := range data().Keys {
		for _, prefix := range v.Prefixes {
			front := ""
			if v.Before != nil {
				front = v.Before.Signs.of(v.Before.Min)
			}
			find := v.finder(prefix)
			key := front + prefix + v.Signs.of(v.Min)
			from, to, ok := find("<"+key+">", 1+len(front))
			require.True(t, ok, "%s %s", v.Kind, prefix)
			assert.Equal(t, key, ("<" + key + ">")[from:to], "%s %s", v.Kind, prefix)
			assert.NotContains(t, finder.Text("x "+key+" y", nil), key, "%s %s", v.Kind, prefix)

			_, _, ok = find("<"+front+prefix+v.Signs.of(v.Min-1)+">", 1+len(front))
			assert.False(t, ok, "%s %s: too short", v.Kind, prefix)
			if v.Max > 0 {
				_, _, ok = find("<"+front+prefix+v.Signs.of(v.Max+1)+">", 1+len(front))
				assert.False(t, ok, "%s %s: too long", v.Kind, prefix)
			}
			if front != "" {
				_, _, ok = find("<"+front[1:]+prefix+v.Signs.of(v.Min)+">", len(front))
				assert.False(t, ok, "%s %s: too little in front", v.Kind, prefix)
			}
			if slices.Contains(v.When, random) {
				_, _, ok = find("<"+prefix+strings.Repeat("a", v.Min)+">", 1)
				assert.False(t, ok, "%s %s: not random", v.Kind, prefix)
			}
			if slices.Contains(v.When, first) {
				_, _, ok = find("a"+key, 1)
				assert.False(t, ok, "%s %s: within a word", v.Kind, prefix)
			}
			assert.False(t, seen[prefix], "%s is there twice", prefix)
			seen[prefix] = true
		}
	}
	assert.Greater(t, len(seen), 100)
}

//go:embed testdata/keys.txt
var keys string

// One key for each beginning stands written out, of the length at which it begins to be one
// and with each sign that is no letter and no digit: a row that is lost or damaged is
// noticed, which a test that makes its keys of the rows cannot.
func TestEachBeginningHasAKeyThatIsFound(t *testing.T) {
	left := map[string]bool{}
	for _, v := range data().Keys {
		for _, prefix := range v.Prefixes {
			left[prefix] = true
		}
	}
	for line := range strings.Lines(keys) {
		kind, key, _ := strings.Cut(strings.TrimSpace(line), ": ")
		prefix := foundAs(kind, key)
		assert.NotEmpty(t, prefix, "%s: %s is not found", kind, key)
		assert.Empty(t, foundAs(kind, key[:len(key)-1]), "%s: %s is found without its end", kind, key)
		delete(left, prefix)
	}
	assert.Empty(t, left, "no key in testdata/keys.txt begins like this")
}

// foundAs gives the beginning by which a key of this kind is found as a whole.
func foundAs(kind, key string) string {
	for _, v := range data().Keys {
		for _, prefix := range v.Prefixes {
			at := strings.Index(key, prefix)
			if v.Kind != kind || at < 0 {
				continue
			}
			if from, to, ok := v.finder(prefix)("<"+key+">", at+1); ok && from == 1 && to == len(key)+1 {
				return prefix
			}
		}
	}
	return ""
}

// Each name that makes a secret of its value is there, and each that makes none.
func TestEachNameIsTakenForWhatItIs(t *testing.T) {
	const plain, random, long = "hunter2000", "k3J9xQ2mZ8vB4nL7", "Zx8Kq2Lm9Pw4Rt7Yv1Bn5Hj3Gf6Ds0Ac"
	finder := New()
	for value, names := range map[string]string{
		random: "key keys token tokens auth session sid credential credentials pat",
		plain: "amzsignature apikey secret password passwd pwd passphrase authtoken dbpass userpass mysqlpass smtppass sshpass " +
			"accountkey sharedaccesskey accesskey secretkey subscriptionkey authkey applicationkey privatetoken accesstoken refreshtoken clientsecret privatekey",
		"org-a": "organizationid organizationuuid orgid orguuid workspaceid workspaceuuid accountid accountuuid",
		"sid=1": "cookie setcookie",
	} {
		for name := range strings.FieldsSeq(names) {
			text, other := `{"`+name+`":"`+value+`"}`, `{"`+name+`x":"`+value+`"}`
			assert.NotEqual(t, text, finder.Text(text, nil))
			assert.Equal(t, other, finder.Text(other, nil))
		}
	}
	for name := range strings.FieldsSeq("id uuid ids signature data integrity checksum hash digest sha256 sha512 h1 etag cursor") {
		assert.Contains(t, finder.Text(`{"`+name+`":"`+long+`"}`, nil), long, name)
		assert.NotContains(t, finder.Text(`{"`+name+`x":"`+long+`"}`, nil), long, "another name than %s", name)
	}
	for begin := range strings.FieldsSeq("toolu_ srvtoolu_ mcptoolu_ msg_ req_ call_ file_ container_ batch_ chatcmpl- resp_ fc_ rs_ run_ thread_ sha256- sha384- sha512-") {
		assert.Contains(t, finder.Text("of "+begin+long, nil), long, begin)
	}
}

func TestTheTableNamesNothingUnknown(t *testing.T) {
	for _, v := range data().Keys {
		for _, c := range v.When {
			assert.Contains(t, []condition{random, short, first, apart}, c, v.Kind)
		}
		assert.NotContains(t, v.When, condition(""))
		assert.Positive(t, v.Min, v.Kind)
	}
	for trust := range data().Labels {
		assert.Contains(t, kinds, trust)
	}
}
