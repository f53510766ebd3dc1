import express from 'express'
import { passportJwtSecret } from 'jwks-rsa'
import { Passport } from 'passport'
import { ExtractJwt, Strategy } from 'passport-jwt'

interface User {
  sub?: string
  scope?: string
}

export function createApp(issuer: string): express.Express {
  const jwksUri = `${issuer}/.well-known/jwks.json`
  const strategy = new Strategy(
    {
      secretOrKeyProvider: passportJwtSecret({ jwksUri, cache: true, rateLimit: true }),
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      issuer,
      audience: 'places',
      algorithms: ['RS256'],
    },
    (payload: User, done) => {
      done(null, payload)
    },
  )
  const passport = new Passport().use(strategy)
  const guard = passport.authenticate('jwt', { session: false }) as express.Handler
  const app = express()
  app.get('/health', (_request, response) => {
    response.json('well')
  })
  app.get('/hello', (request, response, next) => {
    const answer = (_error: unknown, user: User | false) => {
      response.json({ hello: user ? user.sub : 'stranger' })
    }
    const optional = passport.authenticate('jwt', { session: false }, answer) as express.Handler
    void optional(request, response, next)
  })
  app.use(guard)
  app.get('/places', (request, response) => {
    response.json({ readBy: (request.user as User).sub })
  })
  app.post('/places', (request, response) => {
    const { sub, scope = '' } = request.user as User
    if (scope.split(' ').includes('places:write')) response.status(201).json({ savedBy: sub })
    else response.sendStatus(403)
  })
  return app
}
