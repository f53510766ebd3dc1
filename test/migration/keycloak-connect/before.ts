import express from 'express'
import KeycloakConnect from 'keycloak-connect'

interface Authenticated {
  kauth?: { grant?: { access_token: { content: { sub?: string } } } }
}

const subjectOf = (request: object) =>
  (request as Authenticated).kauth?.grant?.access_token.content.sub

export function createApp(issuer: string): express.Express {
  const [server = '', realm = ''] = issuer.split('/realms/')
  const config = {
    'auth-server-url': server,
    realm,
    resource: 'places',
    'ssl-required': 'external',
    'confidential-port': 0,
    'bearer-only': true,
    'verify-token-audience': true,
  }
  const keycloak = new KeycloakConnect({}, config)
  const app = express()
  app.get('/health', (_request, response) => {
    response.json('well')
  })
  app.use(keycloak.middleware())
  app.get('/hello', (request, response) => {
    response.json({ hello: subjectOf(request) ?? 'stranger' })
  })
  app.get('/places', keycloak.protect(), (request, response) => {
    response.json({ readBy: subjectOf(request) })
  })
  app.post('/places', keycloak.protect('realm:writer'), (request, response) => {
    response.status(201).json({ savedBy: subjectOf(request) })
  })
  app.delete('/places', keycloak.protect('admin'), (_request, response) => {
    response.sendStatus(204)
  })
  return app
}
