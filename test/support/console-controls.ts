import type { Locator, Page } from 'playwright-core'
import type { Owner } from './browser.ts'
import {
  type Answers,
  type Cell,
  type Item,
  isSameList,
  isSameSet,
  shownLists,
  watchAnswers,
} from './console-lists.ts'
import { until } from './until.ts'

/** Only a wrong control waits so long: shorter than usual, so that the faults of a part fit into one test. */
const drawnWithinMs = 20_000
/** How many of the options of a filter, and of the choices of a menu, are tried. */
const optionsMost = 3
/** What an address may have that the API lacks: which list is shown, in which order, a time that moves. */
const ofConsole = new Set(['tab', 'view', 'kind', 'sort', 'last'])

/** The admin API, to ask it what the page asks. */
export interface Api {
  call: Owner['call']
  /** The parameters that it has for the list at a path such as `/admin/v1/keys`. */
  parametersOf(path: string): ReadonlySet<string>
}

interface Visit {
  page: Page
  answers: Answers
  api: Api
  /** The kind and the name of each control that was clicked on this page, the last one at the end. */
  clicked: Set<string>
  /** By the label of each list: the question to the API whose answer it showed before it was filtered. */
  lists: Map<string, URL>
}

/**
 * Clicks every control of a page that it finds by its role, but those that a page of the same heading has had. A
 * link, or a button that does something else, is none. Returns the first fault, and each call that was refused.
 */
export function clicker(page: Page, api: Api): (address: string) => Promise<string[]> {
  const answers = watchAnswers(page)
  const clickedOn = new Map<string, Set<string>>()
  page.setDefaultTimeout(drawnWithinMs)
  return async (address) => {
    answers.lists.length = 0
    const faults: string[] = []
    await page.goto(address)
    const heading = (await page.locator('main h1').first().textContent()) ?? ''
    const clicked = clickedOn.get(heading) ?? new Set()
    clickedOn.set(heading, clicked)
    try {
      await answers.settle()
      await clickAll({ page, answers, api, clicked, lists: new Map() })
    } catch (error) {
      faults.push(`${[...clicked].at(-1)}: ${error}, at ${page.url()}`)
    }
    return [...faults, ...answers.refused.splice(0)].map((fault) => `${address}: ${fault}`)
  }
}

async function clickAll(visit: Visit): Promise<void> {
  await findLists(visit)
  await openMenus(visit)
  await unfold(visit)
  await chooseFilters(visit)
  await search(visit)
  await sortLists(visit)
  await chooseFromMenus(visit)
  await chooseTabs(visit)
}

/** Whether it was not yet clicked. */
function isNew({ clicked }: Visit, control: string): boolean {
  return !clicked.has(control) && clicked.add(control) !== undefined
}

/** Waits until nothing is wrong. Throws what is wrong to the end. */
async function holds(wrong: () => Promise<string | undefined>): Promise<void> {
  let last: string | undefined
  await until(async () => {
    last = await wrong()
    return last === undefined
  }, drawnWithinMs).catch((error) => {
    throw last ?? error
  })
}

/** Does something to a control. Then each list shows what the API answers, and `alsoWrong` is undefined. */
async function step(
  visit: Visit,
  act: () => Promise<unknown>,
  alsoWrong?: () => Promise<string | undefined>,
): Promise<void> {
  const since = visit.answers.lists.length
  await act()
  await visit.answers.settle()
  await holds(async () => (await differing(visit, since)) ?? (await alsoWrong?.()))
}

/** Finds which answer each list shows. */
async function findLists(visit: Visit): Promise<void> {
  await holds(async () => {
    const newest = visit.answers.lists.toReversed()
    visit.lists.clear()
    for (const { label, rows } of await shownLists(visit.page)) {
      const answer =
        newest.find((one) => isSameList(rows, one.rows)) ??
        newest.find((one) => isSameSet(rows, one.rows, true))
      if (answer === undefined) return `"${label}" shows ${namesOf(rows)}, which the API did not answer`
      visit.lists.set(label, answer.url)
    }
    return undefined
  })
}

/** How a list differs from what the API answers to its last question with the filters of the address. */
async function differing(visit: Visit, since: number): Promise<string | undefined> {
  const { page, answers, api, lists } = visit
  const shown = await shownLists(page)
  for (const [label, first] of lists) {
    const rows = shown.find((one) => one.label === label)?.rows ?? []
    const own = answers.lists.slice(since).filter(({ url }) => isSameQuestion(url, first))
    const url = new URL(own.at(-1)?.url ?? first)
    const known = api.parametersOf(url.pathname)
    const filters = [...new URL(page.url()).searchParams].filter(
      ([name]) => known.has(name) || !ofConsole.has(name),
    )
    for (const [name, value] of filters) url.searchParams.set(name, value)
    const { status, body } = await api.call('GET', `${url.pathname.replace('/admin/v1/', '')}${url.search}`)
    if (status === 503) return `the API does not say now what "${label}" shows`
    if (status !== 200) {
      // The page filters and sorts by itself what the API has no words for.
      if (answers.lists.some((one) => isSameSet(rows, one.rows, false))) continue
      return `"${label}" shows ${namesOf(rows)}, which the API did not answer`
    }
    const items = (body as { data: Item[] }).data
    if (known.has('sort') ? isSameList(rows, items) : isSameSet(rows, items, true)) continue
    return `"${label}" shows ${namesOf(rows)}, the API ${JSON.stringify(items.map(nameOfItem))} to ${url.search}`
  }
  return undefined
}

/** Sums of other groups, and one row by its id, come from the same path. */
function isSameQuestion(one: URL, other: URL): boolean {
  const of = (url: URL) => [url.pathname, url.searchParams.get('group_by'), url.searchParams.get('id')].join()
  return of(one) === of(other)
}

function nameOfItem({ id, name, channel, requests }: Item): unknown {
  return name ?? id ?? [channel, requests]
}

/** The rows in one line. */
function namesOf(rows: Cell[][]): string {
  return rows.map((row) => row[0]?.text).join() || 'nothing'
}

async function textOf(page: Page): Promise<string> {
  return (await shownLists(page)).map(({ rows }) => namesOf(rows)).join(';')
}

/** What opens something has items with names in it, closes with Escape, and has the focus again. */
async function openMenus(visit: Visit): Promise<void> {
  const { page } = visit
  for (const opener of await seen(page, 'main button[aria-haspopup], main [role=combobox]')) {
    if (!isNew(visit, `menu ${await nameOf(opener)}`)) continue
    await opener.click()
    await until(async () => (await opener.getAttribute('aria-expanded')) === 'true', drawnWithinMs)
    const popup = page.locator(`[id="${await opener.getAttribute('aria-controls')}"]`)
    await holds(async () => {
      const names = [...(await popup.ariaSnapshot()).matchAll(item)].map(([, name]) => name ?? '')
      if (names.length === 0) return 'is empty'
      return names.includes('') ? `has an item without a name, among ${names}` : undefined
    })
    await page.keyboard.press('Escape')
    await popup.waitFor({ state: 'hidden' })
    await opener.and(page.locator(':focus')).waitFor()
  }
}

/** A line of what a screen reader is told, such as `- button "Close"`. */
const item = /^\s*- '?(?:menuitem\w*|option|button|link|checkbox|radio|textbox|combobox)\b(?: "(.*?)")?/gm

async function nameOf(control: Locator): Promise<string> {
  return /"(.*?)"/.exec(await control.ariaSnapshot())?.[1] ?? ''
}

/** What unfolds a part of the page folds it again. */
async function unfold(visit: Visit): Promise<void> {
  for (const button of await seen(visit.page, 'main button[aria-expanded]:not([aria-haspopup])')) {
    if (!isNew(visit, `fold ${await nameOf(button)}`)) continue
    const was = await button.getAttribute('aria-expanded')
    for (const isAsBefore of [false, true]) {
      await button.click()
      await until(
        async () => ((await button.getAttribute('aria-expanded')) === was) === isAsBefore,
        drawnWithinMs,
      )
      await visit.answers.settle()
    }
  }
}

/** Every filter shows what the API answers to it, tells some rows from others, and can be taken out again. */
async function chooseFilters(visit: Visit): Promise<void> {
  const { page } = visit
  for (const box of await seen(page, 'main [role=search] [role=combobox]')) {
    const control = `filter ${await nameOf(box)}`
    if (!isNew(visit, control)) continue
    const [first, before] = [await box.inputValue(), await textOf(page)]
    await box.click()
    const options = (await page.getByRole('option').allInnerTexts()).filter((option) => option !== first)
    await page.keyboard.press('Escape')
    const shown = new Set([before])
    for (const option of options.slice(0, optionsMost)) {
      visit.clicked.add(`${control}: ${option}`)
      await step(visit, () => choose(page, box, option))
      shown.add(await textOf(page))
    }
    if (options.length > 0 && shown.size === 1 && visit.lists.size > 0)
      throw 'no option changes what is shown (if none should, give the test more rows)'
    await step(
      visit,
      () => choose(page, box, first),
      async () => ((await textOf(page)) === before ? undefined : `${first} does not show all again`),
    )
  }
}

async function choose(page: Page, box: Locator, option: string): Promise<void> {
  const before = page.url()
  await box.click()
  await page.getByRole('option', { name: option, exact: true }).first().click()
  await until(async () => (await box.inputValue()) === option && page.url() !== before, drawnWithinMs)
}

/** A search for the first words of a row shows what the API answers. */
async function search(visit: Visit): Promise<void> {
  const { page } = visit
  const fields = 'main [role=search] input[type=text]:not([role=combobox]):not([aria-haspopup])'
  for (const field of await seen(page, fields)) {
    const words = (await shownLists(page))[0]?.rows.at(-1)?.[0]?.text.split(' ')[0]
    if (words === undefined || !isNew(visit, `search ${await nameOf(field)}`)) continue
    for (const text of [words, '']) {
      await step(visit, async () => {
        await field.fill(text)
        await until(() => (new URL(page.url()).searchParams.get('search') ?? '') === text, drawnWithinMs)
      })
    }
  }
}

/** Every head that sorts does so in both directions, by what its column says. */
async function sortLists(visit: Visit): Promise<void> {
  const { page } = visit
  for (const label of visit.lists.keys()) {
    const heads = page
      .locator('main')
      .getByLabel(label, { exact: true })
      .locator('[role=columnheader]:has(> button), thead th:has(> button)')
    for (const head of await heads.all()) {
      const name = (await head.textContent())?.replace(/\s*[↑↓]?\s*$/, '').trim() ?? ''
      if (!isNew(visit, `sort ${label} by ${name}`)) continue
      const column = (await head.getAttribute('data-column')) ?? name
      // The log has the newest first, or the most of something: another click brings the newest again.
      const isLog = label === 'Requests'
      let other: string[] | undefined
      for (const _click of isLog ? [1] : [1, 2]) {
        const isDown = (await head.getAttribute('aria-sort')) === 'descending' && !isLog
        const way = isDown ? 'ascending' : 'descending'
        let order: string[] = []
        await step(
          visit,
          () => head.getByRole('button').click(),
          async () => {
            const said = await head.getAttribute('aria-sort')
            if (said !== way) return `its head says ${said}, not ${way}`
            const values = await valuesOf(page, label, column)
            order = [...new Set(values.map(String))]
            if (!isInOrder(values, way)) return `${values} are not ${way}`
            if (order.length < 2) return `all rows have the same (give the test rows that differ)`
            const isTurned = other === undefined || other.join() === order.toReversed().join()
            return isTurned ? undefined : `${other} turned around is ${order}`
          },
        )
        other = order
      }
    }
  }
}

/** What the rows have in a column, but those that have nothing there: these have no place among the others. */
async function valuesOf(page: Page, label: string, column: string): Promise<(string | number)[]> {
  const rows = (await shownLists(page)).find((one) => one.label === label)?.rows ?? []
  const values = rows.flatMap((row) => {
    const cell = row.find((one) => one.column === column)
    return (cell && valueIn(cell)) ?? []
  })
  // Lists of names are sorted by how many they are.
  const areLists = values.some((value) => typeof value === 'string' && value.includes(', '))
  return areLists ? values.map((value) => String(value).split(', ').length) : values
}

const unitOf: Readonly<Record<string, number>> = { ms: 1e-3, s: 1, min: 60, h: 3600, k: 1e3, M: 1e6, B: 1e9 }

function valueIn({ value, at }: Cell): string | number | undefined {
  if (at !== null) return at
  if (/^\d{4}-\d\d-\d\d/.test(value)) return value.slice(0, 10)
  if (/^(–.*|none.*|never|no .*|unbounded)$/.test(value)) return undefined
  const number = /^[<≈]? ?\$?([\d,.]+) ?(ms|s|min|h|k|M|B)?/.exec(value)
  if (number === null) return value
  return Number(number[1]?.replaceAll(',', '')) * (unitOf[number[2] ?? ''] ?? 1)
}

/** Texts without an order of the alphabet, such as states, must only stand together. */
function isInOrder(values: readonly (string | number)[], way: string): boolean {
  if (values.every((value) => typeof value === 'number' || /^\d{4}-/.test(value))) {
    const rising = way === 'ascending' ? values : values.toReversed()
    return rising.every((value, at) => at === 0 || (rising[at - 1] ?? value) <= value)
  }
  return values.every((value, at) => value === values[at - 1] || !values.slice(0, at).includes(value))
}

/** The items of a menu that say which of them is chosen, such as times. The page is then opened anew. */
async function chooseFromMenus(visit: Visit): Promise<void> {
  const { page, answers } = visit
  const address = page.url()
  for (const button of await seen(page, 'main button[aria-haspopup=menu]')) {
    const control = `choice ${await nameOf(button)}`
    if (!isNew(visit, control)) continue
    await button.click()
    await page.getByRole('menuitem').first().waitFor()
    const names = await page.locator('[role=menuitem][aria-current=false]').allInnerTexts()
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'hidden' })
    for (const name of names.slice(0, optionsMost)) {
      visit.clicked.add(`${control}: ${name}`)
      await step(visit, async () => {
        const before = page.url()
        await button.click()
        await page.getByRole('menuitem', { name, exact: true }).click()
        await until(() => page.url() !== before, drawnWithinMs)
      })
    }
    if (page.url() === address) continue
    await page.goto(address)
    await answers.settle()
  }
}

/** Every tab and every part of a choice of few shows something of its own. All that is new in it is clicked. */
async function chooseTabs(visit: Visit): Promise<void> {
  const { page } = visit
  const groups = page.locator('main [role=tablist], main [role=radiogroup]')
  for (const group of await seen(page, 'main [role=tablist], main [role=radiogroup]')) {
    const isTabs = (await group.getAttribute('role')) === 'tablist'
    const names = await group.locator('[role=tab]:not(:disabled), label').allInnerTexts()
    if (!isNew(visit, `tabs ${names}`)) continue
    const looks = new Map<string, string>()
    for (const name of [...names, names[0] ?? '']) {
      visit.clicked.delete(`tab ${name}`)
      visit.clicked.add(`tab ${name}`)
      await groups.getByText(name, { exact: true }).first().click()
      await groups
        .getByRole('tab', { name, exact: true, selected: true })
        .or(groups.getByRole('radio', { name, exact: true, checked: true }))
        .first()
        .waitFor({ state: 'attached' })
      await visit.answers.settle()
      let look = ''
      await holds(async () => {
        look = await lookOf(page, isTabs)
        const twin = [...looks].find(([other, shown]) => other !== name && shown === look)
        return twin === undefined || look === '' ? undefined : `shows the same as ${twin[0]}`
      })
      await findLists(visit)
      if (looks.has(name)) continue
      looks.set(name, look)
      await clickAll(visit)
    }
  }
}

/** What tells a tab from others: its panel, its rows or all words. Ways to show an empty list look the same. */
async function lookOf(page: Page, isTab: boolean): Promise<string> {
  const rows = (await shownLists(page)).flatMap((one) => one.rows.map((row) => row.map(({ text }) => text)))
  const panels = await page.locator('main [role=tabpanel]').filter({ visible: true }).allInnerTexts()
  if (isTab && panels.length > 0) return panels.join()
  if (isTab && rows.length > 0) return JSON.stringify(rows)
  return isTab || rows.length > 0 ? ((await page.getByRole('main').textContent()) ?? '') : ''
}

async function seen(page: Page, selector: string): Promise<Locator[]> {
  const all = await page.locator(selector).all()
  const isSeen = await Promise.all(all.map(async (one) => (await one.isVisible()) && (await one.isEnabled())))
  return all.filter((_, at) => isSeen[at])
}
