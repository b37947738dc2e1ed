import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { sessionQuery } from './api/session.ts'
import { textsOf } from './console-search.ts'
import { rootRoute } from './root-route.tsx'
import { Starting } from './shell/starting.tsx'

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/console/sign-in',
  validateSearch: (search: Record<string, unknown>): { to?: string } =>
    typeof search.to === 'string' ? { to: search.to } : {},
  component: lazyRouteComponent(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
})

/** The token stands behind the `#`, which browsers do not send: opening the link leaves it in no log. The page then calls the API with it. */
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
  // A slow gateway must not be a white page. What comes within 150 ms shows no bars.
  pendingComponent: Starting,
  pendingMs: 0,
  pendingMinMs: 0,
})

const overview = createRoute({
  getParentRoute: () => frame,
  path: '/console',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
})

const log = createRoute({
  getParentRoute: () => frame,
  path: '/console/log',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/log/log-page.tsx'), 'LogPage'),
})

/** A row that is open beside the others has an address of its own. */
const logRow = createRoute({ getParentRoute: () => log, path: '/$id' })

const jobs = createRoute({
  getParentRoute: () => frame,
  path: '/console/jobs',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/jobs/jobs-page.tsx'), 'JobsPage'),
})

/** A row that is open beside the others has an address of its own. */
const jobsRow = createRoute({ getParentRoute: () => jobs, path: '/$id' })

const alerts = createRoute({
  getParentRoute: () => frame,
  path: '/console/alerts',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/alerts/alerts-page.tsx'), 'AlertsPage'),
})

/** A row that is open beside the others has an address of its own. */
const alertsRow = createRoute({ getParentRoute: () => alerts, path: '/$id' })

const audit = createRoute({
  getParentRoute: () => frame,
  path: '/console/audit',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
})

/** A row that is open beside the others has an address of its own. */
const auditRow = createRoute({ getParentRoute: () => audit, path: '/$id' })

const playground = createRoute({
  getParentRoute: () => frame,
  path: '/console/playground',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/playground/playground-page.tsx'), 'PlaygroundPage'),
})

const tenants = createRoute({
  getParentRoute: () => frame,
  path: '/console/tenants',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/tenants/tenants-page.tsx'), 'TenantsPage'),
})

const tenant = createRoute({
  getParentRoute: () => frame,
  path: '/console/tenants/$id',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/tenants/tenant-page.tsx'), 'TenantPage'),
})

const keys = createRoute({
  getParentRoute: () => frame,
  path: '/console/keys',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/keys/keys-page.tsx'), 'KeysPage'),
})

const key = createRoute({
  getParentRoute: () => frame,
  path: '/console/keys/$id',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/keys/key-page.tsx'), 'KeyPage'),
})

const groups = createRoute({
  getParentRoute: () => frame,
  path: '/console/groups',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/groups/groups-page.tsx'), 'GroupsPage'),
})

const group = createRoute({
  getParentRoute: () => frame,
  path: '/console/groups/$id',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/groups/group-page.tsx'), 'GroupPage'),
})

const users = createRoute({
  getParentRoute: () => frame,
  path: '/console/users',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/users/users-page.tsx'), 'UsersPage'),
})

const channels = createRoute({
  getParentRoute: () => frame,
  path: '/console/channels',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/channels/channels-page.tsx'), 'ChannelsPage'),
})

const channel = createRoute({
  getParentRoute: () => frame,
  path: '/console/channels/$id',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/channels/channel-page.tsx'), 'ChannelPage'),
})

const models = createRoute({
  getParentRoute: () => frame,
  path: '/console/models',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/models/models-page.tsx'), 'ModelsPage'),
})

const model = createRoute({
  getParentRoute: () => frame,
  path: '/console/models/$id',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/models/model-page.tsx'), 'ModelPage'),
})

const setUp = createRoute({
  getParentRoute: () => frame,
  path: '/console/set-up',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/set-up/set-up-page.tsx'), 'SetUpPage'),
})

const ledger = createRoute({
  getParentRoute: () => frame,
  path: '/console/ledger',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/ledger/ledger-page.tsx'), 'LedgerPage'),
})

const settings = createRoute({
  getParentRoute: () => frame,
  path: '/console/settings',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
})

const account = createRoute({
  getParentRoute: () => frame,
  path: '/console/account',
  validateSearch: textsOf,
  component: lazyRouteComponent(() => import('./pages/account/account-page.tsx'), 'AccountPage'),
})

export const consoleRoutes = [
  signIn,
  link,
  frame.addChildren([
    overview,
    log.addChildren([logRow]),
    jobs.addChildren([jobsRow]),
    alerts.addChildren([alertsRow]),
    audit.addChildren([auditRow]),
    playground,
    tenants,
    tenant,
    keys,
    key,
    groups,
    group,
    users,
    channels,
    channel,
    models,
    model,
    setUp,
    ledger,
    settings,
    account,
  ]),
]
