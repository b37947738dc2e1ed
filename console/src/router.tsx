import { createRouter } from '@tanstack/react-router'
import { queryClient } from './api/query-client.ts'
import { consoleRoutes } from './console-routes.tsx'
import { parseSearch, stringifySearch } from './console-search.ts'
import { publicRoutes } from './public-routes.tsx'
import { rootRoute } from './root-route.tsx'
import { Failed } from './shell/failed.tsx'
import { NotFound } from './shell/not-found.tsx'

/** Every page has its address here: those of the console, and those that anybody sees. */
export const router = createRouter({
  routeTree: rootRoute.addChildren([...consoleRoutes, publicRoutes]),
  context: { queryClient },
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: Failed,
  defaultNotFoundComponent: NotFound,
  parseSearch,
  stringifySearch,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
