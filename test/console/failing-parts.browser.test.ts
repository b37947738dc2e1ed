import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BrowserBed, type Owner, startBrowser } from '../support/browser.ts'
import { patienceMs } from '../support/until.ts'

/** Pages of one thing, and live pages, while the API fails. */

let bed: BrowserBed
let owner: Owner
beforeAll(async () => {
  bed = await startBrowser()
  owner = await bed.makeOwner()
})
afterAll(() => bed?.close())

const problem = {
  status: 500,
  contentType: 'application/problem+json',
  body: JSON.stringify({ status: 500, code: 'internal', title: 'Failed', detail: 'The disk is full.' }),
}

async function firstOf(list: string): Promise<string> {
  const { body } = await owner.call('GET', `${list}?limit=1`)
  return body.data[0].id
}

test.each([
  ['tenants', /\/(balance|summary|usage)/, /^(Recorded|Balance)$/],
  ['keys', /\/(usage|summary|requests)/, 'Who used the key last'],
  ['channels', /\/(health|summary|offers)/, 'Over time'],
])(
  'parts of a page of %s that fail for one reason are reported once, with one "Try again"',
  async (name, parts, there) => {
    const page = await bed.page({ forgives: /status of 500/ })
    await bed.signIn(page)
    const id = await firstOf(name)
    await page.route(parts, (route) => route.fulfill(problem))
    await page.goto(`/console/${name}/${id}`)
    const alerts = page.getByRole('alert')
    await alerts.getByText('Nothing on this page could be read').waitFor()
    expect(await alerts.count()).toBe(1)
    await page.unroute(parts)
    await alerts.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(there).or(page.getByText('This key was not used')).first().waitFor()
    await expect.poll(() => alerts.count()).toBe(0)
  },
)

test('on a live page the one message of an outage does not come and go with the ticks', async () => {
  const page = await bed.page({ forgives: /status of 500/ })
  await bed.signIn(page)
  await page.goto('/console')
  await page.getByRole('link', { name: /^Requests: / }).waitFor()
  let asked = 0
  const parts = /\/admin\/v1\/(summary|requests|health|alerts)/
  await page.route(parts, (route) => {
    if (route.request().url().includes('/summary?')) asked += 1
    return route.fulfill(problem)
  })
  await page.getByLabel('Live').check()
  await page.getByRole('alert').getByText('Nothing on this page could be read').waitFor()
  await page.evaluate(
    `window.seen = new Set()
     new MutationObserver(() => window.seen.add(document.querySelectorAll('[role="alert"]').length))
       .observe(document.body, { childList: true, subtree: true, characterData: true })`,
  )
  const before = asked
  // Each tick asks for the totals twice, and for one table.
  await expect.poll(() => asked, { timeout: patienceMs }).toBeGreaterThanOrEqual(before + 9)
  expect((await page.evaluate<number[]>('[...window.seen]')).filter((count) => count !== 1)).toEqual([])
  await page.unroute(parts)
  await page.getByRole('link', { name: /^Requests: / }).waitFor()
  await expect.poll(() => page.getByRole('alert').count()).toBe(0)
})

test('a part that has failed keeps its place while the others can still fail for the same reason', async () => {
  const page = await bed.page({ forgives: /status of 500/ })
  await bed.signIn(page)
  const { promise: held, resolve: fail } = Promise.withResolvers<void>()
  await page.route(/\/admin\/v1\/(summary|requests|health|alerts)/, async (route) => {
    if (!route.request().url().includes('/timeline')) await held
    await route.fulfill(problem)
  })
  const failed = page.waitForResponse(/\/summary\/timeline/)
  await page.goto('/console')
  await failed
  // An axis with nothing on it would say that nothing happened.
  await page.getByRole('heading', { name: 'Requests by outcome' }).waitFor()
  expect(await page.locator('canvas').count()).toBe(0)
  fail()
  await page.getByRole('alert').getByText('Nothing on this page could be read').waitFor()
})
