import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, type BrowserBed, fitsSideways, listsFit, type Owner, startBrowser } from '../support/browser.ts'
import { until } from '../support/until.ts'

let bed: BrowserBed
let owner: Owner
/** One address of each page, with something to see. A test for each part: all pages together take minutes on a busy machine. */
let addresses: Record<(typeof parts)[number], string[]>
const parts = ['requests', 'access', 'routes', 'operation'] as const

beforeAll(async () => {
  bed = await startBrowser()
  owner = await bed.makeOwner()
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
  addresses = {
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
})
afterAll(() => bed?.close())

const variants = [
  {
    name: 'light and wide',
    viewport: { width: 1280, height: 800 },
    colorScheme: 'light',
    looks: [axe, fitsSideways, listsFit],
  },
  {
    name: 'dark and on a phone',
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
    looks: [axe, fitsSideways],
  },
] as const

test.each(variants.flatMap((variant) => parts.map((part) => ({ ...variant, part }))))(
  'every page of the console can be read by everybody: $part, $name',
  async ({ viewport, colorScheme, looks, part }) => {
    const page = await bed.page({ viewport, colorScheme })
    await bed.signIn(page)
    const faults: string[] = []
    for (const address of addresses[part]) {
      await page.goto(address)
      await page.locator('main h1').first().waitFor()
      await until(async () => (await page.locator('[aria-label="Loading"]').count()) === 0)
      if ((await page.getByText('This page has a fault').count()) > 0) faults.push(`${address} has a fault`)
      for (const look of looks) {
        await look(page).catch((error: Error) => faults.push(`${error.message} ${JSON.stringify(error)}`))
      }
    }
    expect(faults).toEqual([])
  },
)
