// What the story and its workers have to agree on.

export interface Settings {
  /** When the fast clock was started. */
  readonly start: number
  readonly keyUrl: string
  readonly partnerUrl: string
  readonly authUrl: string
  readonly redisUrl: string
  /** The key of an issuer in real time. */
  readonly directKey: Readonly<Record<string, unknown>>
  readonly introspection: {
    readonly endpoint: string
    readonly issuer: string
    readonly audience: null
    readonly clientId: string
    readonly clientSecret: string
  }
}

export const DIRECT = 'https://direct.test'
export const CLIENT = 'web'
/** Where clients find the API, as proofs say. */
export const ORIGIN = 'https://api.test'
export const LOGIN = { loginId: 'orders', password: 'secret' }
