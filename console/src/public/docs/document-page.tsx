import { type DocPage, groups, type PageLink } from 'virtual:docs'
import { useDocumentTitle } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import { site } from '../../site.ts'
import { Article } from './article.tsx'
import classes from './document-page.module.css'
import { Headings } from './headings.tsx'

const pages = groups.flatMap(({ pages }) => pages)

/** One document. Its text is a chunk of its own. */
export function DocumentPage() {
  const here = useLocation().pathname.replace(/\/$/, '')
  const at = pages.findIndex(({ route }) => route === here)
  const link = pages[at]
  if (link === undefined) return <NoDocument path={here} />
  return <Opened key={here} link={link} before={pages[at - 1]} after={pages[at + 1]} />
}

function Opened({
  link,
  before,
  after,
}: {
  link: PageLink
  before: PageLink | undefined
  after: PageLink | undefined
}) {
  useDocumentTitle(`${link.title} · ${site.name}`)
  const { data, error, refetch } = useQuery({
    queryKey: ['document', link.path],
    queryFn: async (): Promise<DocPage> => (await link.load()).default,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
  if (data === undefined) {
    if (error === null) return <Waiting rows={12} />
    return (
      <div className={classes.page}>
        <Problem error={error} doing={`Load ${link.title}`} onAgain={() => void refetch()} />
      </div>
    )
  }
  return (
    <div className={classes.page}>
      <div className={classes.text}>
        <Headings headings={data.headings} isFolded />
        <Article page={data} />
        <nav className={classes.steps} aria-label="Next and previous page">
          {before === undefined ? null : (
            <Link to={before.route} className={classes.step}>
              <span>Before</span> {before.title}
            </Link>
          )}
          {after === undefined ? null : (
            <Link to={after.route} className={classes.step} data-after>
              <span>Next</span> {after.title}
            </Link>
          )}
        </nav>
        <p className={classes.raw}>
          <a href={`/docs/${link.path}`}>This page as Markdown</a>
        </p>
      </div>
      <Headings headings={data.headings} />
    </div>
  )
}

function NoDocument({ path }: { path: string }) {
  useDocumentTitle(`No such page · ${site.name}`)
  return (
    <div className={classes.page}>
      <EmptyState title="There is no such document" action={<Link to="/docs">See all documents</Link>}>
        There is no page at <code>{path}</code>. Press <kbd>/</kbd> to search.
      </EmptyState>
    </div>
  )
}
