/** What a guard answers. The names are those of the rows in the guides. */
export interface Behaviour {
  readonly 'a new key, tokens without `kid`': string
  readonly 'a new key behind the same `kid`': string
  readonly 'the key endpoint is down': string
  readonly '`WWW-Authenticate`': string
  readonly 'a bad token on an optional route': string
  readonly 'a token without `exp`': string
  readonly '`Authorization: Bearer a b`': string
  readonly '`Authorization: Basic ...`': string
}

/** A package that people migrate from. */
export interface Peer {
  readonly name: string
  /** The package whose guide has a section with this name. */
  readonly guide: string
  /** Where its options are declared or read, for the first column of the guide's table. */
  readonly sources: readonly string[]
  /** Under the URL that the keys are published at. */
  readonly issuerPath: string
  /** What it answers to a request that has no right token. */
  readonly refusal: number
  readonly before: Behaviour
}

export const AFTER: Behaviour = {
  'a new key, tokens without `kid`': '200',
  'a new key behind the same `kid`': '200',
  'the key endpoint is down': '503, `Retry-After`',
  '`WWW-Authenticate`': 'yes',
  'a bad token on an optional route': '401',
  'a token without `exp`': '401',
  '`Authorization: Bearer a b`': '400',
  '`Authorization: Basic ...`': '401',
}

export const peers: readonly Peer[] = [
  {
    name: 'express-jwt',
    guide: 'express',
    sources: ['express-jwt', 'jsonwebtoken', '@types/jsonwebtoken', 'jwks-rsa'],
    issuerPath: '',
    refusal: 401,
    before: {
      'a new key, tokens without `kid`': '401',
      'a new key behind the same `kid`': '401',
      'the key endpoint is down': '500',
      '`WWW-Authenticate`': 'no',
      'a bad token on an optional route': '401',
      'a token without `exp`': '200',
      '`Authorization: Bearer a b`': '401',
      '`Authorization: Basic ...`': '401',
    },
  },
  {
    name: 'express-oauth2-jwt-bearer',
    guide: 'express',
    sources: ['express-oauth2-jwt-bearer'],
    issuerPath: '',
    refusal: 401,
    before: {
      'a new key, tokens without `kid`': '401',
      'a new key behind the same `kid`': '401',
      'the key endpoint is down': '401',
      '`WWW-Authenticate`': 'yes',
      'a bad token on an optional route': '200',
      'a token without `exp`': '401',
      '`Authorization: Bearer a b`': '400',
      '`Authorization: Basic ...`': '400',
    },
  },
  {
    name: 'passport-jwt',
    guide: 'express',
    sources: ['passport-jwt', 'passport', 'jsonwebtoken', 'jwks-rsa'],
    issuerPath: '',
    refusal: 401,
    before: {
      'a new key, tokens without `kid`': '401',
      'a new key behind the same `kid`': '401',
      'the key endpoint is down': '401',
      '`WWW-Authenticate`': 'no',
      'a bad token on an optional route': '200',
      'a token without `exp`': '200',
      '`Authorization: Bearer a b`': '401',
      '`Authorization: Basic ...`': '401',
    },
  },
  {
    name: 'keycloak-connect',
    guide: 'express',
    sources: ['keycloak-connect'],
    issuerPath: '/realms/acme',
    refusal: 403,
    before: {
      'a new key, tokens without `kid`': '403',
      'a new key behind the same `kid`': '403',
      'the key endpoint is down': '403',
      '`WWW-Authenticate`': 'no',
      'a bad token on an optional route': '200',
      'a token without `exp`': '200',
      '`Authorization: Bearer a b`': '403',
      '`Authorization: Basic ...`': '403',
    },
  },
  {
    name: 'koa-jwt',
    guide: 'koa',
    sources: ['koa-jwt', 'jsonwebtoken', 'jwks-rsa'],
    issuerPath: '',
    refusal: 401,
    before: {
      'a new key, tokens without `kid`': '401',
      'a new key behind the same `kid`': '401',
      'the key endpoint is down': '401',
      '`WWW-Authenticate`': 'no',
      'a bad token on an optional route': '200',
      'a token without `exp`': '200',
      '`Authorization: Bearer a b`': '401',
      '`Authorization: Basic ...`': '401',
    },
  },
  {
    name: '@fastify/jwt',
    guide: 'fastify',
    sources: ['@fastify/jwt', 'fast-jwt', 'get-jwks'],
    issuerPath: '',
    refusal: 401,
    before: {
      'a new key, tokens without `kid`': '401',
      'a new key behind the same `kid`': '401',
      'the key endpoint is down': '500',
      '`WWW-Authenticate`': 'no',
      'a bad token on an optional route': '401',
      'a token without `exp`': '200',
      '`Authorization: Bearer a b`': '400',
      '`Authorization: Basic ...`': '401',
    },
  },
  {
    name: 'hono/jwk',
    guide: 'hono',
    sources: ['hono/dist/types/middleware/jwk', 'hono/dist/types/utils/jwt'],
    issuerPath: '',
    refusal: 401,
    before: {
      'a new key, tokens without `kid`': '401',
      'a new key behind the same `kid`': '200',
      'the key endpoint is down': '500',
      '`WWW-Authenticate`': 'yes',
      'a bad token on an optional route': '401',
      'a token without `exp`': '200',
      '`Authorization: Bearer a b`': '401',
      '`Authorization: Basic ...`': '401',
    },
  },
]
