import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { isReachable, unreachable } from './api/client.ts'
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

/**
 * Browsers do not send what follows the `#`, so the token is in no log. The page then calls the API with it.
 */
const link = createRoute({
  getParentRoute: () => rootRoute,
  path: '/console/link',
  component: lazyRouteComponent(() => import('./pages/sign-in/link-page.tsx'), 'LinkPage'),
})

/** All pages for people who are signed in. Others do not see their frame. */
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

/** A page in the frame. Its code is loaded when it is opened. */
function page<const Path extends string, Name extends string>(
  path: Path,
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
) {
  return createRoute({
    getParentRoute: () => frame,
    path,
    validateSearch: textsOf,
    component: lazyRouteComponent(() => load().catch(orUnreachable), name),
  })
}

/**
 * Without the network the code of a page fails to load as if an upgrade had taken it away, for which the
 * router loads everything anew: the reader would stand before a page of the browser.
 */
async function orUnreachable(error: unknown): Promise<never> {
  throw (await isReachable()) ? error : unreachable()
}

const log = page('/console/log', () => import('./pages/log/log-page.tsx'), 'LogPage')
const jobs = page('/console/jobs', () => import('./pages/jobs/jobs-page.tsx'), 'JobsPage')
const alerts = page('/console/alerts', () => import('./pages/alerts/alerts-page.tsx'), 'AlertsPage')
const audit = page('/console/audit', () => import('./pages/audit/audit-page.tsx'), 'AuditPage')

export const consoleRoutes = [
  signIn,
  link,
  frame.addChildren([
    page('/console', () => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
    // A row that is open beside the others has an address of its own.
    log.addChildren([createRoute({ getParentRoute: () => log, path: '/$id' })]),
    page('/console/conversation', () => import('./pages/log/conversation-page.tsx'), 'ConversationPage'),
    jobs.addChildren([createRoute({ getParentRoute: () => jobs, path: '/$id' })]),
    alerts.addChildren([createRoute({ getParentRoute: () => alerts, path: '/$id' })]),
    audit.addChildren([createRoute({ getParentRoute: () => audit, path: '/$id' })]),
    page('/console/playground', () => import('./pages/playground/playground-page.tsx'), 'PlaygroundPage'),
    page('/console/tenants', () => import('./pages/tenants/tenants-page.tsx'), 'TenantsPage'),
    page('/console/tenants/$id', () => import('./pages/tenants/tenant-page.tsx'), 'TenantPage'),
    page('/console/keys', () => import('./pages/keys/keys-page.tsx'), 'KeysPage'),
    page('/console/keys/$id', () => import('./pages/keys/key-page.tsx'), 'KeyPage'),
    page('/console/groups', () => import('./pages/groups/groups-page.tsx'), 'GroupsPage'),
    page('/console/groups/$id', () => import('./pages/groups/group-page.tsx'), 'GroupPage'),
    page('/console/users', () => import('./pages/users/users-page.tsx'), 'UsersPage'),
    page('/console/channels', () => import('./pages/channels/channels-page.tsx'), 'ChannelsPage'),
    page('/console/channels/$id', () => import('./pages/channels/channel-page.tsx'), 'ChannelPage'),
    page('/console/models', () => import('./pages/models/models-page.tsx'), 'ModelsPage'),
    page('/console/models/$id', () => import('./pages/models/model-page.tsx'), 'ModelPage'),
    page('/console/import', () => import('./pages/import/import-page.tsx'), 'ImportPage'),
    page('/console/prices', () => import('./pages/models/prices-page.tsx'), 'PricesPage'),
    page('/console/set-up', () => import('./pages/set-up/set-up-page.tsx'), 'SetUpPage'),
    page('/console/ledger', () => import('./pages/ledger/ledger-page.tsx'), 'LedgerPage'),
    page('/console/settings', () => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
    page('/console/account', () => import('./pages/account/account-page.tsx'), 'AccountPage'),
  ]),
]
