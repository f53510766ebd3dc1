import type { IncomingMessage } from 'node:http'

import { Inject, Module } from '@nestjs/common'
import {
  ConnectedSocket,
  type OnGatewayConnection,
  SubscribeMessage,
  WebSocketGateway,
  WsException,
} from '@nestjs/websockets'
import {
  type Auth,
  authenticateRequest,
  createVerifier,
  remoteKeys,
  type Verifier,
  watchToken,
} from '@portcullis/core'
import type { WebSocket } from 'ws'

import { adapter } from './index.ts'

// An application with a gateway, as packages/nest/RECIPES.md shows it.

const { PortcullisModule, Public } = adapter

/** What comes from elsewhere. */
class Settings {
  authUrl = 'http://127.0.0.1:1'
  readonly issuer: string = 'https://auth.test'
  readonly audience: string = 'api'
}

export const settings = new Settings()

@Module({ providers: [{ provide: Settings, useValue: settings }], exports: [Settings] })
class SettingsModule {}

// #region verifier
const VERIFIER = Symbol('VERIFIER')

@Module({
  imports: [SettingsModule],
  providers: [
    {
      provide: VERIFIER,
      inject: [Settings],
      useFactory: ({ authUrl, issuer, audience }: Settings) => {
        const keys = remoteKeys(`${authUrl}/tokenservice/pubkey.json`)
        return createVerifier({ keys, issuer, audience })
      },
    },
  ],
  exports: [VERIFIER],
})
class VerifierModule {}
// #endregion

// #region gateway
@Public()
@WebSocketGateway()
class Prices implements OnGatewayConnection {
  readonly #verifier: Verifier
  readonly #callers = new WeakMap<WebSocket, Promise<Auth | undefined>>()

  constructor(@Inject(VERIFIER) verifier: Verifier) {
    this.#verifier = verifier
  }

  handleConnection(socket: WebSocket, request: IncomingMessage) {
    const close = () => socket.close(1008)
    const caller = authenticateRequest(this.#verifier, request)
    this.#callers.set(socket, caller)
    const watch = (auth: Auth | undefined) => {
      if (auth !== undefined) socket.once('close', watchToken(this.#verifier, auth, close))
    }
    caller.then(watch, close)
  }

  @SubscribeMessage('price')
  async price(@ConnectedSocket() socket: WebSocket) {
    const auth = await this.#callers.get(socket)
    if (auth === undefined) throw new WsException('no token')
    return { event: 'price', data: { for: auth.claims.sub, price: 42 } }
  }
}
// #endregion

@Module({
  imports: [
    VerifierModule,
    // #region module
    PortcullisModule.forRootAsync({
      imports: [VerifierModule],
      inject: [VERIFIER],
      useFactory: (verifier: Verifier) => ({ verifier }),
    }),
    // #endregion
  ],
  providers: [Prices],
})
export class AppModule {}
