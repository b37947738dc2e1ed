import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { sessionQuery } from './api/session.ts'
import { rootRoute } from './root-route.tsx'

/** A search parameter is a text, a list of texts, or absent. Each page reads those that it knows. */
export type Search = Readonly<Record<string, string | string[] | undefined>>

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/console/sign-in',
  validateSearch: (search: Record<string, unknown>): { to?: string } =>
    typeof search.to === 'string' ? { to: search.to } : {},
  component: lazyRouteComponent(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
})

/** The link stands behind the `#`, which browsers do not send: no log of a proxy has it. */
const link = createRoute({
  getParentRoute: () => rootRoute,
  path: '/console/link',
  component: lazyRouteComponent(() => import('./pages/sign-in/link-page.tsx'), 'LinkPage'),
})

/** All pages for people who are signed in. Nobody else gets to see their frame. */
const frame = createRoute({
  getParentRoute: () => rootRoute,
  id: 'console',
  async beforeLoad({ context, location }) {
    const session = await context.queryClient.ensureQueryData(sessionQuery)
    if (session === null) throw redirect({ to: '/console/sign-in', search: { to: location.href } })
  },
  component: lazyRouteComponent(() => import('./shell/console-frame.tsx'), 'ConsoleFrame'),
})

const overview = createRoute({
  getParentRoute: () => frame,
  path: '/console',
  component: lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
})

export const consoleRoutes = [signIn, link, frame.addChildren([overview])]
