import { groups } from 'virtual:docs'
import { ChevronRightIcon } from '@primer/octicons-react'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { Suspense, useEffect, useRef } from 'react'
import { Waiting } from '../../shell/waiting.tsx'
import classes from './docs-frame.module.css'

/** The tree of all documents, and the page that is open. On a phone the tree folds above the page. */
export function DocsFrame() {
  const { pathname } = useLocation()
  const folded = useRef<HTMLDetailsElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes when another page opens
  useEffect(() => {
    if (folded.current !== null) folded.current.open = false
  }, [pathname])
  return (
    <div className={classes.frame}>
      <nav className={classes.side} aria-label="Documents">
        <Tree />
      </nav>
      <details ref={folded} className={classes.folded}>
        <summary>
          <ChevronRightIcon size={14} aria-hidden /> All pages
        </summary>
        <nav aria-label="Documents">
          <Tree />
        </nav>
      </details>
      <div className={classes.content}>
        <Suspense fallback={<Waiting rows={12} />}>
          <Outlet />
        </Suspense>
      </div>
    </div>
  )
}

function Tree() {
  const here = useLocation().pathname.replace(/\/$/, '')
  return (
    <ul className={classes.tree}>
      {groups
        .filter(({ pages }) => pages.length > 0)
        .map(({ title, pages }) => (
          <li key={title}>
            <Part key={title} title={title} isLong={pages.length > 20 && !pages.some(isAt(here))}>
              {pages.map(({ route, title }) => (
                <Leaf key={route} to={route} isHere={route === here}>
                  {title}
                </Leaf>
              ))}
            </Part>
          </li>
        ))}
      <li>
        <Part title="API reference" isLong={false}>
          <Leaf to="/docs/api" isHere={here.startsWith('/docs/api')}>
            Every endpoint
          </Leaf>
        </Part>
      </li>
    </ul>
  )
}

const isAt =
  (here: string) =>
  ({ route }: { route: string }) =>
    route === here

function Part({ title, isLong, children }: { title: string; isLong: boolean; children: React.ReactNode }) {
  return (
    <details className={classes.part} open={!isLong}>
      <summary>
        <ChevronRightIcon size={12} aria-hidden /> {title}
      </summary>
      <ul>{children}</ul>
    </details>
  )
}

function Leaf({ to, isHere, children }: { to: string; isHere: boolean; children: string }) {
  const link = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    if (isHere) link.current?.scrollIntoView({ block: 'nearest' })
  }, [isHere])
  return (
    <li>
      <Link
        ref={link}
        to={to}
        className={classes.leaf}
        data-here={isHere || undefined}
        aria-current={isHere ? 'page' : undefined}
      >
        {children}
      </Link>
    </li>
  )
}
