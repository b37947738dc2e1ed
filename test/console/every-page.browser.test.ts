import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, type BrowserBed, fitsSideways, listsFit, startBrowser } from '../support/browser.ts'
import { type ConsolePages, consolePages, consoleParts } from '../support/console-pages.ts'
import { until } from '../support/until.ts'

let bed: BrowserBed
let addresses: ConsolePages

beforeAll(async () => {
  bed = await startBrowser()
  addresses = await consolePages(bed, await bed.makeOwner())
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

test.each(variants.flatMap((variant) => consoleParts.map((part) => ({ ...variant, part }))))(
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
