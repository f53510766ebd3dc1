import { entra } from '../src/index.ts'
import type { Case, Change } from './cases.ts'

// What goes wrong most with each provider, by the rows of its page: what is sent instead, as that provider issues it.

export interface Wrong {
  readonly change?: Change
  /** Who signed it. `stranger`: a key that is not published; `altered`: the header names one that is, and the signature is another. */
  readonly by?: 'stranger' | 'altered'
  /** The token as it is. */
  readonly text?: string
  /** What the provider's documents are instead, by their URL: a number is the status of a failure. */
  readonly documents?: Readonly<Record<string, unknown>>
  /** The request comes without this header, which the guard reads. */
  readonly without?: string
  /** Options other than those of the page, and where their keys are. */
  readonly preset?: Case['preset']
  readonly keyUrl?: string
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

const TENANT = '11111111-2222-3333-4444-555555555555'
const ENTRA_API = '6e74172b-be56-4843-9ff4-e66a39bb12e3'
const FIRST_ISSUER = `https://sts.windows.net/${TENANT}/`
const OPAQUE: Wrong = { text: 'VmFsaWQgbG9va2luZyBidXQgb3BhcXVl' }

/** Of Entra without claims of a user: what both versions have in common. */
const first = (claims: object): Change => ({
  claims: { iss: FIRST_ISSUER, ver: '1.0', appid: 'web', azp: undefined, ...claims },
})

/** In the order of the rows. Several tokens may lead to one row. */
export const wrongTokens: Readonly<Record<string, readonly (readonly Wrong[])[]>> = {
  'access-tokens': [
    [{ change: { header: { typ: 'JWT' } } }],
    [{ change: { claims: { jti: undefined } } }],
    [
      {
        documents: {
          'https://id.example.com/.well-known/openid-configuration': {
            issuer: 'https://id.example.com/',
            jwks_uri: 'https://id.example.com/jwks',
          },
        },
      },
    ],
  ],
  auth0: [
    // Without `audience` Auth0 issues an encrypted token, which it alone can read.
    [{ text: `${part({ alg: 'dir', enc: 'A256GCM' })}..aXY.Y2lwaGVydGV4dA.dGFn` }],
    [{ change: { claims: { aud: 'my_client_id', azp: undefined, nonce: 'n', scope: undefined } } }],
    [{ change: { claims: { iss: 'https://login.example.com/' } } }],
  ],
  clerk: [
    [{ change: { claims: { azp: undefined } } }],
    [{ change: { claims: { azp: 'https://www.example.com' } } }],
    [{ change: { claims: { sid: undefined } } }],
    [{ change: { claims: { exp: 1_763_870_460, nbf: 1_763_870_390, iat: 1_763_870_400 } } }],
  ],
  'cloudflare-access': [
    [{ change: { claims: { aud: ['97e2aae12012'] } } }],
    [{ change: { claims: { type: 'org' } } }],
    [{ without: 'cf-access-jwt-assertion' }],
  ],
  cognito: [
    [
      {
        change: {
          claims: { token_use: 'id', aud: 'app1', client_id: undefined, scope: undefined },
        },
      },
    ],
    [{ change: { claims: { client_id: 'app2' } } }],
  ],
  entra: [
    [{ change: first({}) }, { change: first({ aud: `api://${ENTRA_API}` }) }],
    [{ change: { claims: { azp: undefined, scp: undefined, nonce: 'n' } } }],
    [
      {
        change: first({ aud: `api://${ENTRA_API}` }),
        preset: (keys) => entra({ tenant: TENANT, audience: ENTRA_API, version: '1.0' }, keys),
        keyUrl: `https://login.microsoftonline.com/${TENANT}/discovery/keys`,
      },
    ],
    [
      {
        change: {
          ...first({ aud: '00000003-0000-0000-c000-000000000000' }),
          header: { nonce: 'n' },
        },
        by: 'altered',
      },
    ],
    [{ by: 'stranger' }],
  ],
  firebase: [
    [
      {
        change: { claims: { iss: 'https://session.firebase.google.com/shop-1a2b3' } },
        by: 'stranger',
      },
      {
        change: {
          claims: {
            iss: 'firebase-adminsdk@shop-1a2b3.iam.gserviceaccount.com',
            sub: 'firebase-adminsdk@shop-1a2b3.iam.gserviceaccount.com',
            aud: 'https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit',
            auth_time: undefined,
            uid: 'Xk893u23',
          },
        },
        by: 'stranger',
      },
    ],
    [{ change: { claims: { iss: 'https://securetoken.google.com/other', aud: 'other' } } }],
  ],
  'github-actions': [
    [{ change: { claims: { aud: 'https://github.com/octo-org' } } }],
    [{ change: { claims: { repository: 'octo-org/other' } } }],
    [{ change: { claims: { ref: 'refs/pull/7/merge' } } }],
  ],
  gitlab: [
    [{ change: { claims: { aud: 'https://vault.example.com' } } }],
    [{ change: { claims: { project_path: 'group/moved' } } }],
    [{ change: { claims: { ref_protected: 'false' } } }],
  ],
  google: [
    [{ change: { claims: { email: undefined, email_verified: undefined } } }],
    [{ change: { claims: { email: 'jobs@shop.iam.gserviceaccount.com' } } }],
    [{ change: { claims: { aud: 'https://api.example.com/tasks' } } }],
  ],
  iap: [
    [{ change: { claims: { aud: '/projects/123456789/global/backendServices/1' } } }],
    [{ text: `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ sub: 'ada' })}.c2lnbmF0dXJl` }],
    [{ without: 'x-goog-iap-jwt-assertion' }],
  ],
  keycloak: [
    [{ change: { claims: { aud: 'account' } } }],
    [{ change: { claims: { aud: undefined } } }],
    [{ change: { claims: { aud: 'web-shop', typ: 'ID', at_hash: 'h', scope: undefined } } }],
    [{ change: { claims: { aud: 'orders', typ: 'ID', azp: 'orders', scope: undefined } } }],
    [{ change: { claims: { iss: 'http://keycloak:8080/realms/shop' } } }],
  ],
  kubernetes: [
    [{ change: { claims: { aud: ['https://kubernetes.default.svc.cluster.local'] } } }],
    [{ change: { claims: { sub: 'system:serviceaccount:shop:default' } } }],
    [
      {
        documents: {
          'https://oidc.example.com/cluster-1/.well-known/openid-configuration': 403,
          'https://oidc.example.com/.well-known/oauth-authorization-server/cluster-1': 403,
        },
      },
    ],
    [{ change: { claims: { iss: 'kubernetes/serviceaccount', aud: undefined, exp: undefined } } }],
  ],
  logto: [
    [OPAQUE],
    [{ change: { claims: { aud: 'my_app', client_id: undefined, scope: undefined } } }],
    [{ change: { claims: { iss: 'https://login.example.com/oidc' } } }],
  ],
  okta: [
    [{ change: { claims: { iss: 'https://example.okta.com' } }, by: 'stranger' }],
    [{ change: { claims: { aud: '0oa1client', cid: undefined, scp: undefined } } }],
    [{ change: { claims: { iss: 'https://login.example.com/oauth2/default' } } }],
  ],
  spiffe: [
    [{ change: { claims: { aud: ['billing'] } } }],
    [{ change: { claims: { sub: 'spiffe://other.example.org/ns/shop/sa/web' } } }],
    [
      {
        documents: {
          'https://spire.example.org/bundle.json': {
            keys: [{ kty: 'RSA', use: 'x509-svid', x5c: ['MIIB'] }],
          },
        },
      },
    ],
    [
      {
        documents: {
          'https://spire.example.org/bundle.json': {
            keys: [{ kty: 'EC', crv: 'P-256', use: 'sig' }],
          },
        },
      },
    ],
  ],
  supabase: [
    [{ text: `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ role: 'anon' })}.c2lnbmF0dXJl` }],
    [
      {
        documents: {
          'https://abcdefghijklmnopqrst.supabase.co/auth/v1/.well-known/jwks.json': { keys: [] },
        },
      },
    ],
    [{ change: { claims: { role: 'service' } } }],
  ],
  'token-service-at': [
    [{ documents: { 'https://auth.example.com/tokenservice/pubkey.json': 404 } }],
    [{ by: 'altered' }],
    [{ by: 'stranger' }],
  ],
  zitadel: [
    [OPAQUE],
    [{ change: { claims: { jti: undefined, nonce: 'n' } } }],
    [{ change: { claims: { aud: ['69234237810729234'] } } }],
  ],
}
