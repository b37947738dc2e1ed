import type { DocPage } from 'virtual:docs'
import { ChevronRightIcon } from '@primer/octicons-react'
import { useEffect, useState } from 'react'
import classes from './headings.module.css'

type Heading = DocPage['headings'][number]

/**
 * The headings of the page, with the one that is read marked. `isFolded`: for narrow windows, above the page.
 */
export function Headings({
  headings,
  isFolded = false,
}: {
  headings: readonly Heading[]
  isFolded?: boolean
}) {
  const here = useHeading(headings)
  if (headings.length < 2) return isFolded ? null : <div className={classes.side} />
  const list = (
    <ul>
      {headings.map(({ id, level, text }) => (
        <li key={id} data-level={level}>
          <a href={`#${id}`} aria-current={id === here ? 'location' : undefined}>
            {text}
          </a>
        </li>
      ))}
    </ul>
  )
  if (isFolded) {
    return (
      <details className={classes.folded}>
        <summary>
          <ChevronRightIcon size={14} aria-hidden /> On this page
        </summary>
        {list}
      </details>
    )
  }
  return (
    <nav className={classes.side} aria-label="On this page">
      <h2>On this page</h2>
      {list}
    </nav>
  )
}

/** So far below the top of the window a heading counts as read. */
const readAt = 96

/** The last heading that has passed the top; at the end of the page, the last of all. */
function useHeading(headings: readonly Heading[]): string | undefined {
  const [here, setHere] = useState<string>()
  useEffect(() => {
    let asked = 0
    const look = () => {
      asked = 0
      const passed = headings.filter(({ id }) => {
        const top = document.getElementById(id)?.getBoundingClientRect().top
        return top !== undefined && top <= readAt
      })
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement
      const isAtEnd = scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - 2
      setHere((isAtEnd ? headings.at(-1) : passed.at(-1))?.id ?? headings[0]?.id)
    }
    const onScroll = () => {
      asked ||= requestAnimationFrame(look)
    }
    look()
    window.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      window.removeEventListener('scroll', onScroll)
      cancelAnimationFrame(asked)
    }
  }, [headings])
  return here
}
