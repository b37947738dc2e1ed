import { Box } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { EmptyState } from '../parts/empty-state.tsx'
import { site } from '../site.ts'

const places = [
  { page: 'home', to: '/', title: 'Go to the start page' },
  { page: 'docs', to: '/docs', title: 'Go to the documents' },
  { page: 'console', to: '/console', title: 'Go to the overview' },
] as const

export function NotFound() {
  useDocumentTitle(`No such page · ${site.name}`)
  const isConsole = window.location.pathname.startsWith('/console')
  const way = (isConsole ? places.toReversed() : places).find(({ page }) => site.pages.includes(page))
  return (
    <Box component="main" px={12}>
      <EmptyState
        title="There is no such page"
        action={way === undefined ? undefined : <a href={way.to}>{way.title}</a>}
      >
        {site.name} has no page at <span className="tg-mono">{window.location.pathname}</span>. The address
        may have a mistake, or the page has moved.
      </EmptyState>
    </Box>
  )
}
