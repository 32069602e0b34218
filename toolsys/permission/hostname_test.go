package permission_test

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/idna"
	"pgregory.net/rapid"

	"toolbench/toolsys/permission"
)

// The network knows hosts in ASCII, and that is what a fetch names; rules are written as people write hosts.
func TestHostsAreMatchedAsTheNetworkKnowsThem(t *testing.T) {
	for rule, hosts := range map[string]map[string]bool{
		"WebFetch(domain:müller.de)":        {"xn--mller-kva.de": true, "XN--MLLER-KVA.de.": true, "müller.de": true, "muller.de": false, "a.xn--mller-kva.de": false},
		"WebFetch(Domain:*.MÜLLER.de)":      {"a.xn--mller-kva.de": true, "xn--mller-kva.de": false},
		"WebFetch(domain:xn--mller-kva.de)": {"xn--mller-kva.de": true, "müller.de": true},
		"WebFetch(domain:bücher.*)":         {"xn--bcher-kva.example": true, "xn--bcher-kva.example.org": true},
		"WebFetch(domain:*.例え.テスト)":         {"a.xn--r8jz45g.xn--zckzah": true, "xn--r8jz45g.xn--zckzah": false},
		"WebFetch(domain:straße.de)":        {"xn--strae-oqa.de": true, "strasse.de": false},
		"WebFetch(domain:*)":                {"xn--mller-kva.de": true},
		"WebFetch(domain:[::1])":            {"::1": true, "::11": false, "10.0.0.1": false},
		"WebFetch(domain:0:0:0:0:0:0:0:1)":  {"::1": true},
		"WebFetch(domain:[FE80::0A])":       {"fe80::a": true, "fe80::b": false},
		"WebFetch(domain:::ffff:10.0.0.1)":  {"10.0.0.1": true, "10.0.0.2": false},
		"WebFetch(domain:fe80:*)":           {"fe80::a": true, "::1": false},
		"WebFetch(domain:fe80::a)":          {"fe80::a%eth0": true, "fe80::b%eth0": false},
		"WebFetch(domain:fe80::a%eth0)":     {"fe80::a%eth0": true, "fe80::a%eth1": false, "fe80::a": false},
	} {
		for host, want := range hosts {
			q := permission.Query{Subject: permission.Subject{Tool: "WebFetch"}, Content: "domain:" + host}
			for _, b := range []permission.Behaviour{permission.Allow, permission.Deny} {
				assert.Equal(t, want, decides(t, b, rule, q), "%s %s", rule, host)
			}
		}
	}
	for rule, hosts := range map[string]map[string]bool{ // who allows a part of a network does not allow whoever calls himself like it
		"WebFetch(domain:192.168.*)": {"192.168.1.1": true, "192.168.evil.org": false}, "WebFetch(domain:10.*.*.1)": {"10.0.0.1": true, "10.a.b.1": false},
		"WebFetch(DOMAIN:127.*)": {"127.0.0.1": true, "127.x.localhost.evil.org": false}, "WebFetch(domain:*.1)": {"1.1.1.1": true, "x.1": false},
		"WebFetch(domain:1.*.example.org)": {"1.a.example.org": true}, "WebFetch(domain:*.*)": {"evil.org": true},
	} {
		for host, want := range hosts {
			q := permission.Query{Subject: permission.Subject{Tool: "WebFetch"}, Content: "domain:" + host}
			assert.Equal(t, want, decides(t, permission.Allow, rule, q), "%s %s", rule, host)
			assert.True(t, decides(t, permission.Deny, rule, q), "%s %s", rule, host)
		}
	}
	for _, rule := range []string{"WebFetch(domain:*müller.de)", "WebFetch(domain:mül*.de)", "WebFetch(domain:a bü.de)", "WebFetch(domain:https://müller.de/x)", "WebFetch(domain:mu\u0308ller.de)", "WebFetch(domain:ｅ.org)", "WebFetch(domain:é。de)"} {
		_, err := permission.ParseRule(rule)
		assert.ErrorContains(t, err, "write it in ASCII", rule)
	}
}

// Where a name in ASCII is given at all, it is that of the rules of the network.
func TestNamesInASCIIAreThoseOfTheNetwork(t *testing.T) {
	same := func(t require.TestingT, label string) {
		rule, err := permission.ParseRule("WebFetch(domain:" + label + ")")
		if err != nil || rule.Content() == "" {
			return
		}
		name, err := idna.Lookup.ToASCII(label)
		if err != nil {
			return // no such host can be fetched
		}
		q := permission.Query{Subject: permission.Subject{Tool: "WebFetch"}, Content: "domain:" + name}
		if !rule.Covers(q) {
			require.Fail(t, "another name", "%q %U is %s", label, []rune(label), name)
		}
	}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if unicode.In(r, unicode.L, unicode.Nd) {
			same(t, "a"+string(r))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		same(t, rapid.StringOfN(rapid.RuneFrom([]rune("abcxyz019-"), unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hangul, unicode.Han, unicode.Arabic, unicode.Devanagari), 1, 30, -1).Draw(t, "label"))
	})
}

// Who forbids this machine, by a name or an address, forbids all its names and addresses; who allows one allows that one.
func TestThisMachineIsForbiddenByAllItsNames(t *testing.T) {
	names, addresses := []string{"localhost", "LOCALHOST.", "api.localhost", "localhost.localdomain", "ip6-localhost", "IP6-loopback."}, []string{"127.0.0.1", "127.9.9.9", "::1", "[::1]", "::ffff:127.0.0.1", "0.0.0.0", "::"}
	others := []string{"localhost.example.com", "mylocalhost", "example.com", "10.0.0.1", "128.0.0.1", "::2"}
	hosts := append(names, addresses...)
	for _, forbidden := range []string{"localhost", "127.0.0.1", "[::1]", "0.0.0.0", "ip6-localhost"} {
		rule, err := permission.ParseRule("WebFetch(domain:" + forbidden + ")")
		require.NoError(t, err)
		covers := func(host string) bool {
			q := permission.Query{Subject: permission.Subject{Tool: "WebFetch"}, Content: "domain:" + host}
			return rule.Covers(q)
		}
		for _, host := range hosts {
			assert.True(t, covers(host), "%s by a rule for %s", host, forbidden)
		}
		for _, host := range others {
			assert.False(t, covers(host), "%s by a rule for %s", host, forbidden)
		}
		for _, host := range []string{"api.localhost", "127.9.9.9", "::"} {
			assert.False(t, rule.CoversAll(permission.Query{Subject: permission.Subject{Tool: "WebFetch"}, Content: "domain:" + host}), host)
		}
	}
}
