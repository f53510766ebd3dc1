/** What a run measured, by the name of the figure. */
export type Figures = Readonly<Record<string, number>>

/** At most so much, or at least. */
export type Limit = { readonly atMost: number } | { readonly atLeast: number }

/** What is promised of a figure, and what a run on a machine of its own does not miss. */
export interface Floor {
  readonly figure: string
  readonly goal?: Limit | undefined
  /** Only of ratios in one run: an absolute time says more about the machine than about us. */
  readonly floor?: Limit | undefined
}

/** @param goal At most, and so is the floor. */
function most(figure: string, goal?: number, floor?: number): Floor {
  return { figure, goal: limitOf(goal), floor: limitOf(floor) }
}

function limitOf(atMost: number | undefined): Limit | undefined {
  return atMost === undefined ? undefined : { atMost }
}

const MICRO: readonly Floor[] = [
  // Beside the minimal verifier alone: how fast JavaScript is beside the platform's own call depends on the processor.
  most('new token / minimal verifier', 1.08, 1.8),
  // Where others keep every core busy, the thread pool saves no time. What it costs to hand a signature over is the machine's.
  most('new tokens, 64 at once / minimal verifier: wall', 0.85, 2.3),
  most('new tokens, 64 at once / minimal verifier: main', 0.45, 1),
  // Twice as long as RS512 on the main thread: all but one of these have to leave it.
  most('ES256, 64 at once / bare call: main thread', undefined, 0.75),
  // In one run of one version it was 1.33 and then 1.10.
  most('new token / fastest peer', 1.03, 1.45),
  most('forged signature / minimal verifier', 1.1, 1.7),
  // Without a signature check: a flood of such tokens must not pay for sentences that nobody reads. An error takes most of it, here and there.
  most('token of another algorithm / minimal verifier', 1, 2.5),
  most('malformed token / cheapest peer', 1, 1.6),
  { figure: "fast-jwt's cache / repeated token", goal: { atLeast: 10 }, floor: { atLeast: 4 } },
  most('repeated token / minimal verifier', undefined, 0.06),
  // What an adapter does for each request, without a promise: one that is awaited costs about as much again.
  most('repeated token in a guard / minimal verifier', undefined, 0.06),
  most('guard with a schema of zod / minimal verifier', 0.066, 0.3),
  // It also looks for what it knows of the token, reads the answer strictly, and counts.
  most('opaque token, new / a loop of `fetch`', 1.2, 2.5),
  most('scrape of 100 key sources / minimal verifier', 90, 400),
  // At every request: it must stay small beside anything else that a request costs.
  most('look-up among 100,000 revocations / minimal', 0.004, 0.015),
  most('guard that asks revocations / guard', 1.3, 2),
  // It reads the payload before the signature is proven, once more, to find who judges the token.
  most('new token through byIssuer / new token', 1.2, 1.6),
  most('guard of byIssuer / guard', 1.3, 2),
  // A bearer token pays nothing for the guard's taking bound ones as well.
  most('guard that takes DPoP / guard', 1.1, 1.5),
  // The answer of the issuer is held: what differs is the look at two clocks instead of at the keys.
  most('guard of an opaque token / guard', 1.2, 2),
  most('guard of an opaque token, byForm / guard', 1.3, 2),
  most('repeated token beyond a promise / minimal verifier', 0.01),
]

/** Both remember the token: what is left is what a guard does with a request. */
const GUARDS: readonly Floor[] = ['Express', 'Koa', 'Fastify', 'Hono', 'Nest'].map((name) =>
  // In Nest a guard is a small part of a request: 0.96 to 1.99 were seen within three hours, and in Express 0.67 to 1.08.
  most(`${name}: what a guard adds / with fast-jwt's cache`, 0.5, name === 'Nest' ? 3 : 1.5),
)

/** In fresh processes. */
const STARTS: readonly Floor[] = [
  most('import of core / jose', 0.9, 0.9),
  // The overview is printed without commander. Medians of nine rounds on a machine with six other jobs were 1.40 to 1.43.
  most('`portcullis --help` / Node alone', 1.5, 1.5),
  most('first 200: our guard / jose, by hand', 1, 1.15),
]

/** A guard of a remembered token while its verdicts are counted, beside one that nobody listens to. */
const METRICS: readonly Floor[] = ['prometheus', 'opentelemetry'].map((entry) =>
  most(`metrics: guard with \`${entry}\` / guard`, 1.6, 3),
)

/** By the bench that measures them. */
export const FLOORS = { micro: MICRO, guards: GUARDS, starts: STARTS, metrics: METRICS } as const

export function isWithin(value: number, limit: Limit): boolean {
  return 'atMost' in limit ? value <= limit.atMost : value >= limit.atLeast
}

export function describeLimit(limit: Limit | undefined): string {
  if (limit === undefined) return ''
  return 'atMost' in limit ? `at most ${limit.atMost}` : `at least ${limit.atLeast}`
}
