// What whoever is given a list of routes needs to know of it, and nothing of how it is made.

export { givenRoutes } from './routes/given-routes.ts'
export type {
  FunctionBefore,
  Route,
  RouteList,
  RouteRequirement,
  RouteState,
} from './routes/route-list.ts'
