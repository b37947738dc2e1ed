import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'

/** A page of a list of the API. */
export interface ListPage<Row> {
  data: Row[]
  next_cursor: string | null
}

/** The part of a query that names a page: the first one has no cursor. */
export interface PageAt {
  cursor?: string
}

/** What a list shows: all rows that were read so far, and how to read more. */
export interface List<Row, Page extends ListPage<Row> = ListPage<Row>> {
  rows: readonly Row[]
  pages: readonly Page[]
  /** Nothing was read yet. */
  isPending: boolean
  isMoreComing: boolean
  /** There is no page after the last one. */
  isWhole: boolean
  error: unknown
  more(): void
  again(): void
}

/** Reads a list page by page, from the top; `more()` reads the next one. `queryKey` has every filter. */
export function useList<Row, Page extends ListPage<Row> = ListPage<Row>>(options: {
  queryKey: QueryKey
  readPage(page: PageAt, signal: AbortSignal): Promise<Page>
  enabled?: boolean
  /** In how many ms to read it again, or false. Every page is read: it is asked only while there is one. */
  live?(rows: readonly Row[]): number | false
}): List<Row, Page> {
  const { live } = options
  const query = useInfiniteQuery({
    queryKey: options.queryKey,
    enabled: options.enabled ?? true,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      options.readPage(cursor === undefined ? {} : { cursor }, signal),
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    // Comparing each page with what was there before would cost more with each page.
    structuralSharing: false,
    refetchOnWindowFocus: false,
    refetchInterval: ({ state: { data: read } }) =>
      live !== undefined && read?.pages.length === 1 ? live(read.pages[0]?.data ?? []) : false,
  })
  const { data, fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError, refetch } = query
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data])
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage])
  const again = useCallback(() => {
    if (isFetchNextPageError) void fetchNextPage()
    else void refetch()
  }, [isFetchNextPageError, fetchNextPage, refetch])
  return {
    rows,
    pages: data?.pages ?? [],
    isPending: query.isPending,
    isMoreComing: isFetchingNextPage,
    isWhole: data !== undefined && !hasNextPage,
    error: query.error,
    more,
    again,
  }
}

/** Reads a list to its end, at most `pagesMax` pages of it. */
export async function readAll<Row>(
  readPage: (page: PageAt) => Promise<ListPage<Row>>,
  pagesMax: number,
): Promise<Row[]> {
  const rows: Row[] = []
  let page: PageAt = {}
  for (let pages = 0; pages < pagesMax; pages++) {
    const { data, next_cursor } = await readPage(page)
    rows.push(...data)
    if (next_cursor === null) break
    page = { cursor: next_cursor }
  }
  return rows
}
