// What a list of an application's routes is made of. Each adapter reads its framework, and what is proven is decided here.

export { FASTIFY_HOOKS, type FastifyHook, hooksOf } from './routes/fastify-hooks.ts'
export { guardMark, type GuardMark, requiredBy } from './routes/guard-mark.ts'
export { type Candidate, routeListOf, type Step } from './routes/judgement.ts'
export {
  anyReach,
  isElsewhere,
  literalSegments,
  type Reach,
  reachOf,
  type Segment,
  segmentsOf,
  type Target,
} from './routes/path.ts'
export { missingRoutes, printedRoutes } from './routes/printed-routes.ts'
export type {
  FunctionBefore,
  Route,
  RouteList,
  RouteRequirement,
  RouteState,
} from './routes/route-list.ts'
export {
  type OpenApiSecurity,
  type OperationSecurity,
  securityOf,
  type SecurityOfOptions,
  type SecurityScheme,
  type UndescribedRoute,
} from './routes/security.ts'
