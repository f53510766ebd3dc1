import { scope } from '@portcullis/core'
import { authenticate, authorize, getAuth } from '@portcullis/express'
import express from 'express'

import type { Guarded } from './guarded.js'

export const guarded: Guarded = (verifier, onRefusal) => {
  const app = express().set('env', 'test')
  const guard = authenticate(verifier, {
    onRefusal: (error, request: express.Request) => {
      onRefusal(error.reason, request.path)
    },
  })
  app.get('/', guard, authorize(scope('read')), (request, response) => {
    response.json(getAuth(request).claims.sub)
  })
  return app.listen(0, '127.0.0.1')
}
