package mcptool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Authorization answers servers that ask for OAuth (N9): the library finds the
// authorization server and its metadata, registers this client, proves the request with
// PKCE, checks the issuer and asks for more scopes when a server wants them. What it
// cannot do is here: a person who agrees, and a place for what was granted.
type Authorization struct {
	// Visit has a person visit a page and gives the query with which Redirect was called,
	// the address that the authorization server sends the person back to. Its error ends
	// the attempt to connect. Without Visit, Client is let in for itself, by its secret.
	Visit    func(ctx context.Context, page string) (url.Values, error)
	Redirect string
	// Document is the address of this client's metadata document, Client one that was
	// registered beforehand. Without either, or where the server takes neither, the client
	// registers itself.
	Document string
	Client   *Client
	// Grant is what was granted before, nil for nothing; Keep receives each new grant, also
	// one that was refreshed, and may be nil. An error of Keep ends the request.
	Grant *Grant
	Keep  func(Grant) error
	// HTTP makes the requests to the authorization server; nil is http.DefaultClient.
	HTTP *http.Client
}

// Client is a client that was registered with an authorization server beforehand.
type Client struct{ ID, Secret string }

// Grant is what an authorization server granted, with what is needed to refresh it. Who
// holds it can act for the person: it belongs in a keyring or a file that nobody else
// can read.
type Grant struct {
	Client Client        `json:"client"`
	Token  *oauth2.Token `json:"token"`
	// TokenURL is where it is refreshed, Style how the client is named there.
	TokenURL string           `json:"token_url"`
	Style    oauth2.AuthStyle `json:"style"`
	Scopes   []string         `json:"scopes,omitempty"`
}

// ErrAuthorization is the error of an authorization that cannot work as it is given.
var ErrAuthorization = errors.New("invalid authorization")

// handler is the library's part, with a's answers.
func (a *Authorization) handler() (auth.OAuthHandler, error) {
	if a.Visit == nil {
		return a.unattended()
	}
	cfg := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: a.Redirect, AuthorizationCodeFetcher: a.fetch, Client: a.client(),
		RequestRefreshToken: true, NewTokenSource: a.renewing,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: us.Name, RedirectURIs: []string{a.Redirect},
			GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
	}
	if a.Document != "" {
		cfg.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: a.Document}
	}
	if a.Client != nil {
		cfg.PreregisteredClient = a.Client.credentials()
	}
	if g := a.Grant; g != nil && g.Token != nil {
		before := &oauth2.Config{
			ClientID: g.Client.ID, ClientSecret: g.Client.Secret, Scopes: g.Scopes,
			Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: g.Style},
		}
		ctx := context.WithValue(context.Background(), oauth2.HTTPClient, a.client())
		cfg.InitialTokenSource = a.source(ctx, before, g.Token)
	}
	handler, err := auth.NewAuthorizationCodeHandler(cfg)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAuthorization, err)
	}
	return handler, nil
}

// unattended is the way of a client that no person stands behind.
func (a *Authorization) unattended() (auth.OAuthHandler, error) {
	if a.Client == nil || a.Client.Secret == "" {
		return nil, fmt.Errorf("%w: it needs a way to visit a page, or a client with its secret", ErrAuthorization)
	}
	handler, err := extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{
		Credentials: a.Client.credentials(), HTTPClient: a.client(),
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAuthorization, err)
	}
	return detachedHandler{handler}, nil
}

// detachedHandler authorizes outside of the request that asked for it: the library gets later
// tokens in the context of the first, which is over by then.
type detachedHandler struct{ auth.OAuthHandler }

// Authorize is the library's, in a context that does not end.
func (l detachedHandler) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	return l.OAuthHandler.Authorize(context.WithoutCancel(ctx), req, resp)
}

func (c Client) credentials() *oauthex.ClientCredentials {
	out := &oauthex.ClientCredentials{ClientID: c.ID}
	if c.Secret != "" {
		out.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: c.Secret}
	}
	return out
}

func (a *Authorization) client() *http.Client { return cmp.Or(a.HTTP, http.DefaultClient) }

// fetch has the person visit the page and reads what the redirect was called with.
func (a *Authorization) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	back, err := a.Visit(ctx, args.URL)
	if err != nil {
		return nil, err
	}
	if code := back.Get("error"); code != "" {
		return nil, fmt.Errorf("the authorization server refused: %s %s", code, back.Get("error_description"))
	}
	return &auth.AuthorizationResult{Code: back.Get("code"), State: back.Get("state"), Iss: back.Get("iss")}, nil
}

// renewing keeps what was just granted, and what it is refreshed to.
func (a *Authorization) renewing(ctx context.Context, cfg *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
	s := a.source(ctx, cfg, token)
	return s, s.keep(token)
}

func (a *Authorization) source(ctx context.Context, cfg *oauth2.Config, token *oauth2.Token) *savingSource {
	return &savingSource{a: a, cfg: cfg, inner: cfg.TokenSource(ctx, token), last: token.AccessToken}
}

// savingSource is a source of tokens that keeps each one that differs from the one before.
type savingSource struct {
	a     *Authorization
	cfg   *oauth2.Config
	inner oauth2.TokenSource

	mu   sync.Mutex
	last string
}

// Token gives a token that is valid, or the one that cannot be refreshed: the server
// then asks for a new authorization, where an error would end the connection.
func (k *savingSource) Token() (*oauth2.Token, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	token, err := k.inner.Token()
	if err != nil {
		return &oauth2.Token{AccessToken: k.last}, nil //nolint:nilerr // see above
	}
	if token.AccessToken == k.last {
		return token, nil
	}
	k.last = token.AccessToken
	return token, k.keep(token)
}

func (k *savingSource) keep(token *oauth2.Token) error {
	if k.a.Keep == nil {
		return nil
	}
	err := k.a.Keep(Grant{
		Client: Client{k.cfg.ClientID, k.cfg.ClientSecret}, Token: token,
		TokenURL: k.cfg.Endpoint.TokenURL, Style: k.cfg.Endpoint.AuthStyle, Scopes: k.cfg.Scopes,
	})
	if err != nil {
		return fmt.Errorf("what the authorization server granted cannot be kept: %w", err)
	}
	return nil
}
