import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { textsOf } from './console-search.ts'
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
  component: lazyRouteComponent(() => import('./public/home/home-page.tsx'), 'HomePage'),
})

const catalog = createRoute({ getParentRoute: () => frame, path: '/models' })

const models = createRoute({
  getParentRoute: () => catalog,
  path: '/',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./public/models/models-page.tsx'), 'ModelsPage'),
})

/** The id of a model may have slashes. */
const model = createRoute({
  getParentRoute: () => catalog,
  path: '/$',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./public/models/model-page.tsx'), 'ModelPage'),
})

const docs = createRoute({
  getParentRoute: () => frame,
  path: '/docs',
  component: lazyRouteComponent(() => import('./public/docs/docs-frame.tsx'), 'DocsFrame'),
})

const document = lazyRouteComponent(() => import('./public/docs/document-page.tsx'), 'DocumentPage')
const docsStart = createRoute({ getParentRoute: () => docs, path: '/', component: document })
const docsPage = createRoute({ getParentRoute: () => docs, path: '/$', component: document })

const api = createRoute({
  getParentRoute: () => docs,
  path: '/api',
  component: lazyRouteComponent(() => import('./public/api/api-page.tsx'), 'ApiPage'),
})

const apiGroup = createRoute({
  getParentRoute: () => docs,
  path: '/api/$group',
  component: lazyRouteComponent(() => import('./public/api/api-group-page.tsx'), 'ApiGroupPage'),
})

export const publicRoutes = frame.addChildren([
  home,
  catalog.addChildren([models, model]),
  docs.addChildren([docsStart, api, apiGroup, docsPage]),
])
