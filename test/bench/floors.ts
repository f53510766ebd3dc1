/** What a run measured, by the name of the figure. */
export type Figures = ReadonlyMap<string, number>

/** At most so much, or at least. */
export type Limit = { readonly atMost: number } | { readonly atLeast: number }

/** What is promised of a figure, and what a run on a machine of its own does not miss. */
export interface Floor {
  readonly figure: string
  readonly goal?: Limit
  /** Only of ratios in one run: an absolute time says more about the machine than about us. */
  readonly floor?: Limit
}

export const FLOORS: readonly Floor[] = [
  {
    // No floor: how fast JavaScript is beside the platform's own call depends on who else uses the machine.
    figure: 'new token / bare call',
    goal: { atMost: 1.2 },
  },
  {
    figure: 'new token / minimal verifier',
    floor: { atMost: 1.8 },
  },
  {
    figure: 'new tokens, 64 at once / bare call: wall',
    goal: { atMost: 1.05 },
    // Where others keep every core busy, the thread pool saves no time.
    floor: { atMost: 3 },
  },
  {
    figure: 'new tokens, 64 at once / bare call: main thread',
    goal: { atMost: 0.55 },
    floor: { atMost: 1.3 },
  },
  {
    // Twice as long as RS512 on the main thread: all but one of these have to leave it.
    figure: 'ES256, 64 at once / bare call: main thread',
    floor: { atMost: 0.75 },
  },
  {
    figure: 'new token / fastest peer',
    goal: { atMost: 1.03 },
    // In one run of one version it was 1.33 and then 1.10.
    floor: { atMost: 1.45 },
  },
  {
    figure: 'forged signature / bare call',
    goal: { atMost: 1.22 },
  },
  {
    figure: 'forged signature / minimal verifier',
    floor: { atMost: 1.7 },
  },
  {
    // Refused without a signature check: a flood of such tokens must not pay for sentences that nobody reads.
    figure: 'token of another algorithm / bare call',
    goal: { atMost: 0.2 },
  },
  {
    // To make an error takes most of it, here and there.
    figure: 'token of another algorithm / minimal verifier',
    floor: { atMost: 2.5 },
  },
  {
    figure: 'malformed token / cheapest peer',
    goal: { atMost: 1 },
    floor: { atMost: 1.6 },
  },
  {
    figure: "fast-jwt's cache / repeated token",
    goal: { atLeast: 10 },
    floor: { atLeast: 4 },
  },
  {
    figure: 'repeated token / minimal verifier',
    floor: { atMost: 0.06 },
  },
  {
    // What an adapter does for each request, without a promise: one that is awaited costs about as much again.
    figure: 'repeated token in a guard / minimal verifier',
    floor: { atMost: 0.06 },
  },
  {
    // At every request: it must stay small beside anything else that a request costs.
    figure: 'look-up among 100,000 revocations / bare call',
    goal: { atMost: 0.005 },
    floor: { atMost: 0.02 },
  },
  {
    figure: 'guard that asks revocations / guard',
    goal: { atMost: 1.3 },
    floor: { atMost: 2 },
  },
  {
    // It reads the payload before the signature is proven, once more, to find who judges the token.
    figure: 'new token through byIssuer / new token',
    goal: { atMost: 1.2 },
    floor: { atMost: 1.6 },
  },
  {
    figure: 'guard of byIssuer / guard',
    goal: { atMost: 1.3 },
    floor: { atMost: 2 },
  },
  {
    // A bearer token pays nothing for the guard's taking bound ones as well.
    figure: 'guard that takes DPoP / guard',
    goal: { atMost: 1.1 },
    floor: { atMost: 1.5 },
  },
  {
    // The answer of the issuer is held: what differs is the look at two clocks instead of at the keys.
    figure: 'guard of an opaque token / guard',
    goal: { atMost: 1.2 },
    floor: { atMost: 2 },
  },
  {
    figure: 'guard of an opaque token, byForm / guard',
    goal: { atMost: 1.3 },
    floor: { atMost: 2 },
  },
  {
    figure: 'repeated token beyond a promise, µs',
    goal: { atMost: 0.22 },
  },
]

/** Of `guards.ts`, for each framework. Both remember the token: what is left is what a guard does with a request. */
export const GUARD_FLOORS: readonly Floor[] = ['Express', 'Koa', 'Fastify', 'Hono', 'Nest'].map(
  (framework) => ({
    figure: `${framework}: what a guard adds / with fast-jwt's cache`,
    goal: { atMost: 0.7 },
    // In Nest a guard is a small part of a request: 0.96 to 1.99 were seen within three hours, and in Express 0.67 to 1.08.
    floor: { atMost: framework === 'Nest' ? 3 : 1.5 },
  }),
)

/** Of `starts.ts`, in fresh processes. */
export const START_FLOORS: readonly Floor[] = [
  { figure: 'import of core / jose', goal: { atMost: 0.9 }, floor: { atMost: 0.9 } },
  {
    // The overview is printed without commander. Medians of nine rounds on a machine with six other jobs were 1.40 to 1.43.
    figure: '`portcullis --help` / Node alone',
    goal: { atMost: 1.5 },
    floor: { atMost: 1.5 },
  },
  { figure: 'first 200: our guard / jose, by hand', goal: { atMost: 1 }, floor: { atMost: 1.15 } },
]

/** Of `metrics.ts`: a guard of a remembered token while its verdicts are counted, beside one that nobody listens to. */
export const METRICS_FLOORS: readonly Floor[] = ['prometheus', 'opentelemetry'].flatMap((entry) => [
  { figure: `metrics: what \`${entry}\` adds to a guarded request, µs`, goal: { atMost: 0.5 } },
  // A guard alone takes less than the goal allows, so this is wide.
  { figure: `metrics: guard with \`${entry}\` / guard`, floor: { atMost: 3 } },
])

export function isWithin(value: number, limit: Limit): boolean {
  return 'atMost' in limit ? value <= limit.atMost : value >= limit.atLeast
}

export function describeLimit(limit: Limit): string {
  return 'atMost' in limit ? `at most ${limit.atMost}` : `at least ${limit.atLeast}`
}

export function isMeasured(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value)
}
