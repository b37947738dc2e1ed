import type { ListPage } from '../../api/list.ts'

/** Stands before the cursors of the second list. */
const second = 'second:'

/** Two lists as one, the first before the second, read page by page. */
export async function inTurn<Row>(
  cursor: string | undefined,
  readFirst: (cursor: string | undefined) => Promise<ListPage<Row>>,
  readSecond: (cursor: string | undefined) => Promise<ListPage<Row>>,
): Promise<ListPage<Row>> {
  if (cursor?.startsWith(second) !== true) {
    const page = await readFirst(cursor)
    // A short first list and the second one come at once: what is shown must not look whole when it is not.
    if (page.next_cursor !== null) return page
    const rest = await inTurn(second, readFirst, readSecond)
    return { data: [...page.data, ...rest.data], next_cursor: rest.next_cursor }
  }
  const own = cursor.slice(second.length)
  const page = await readSecond(own === '' ? undefined : own)
  return { ...page, next_cursor: page.next_cursor === null ? null : `${second}${page.next_cursor}` }
}
