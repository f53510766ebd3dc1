import { createTokenClient, TokenClientError } from '@portcullis/client'
import express, { type ErrorRequestHandler } from 'express'

const { AUTH_URL = 'http://127.0.0.1:4010', API_URL = 'http://127.0.0.1:3000' } = process.env
const { LOGIN_ID: loginId = 'demo', PASSWORD: password = 'demo', PORT = '3001' } = process.env

const tokens = createTokenClient({ authUrl: AUTH_URL, loginId, password, origins: [API_URL] })
export const app = express()

app.get('/health', (_request, response) => {
  response.json({ status: 'ok', token: tokens.status() })
})

// Whoever reaches this route acts with the token of this service: beyond the loopback, put a guard in front of it.
app.post('/orders', express.json(), async (request, response) => {
  const answer = await tokens.fetch(`${API_URL}/v1/clientLocations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request.body),
  })
  response.status(answer.ok ? 201 : 502).json(await answer.json())
})

const comeBackLater: ErrorRequestHandler = (error, _request, response, next) => {
  if (error instanceof TokenClientError) {
    response.set('retry-after', String(Math.ceil(error.retryAfter ?? 1)))
    response.status(503).json({ code: error.code })
  } else next(error)
}
app.use(comeBackLater)

export const server = app.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address()
  console.log(
    `service        http://127.0.0.1:${typeof address === 'object' ? address?.port : PORT}`,
  )
})
