/** What a guard answers. The names are those of the rows in the guides. */
export interface Behaviour {
  readonly 'no token, or a bad one': string
  readonly 'a new key, tokens without `kid`': string
  readonly 'a new key behind the same `kid`': string
  readonly 'the key endpoint is down': string
  readonly 'the same on an optional route': string
  readonly '`WWW-Authenticate`': string
  readonly 'a bad token on an optional route': string
  readonly 'a token without `exp`': string
  readonly 'a bound token, as `Bearer`': string
  readonly '`Authorization: Bearer a b`': string
  readonly '`Authorization: Basic ...`': string
}

/** A package that people migrate from. */
export interface Peer {
  readonly name: string
  /** The package whose guide has a section with this name. */
  readonly guide: string
  /** The installed packages whose options the guide names: one that we install, and what that one depends on. */
  readonly options: readonly (readonly [installed: string, dependency?: string])[]
  /** Under the URL that the keys are published at. */
  readonly issuerPath: string
  readonly before: Behaviour
}

export const AFTER: Behaviour = {
  'no token, or a bad one': '401',
  'a new key, tokens without `kid`': '200',
  'a new key behind the same `kid`': '200',
  'the key endpoint is down': '503, `Retry-After`',
  'the same on an optional route': '503, `Retry-After`',
  '`WWW-Authenticate`': 'yes',
  'a bad token on an optional route': '401',
  'a token without `exp`': '401',
  'a bound token, as `Bearer`': '401',
  '`Authorization: Bearer a b`': '401',
  '`Authorization: Basic ...`': '401',
}

export const peers: readonly Peer[] = [
  {
    name: 'express-jwt',
    guide: 'express',
    options: [['express-jwt'], ['express-jwt', 'jsonwebtoken'], ['jwks-rsa']],
    issuerPath: '',
    before: {
      'no token, or a bad one': '401',
      'a new key, tokens without `kid`': '401',
      'a new key behind the same `kid`': '401',
      'the key endpoint is down': '500',
      'the same on an optional route': '500',
      '`WWW-Authenticate`': 'no',
      'a bad token on an optional route': '401',
      'a token without `exp`': '200',
      'a bound token, as `Bearer`': '200',
      '`Authorization: Bearer a b`': '401',
      '`Authorization: Basic ...`': '401',
    },
  },
  {
    name: 'express-oauth2-jwt-bearer',
    guide: 'express',
    options: [['express-oauth2-jwt-bearer']],
    issuerPath: '',
    before: {
      'no token, or a bad one': '401',
      'a new key, tokens without `kid`': '401',
      'a new key behind the same `kid`': '401',
      'the key endpoint is down': '401',
      'the same on an optional route': '200',
      '`WWW-Authenticate`': 'yes',
      'a bad token on an optional route': '200',
      'a token without `exp`': '401',
      'a bound token, as `Bearer`': '401',
      '`Authorization: Bearer a b`': '400',
      '`Authorization: Basic ...`': '400',
    },
  },
  {
    name: 'passport-jwt',
    guide: 'express',
    options: [['passport-jwt'], ['passport-jwt', 'jsonwebtoken'], ['passport'], ['jwks-rsa']],
    issuerPath: '',
    before: {
      'no token, or a bad one': '401',
      'a new key, tokens without `kid`': '401',
      'a new key behind the same `kid`': '401',
      'the key endpoint is down': '401',
      'the same on an optional route': '200',
      '`WWW-Authenticate`': 'no',
      'a bad token on an optional route': '200',
      'a token without `exp`': '200',
      'a bound token, as `Bearer`': '200',
      '`Authorization: Bearer a b`': '401',
      '`Authorization: Basic ...`': '401',
    },
  },
  {
    name: 'keycloak-connect',
    guide: 'express',
    options: [['keycloak-connect']],
    issuerPath: '/realms/acme',
    before: {
      'no token, or a bad one': '403',
      'a new key, tokens without `kid`': '403',
      'a new key behind the same `kid`': '403',
      'the key endpoint is down': '403',
      'the same on an optional route': '200',
      '`WWW-Authenticate`': 'no',
      'a bad token on an optional route': '200',
      'a token without `exp`': '200',
      'a bound token, as `Bearer`': '200',
      '`Authorization: Bearer a b`': '403',
      '`Authorization: Basic ...`': '403',
    },
  },
  {
    name: 'koa-jwt',
    guide: 'koa',
    options: [['koa-jwt'], ['jwks-rsa']],
    issuerPath: '',
    before: {
      'no token, or a bad one': '401',
      'a new key, tokens without `kid`': '401',
      'a new key behind the same `kid`': '401',
      'the key endpoint is down': '401',
      'the same on an optional route': '200',
      '`WWW-Authenticate`': 'no',
      'a bad token on an optional route': '200',
      'a token without `exp`': '200',
      'a bound token, as `Bearer`': '200',
      '`Authorization: Bearer a b`': '401',
      '`Authorization: Basic ...`': '401',
    },
  },
  {
    name: '@fastify/jwt',
    guide: 'fastify',
    options: [['@fastify/jwt'], ['@fastify/jwt', 'fast-jwt'], ['get-jwks']],
    issuerPath: '',
    before: {
      'no token, or a bad one': '401',
      'a new key, tokens without `kid`': '401',
      'a new key behind the same `kid`': '401',
      'the key endpoint is down': '500',
      'the same on an optional route': '500',
      '`WWW-Authenticate`': 'no',
      'a bad token on an optional route': '401',
      'a token without `exp`': '200',
      'a bound token, as `Bearer`': '200',
      '`Authorization: Bearer a b`': '400',
      '`Authorization: Basic ...`': '401',
    },
  },
  {
    name: 'hono/jwk',
    guide: 'hono',
    options: [['hono']],
    issuerPath: '',
    before: {
      'no token, or a bad one': '401',
      'a new key, tokens without `kid`': '401',
      'a new key behind the same `kid`': '200',
      'the key endpoint is down': '500',
      'the same on an optional route': '500',
      '`WWW-Authenticate`': 'yes',
      'a bad token on an optional route': '401',
      'a token without `exp`': '200',
      'a bound token, as `Bearer`': '200',
      '`Authorization: Bearer a b`': '401',
      '`Authorization: Basic ...`': '401',
    },
  },
]
