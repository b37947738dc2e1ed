import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from './root-route.tsx'

/** What anybody sees, without an account. */
const frame = createRoute({
  getParentRoute: () => rootRoute,
  id: 'public',
  component: lazyRouteComponent(() => import('./public/public-frame.tsx'), 'PublicFrame'),
})

const home = createRoute({
  getParentRoute: () => frame,
  path: '/',
  component: lazyRouteComponent(() => import('./public/home-page.tsx'), 'HomePage'),
})

export const publicRoutes = frame.addChildren([home])
