import { expect } from 'vitest'
import type { BrowserBed, Owner } from './browser.ts'

/** A test for each part: all pages together take minutes on a busy machine. */
export const consoleParts = ['requests', 'access', 'routes', 'operation'] as const

/** Addresses of the console by the part that they are of. */
export type ConsolePages = Record<(typeof consoleParts)[number], string[]>

/** One address of each page of the console, with something to see: makes two requests and an alert rule. */
export async function consolePages(bed: BrowserBed, owner: Owner): Promise<ConsolePages> {
  const asked = await bed.chat({ model: 'main', messages: [{ role: 'user', content: 'Hello' }] })
  const refused = await bed.chat({ model: 'main', messages: 'none' })
  const ids = [asked, refused].map((response) => response.headers.get('x-request-id'))
  for (const id of ids) await bed.row(id)
  const first = async (path: string) => {
    const { data } = (await (await owner.call('GET', path)).body) as { data: { id: string }[] }
    if (data[0] === undefined) throw new Error(`${path} has nothing`)
    return data[0].id
  }
  const rule = { name: 'slow', condition: { kind: 'latency', of: 'model', name: 'main', above_ms: 1 } }
  expect((await owner.call('POST', 'alerts', rule)).status).toBe(201)
  return {
    requests: [
      '/console',
      '/console/log',
      `/console/log/${ids[0]}`,
      `/console/log/${ids[1]}`,
      '/console/conversation?session=none',
      '/console/jobs',
      '/console/jobs?kind=answers',
      '/console/playground',
      '/console/ledger',
    ],
    access: [
      '/console/tenants',
      `/console/tenants/${await first('tenants')}`,
      '/console/keys',
      `/console/keys/${await first('keys')}`,
      '/console/groups',
      `/console/groups/${await first('groups')}`,
      '/console/users',
      '/console/account',
    ],
    routes: [
      '/console/channels',
      `/console/channels/${await first('channels')}`,
      '/console/models',
      '/console/prices',
      '/console/models/main',
      '/console/set-up',
      '/console/import',
    ],
    operation: [
      '/console/alerts',
      '/console/alerts?tab=rules',
      `/console/alerts/${await first('alerts')}?tab=rules`,
      '/console/audit',
      `/console/audit/${await first('audit')}`,
      '/console/settings',
      '/console/settings?tab=file',
      '/console/settings?tab=archive',
      '/console/settings?tab=erasures',
    ],
  }
}
