import type { Page, Request } from 'playwright-core'
import { until } from './until.ts'

/** A row of the API. */
export type Item = Record<string, unknown>

/** What a list of the API has answered to the page. */
export interface Answer {
  url: URL
  rows: Item[]
}

/** What the page reads of the admin API while it lives. */
export interface Answers {
  /** The lists that were read, in their order. */
  lists: Answer[]
  /** `GET /admin/v1/...: 400`: what was refused or failed, but for what may be asked again. */
  refused: string[]
  /** Waits until what a click began is drawn: nothing is being read, and nothing says that it waits. */
  settle(): Promise<void>
}

/** Is done after the next frame, when the page has nothing else to do. */
const drawn = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  scheduler.postTask(() => done(), { priority: 'background' }))))`

export function watchAnswers(page: Page): Answers {
  const lists: Answer[] = []
  const refused: string[] = []
  const running = new Set<Request>()
  const isApi = (request: Request) => new URL(request.url()).pathname.startsWith('/admin/v1/')
  page.on('request', (request) => {
    if (isApi(request)) running.add(request)
  })
  page.on('requestfailed', (request) => running.delete(request))
  page.on('requestfinished', async (request) => {
    if (!isApi(request)) return
    const response = await request.response()
    const url = new URL(request.url())
    const status = response?.status() ?? 0
    // 503: on a busy machine, Postgres did not answer within a second. What the page shows then is looked at too.
    if ((status >= 400 && status !== 503) || status === 0)
      refused.push(`${request.method()} ${url.pathname}: ${status}`)
    // The body of an answer that came just before the page went elsewhere is gone.
    const body = await response?.json().catch(() => undefined)
    if (Array.isArray(body?.data)) lists.push({ url, rows: body.data })
    running.delete(request)
  })
  return {
    lists,
    refused,
    async settle() {
      await until(async () => {
        if (running.size > 0) return false
        // What React still has to draw may ask for its data.
        await page.evaluate(drawn)
        return running.size === 0 && (await page.locator('main [aria-label="Loading"]').count()) === 0
      }, 20_000).catch(() => {
        throw new Error(`still reads ${[...running].map((one) => one.url())}`)
      })
      if ((await page.getByText('This page has a fault').count()) > 0)
        throw new Error('This page has a fault')
    },
  }
}

export interface Cell {
  column: string
  text: string
  /** Its text without what is said quietly beside it, such as a share beside the count. */
  value: string
  /** The moment that it shows, as the API wrote it. */
  at: string | null
}

/** A list as the page shows it. */
export interface ShownList {
  label: string
  rows: Cell[][]
}

/** The grids of the page, and the tables that can be sorted. */
export async function shownLists(page: Page): Promise<ShownList[]> {
  return await page.evaluate<ShownList[]>(readLists)
}

/** Without the column of checkboxes. A cell of a table is named by its head. */
const readLists = `(() => {
  const wordsOf = (element) => element.innerText.replace(/\\s+/g, ' ').trim()
  const valueOf = (cell) => {
    const copy = cell.cloneNode(true)
    for (const aside of copy.querySelectorAll('.tg-quiet, .tg-heard')) aside.remove()
    return copy.textContent.trim() || wordsOf(cell)
  }
  const cellsOf = (cells, names) => cells.map((cell, at) => ({
    column: cell.dataset.column ?? names[at] ?? '',
    text: wordsOf(cell),
    value: valueOf(cell),
    at: cell.querySelector('time')?.dateTime ?? null,
    isBox: cell.querySelector('input[type=checkbox]') !== null,
  })).filter(({ isBox }) => !isBox)
  const all = (within, selector) => [...within.querySelectorAll(selector)].filter((one) => one.checkVisibility())
  const grids = all(document, 'main [role=grid]').map((grid) => ({
    label: grid.getAttribute('aria-label') ?? '',
    rows: all(grid, '[role=row][aria-rowindex]').map((row) => cellsOf(all(row, '[role=gridcell]'), [])),
  }))
  const tables = all(document, 'main table').filter((table) => table.querySelector('thead th > button') !== null).map((table) => {
    const names = all(table, 'thead th').map((head) => wordsOf(head).replace(/ ?[↑↓]$/, ''))
    return {
      label: table.closest('[aria-label]')?.getAttribute('aria-label') ?? '',
      rows: all(table, 'tbody tr').map((row) => cellsOf(all(row, 'th, td'), names)),
    }
  })
  return [...grids, ...tables]
})()`

/** Only rows in sight and some more are in the page. */
const drawnLeast = 20

/** Whether the rows shown are those of the API, in its order. */
export function isSameList(shown: ShownList['rows'], items: readonly Item[]): boolean {
  if (shown.length > items.length || (shown.length < items.length && shown.length < drawnLeast)) return false
  return namingFields(items).some((field) => shown.every((row, at) => isNamed(row, items[at]?.[field])))
}

/** Whether each row shown is one of the API's, in any order. `isAll`: whether no other is missing. */
export function isSameSet(shown: ShownList['rows'], items: readonly Item[], isAll: boolean): boolean {
  if (isAll && shown.length !== items.length) return false
  if (shown.length === 0) return true
  return namingFields(items).some((field) => {
    const left = new Set(items)
    return shown.every((row) => {
      const fits = [...left].filter((item) => isNamed(row, item[field]))
      const item = fits.find((one) => one[field]) ?? fits[0]
      return item !== undefined && left.delete(item)
    })
  })
}

/** What items may be known by: a text that is different in each. */
function namingFields(items: readonly Item[]): string[] {
  if (items.length === 0) return ['']
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))]
  return names.filter((name) => {
    const values = items.map((item) => item[name] ?? '')
    return values.every((value) => typeof value === 'string') && new Set(values).size === items.length
  })
}

/** Whether the first cell of the row says this name, or this moment. An item without a name has any words. */
function isNamed([cell]: Cell[], name: unknown): boolean {
  if (cell === undefined || name === undefined) return false
  if (cell.at !== null) return cell.at === name
  if (name === null || name === '') return cell.text !== ''
  return [name, String(name).slice(0, 10)].some((name) => ` ${cell.text} `.includes(` ${name} `))
}
