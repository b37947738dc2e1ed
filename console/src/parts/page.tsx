import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { site } from '../site.ts'
import classes from './page.module.css'
import { PageParts } from './page-parts.tsx'

/**
 * The frame of a page of the console: its title, what can be done in it, and its content. `wide`: the content
 * has the whole height and scrolls itself, as a table does.
 */
export function Page({
  title,
  lead,
  actions,
  wide = false,
  children,
}: {
  title: string
  /** Stands beside the title: a state, a name to copy. */
  lead?: ReactNode
  actions?: ReactNode
  wide?: boolean
  children: ReactNode
}) {
  useDocumentTitle(`${title} · ${site.name}`)
  return (
    <div className={classes.page} data-wide={wide || undefined}>
      <header className={classes.head}>
        <h1>{title}</h1>
        {lead === undefined ? null : <div className={classes.lead}>{lead}</div>}
        <div className={classes.actions}>{actions}</div>
      </header>
      <PageParts>{children}</PageParts>
    </div>
  )
}

/** A part of a page, with a heading of its own. */
export function Section({
  title,
  actions,
  children,
}: {
  title: string
  actions?: ReactNode
  children: ReactNode
}) {
  return (
    <section className={classes.section} aria-label={title}>
      <div className={classes.sectionHead}>
        <h2>{title}</h2>
        <div className={classes.actions}>{actions}</div>
      </div>
      {children}
    </section>
  )
}

/** Names and values, one pair a line. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
