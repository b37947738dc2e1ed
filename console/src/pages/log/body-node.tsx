import { ChevronDownIcon, ChevronRightIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { bytes } from '../../format/numbers.ts'
import { contains, isPicture, redacted, summaryOf } from './body-tree.ts'
import classes from './body-view.module.css'

/** Deeper objects begin folded, unless somebody searches. */
const openDepth = 4
const itemsAtOnce = 100

/** Characters of a text that are shown at first. */
const textAtOnce = 600

/** A value of a body as a tree that folds. `words`: what somebody searches for in it. */
export function BodyNode({
  name,
  value,
  words = '',
  depth,
  textMax = textAtOnce,
}: {
  name?: string
  value: unknown
  words?: string
  depth: number
  textMax?: number
}) {
  const isBranch = typeof value === 'object' && value !== null
  const [isOpen, setOpen] = useState(depth < openDepth)
  const [most, setMost] = useState(itemsAtOnce)
  if (!isBranch) {
    return (
      <div className={classes.leaf}>
        {name === undefined ? null : <span className={classes.name}>{name}: </span>}
        <BodyLeaf value={value} words={words} textMax={textMax} />
      </div>
    )
  }
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.map((item, at): [string, unknown] => [String(at), item])
    : Object.entries(value)
  const found = words === '' ? entries : entries.filter(([key, inner]) => contains({ [key]: inner }, words))
  const isShown = isOpen || words !== ''
  return (
    <div>
      <button type="button" className={classes.fold} aria-expanded={isShown} onClick={() => setOpen(!isOpen)}>
        {isShown ? <ChevronDownIcon size={12} aria-hidden /> : <ChevronRightIcon size={12} aria-hidden />}
        {name === undefined ? null : <span className={classes.name}>{name}</span>}
        <span className="tg-quiet">{summaryOf(value)}</span>
      </button>
      {isShown ? (
        <div className={classes.inner}>
          {found.slice(0, most).map(([key, inner]) => (
            <BodyNode key={key} name={key} value={inner} words={words} depth={depth + 1} textMax={textMax} />
          ))}
          {found.length > most ? (
            <button type="button" className={classes.more} onClick={() => setMost(most + itemsAtOnce)}>
              Show {Math.min(itemsAtOnce, found.length - most)} more of {found.length - most}
            </button>
          ) : null}
        </div>
      ) : null}
    </div>
  )
}

/**
 * A value without members: a long text is cut, and a picture is shown. `sameHead`: this many of its first
 * characters are left out.
 */
export function BodyLeaf({
  value,
  words = '',
  sameHead = 0,
  textMax = textAtOnce,
}: {
  value: unknown
  words?: string
  sameHead?: number
  textMax?: number
}) {
  const [isWhole, setWhole] = useState(false)
  if (typeof value !== 'string') return <span className={classes.plain}>{JSON.stringify(value)}</span>
  if (isPicture(value)) return <img className={classes.picture} src={value} alt="In the body" />
  const from = isWhole ? 0 : sameHead
  const isCut = value.length - from > textMax && !isWhole
  const shown = isCut ? value.slice(from, from + textMax) : value.slice(from)
  return (
    <span className={classes.text}>
      {from === 0 ? null : (
        <button type="button" className={classes.more} onClick={() => setWhole(true)}>
          {bytes(from)} the same …
        </button>
      )}
      <Marked text={shown} words={words} />
      {isCut ? (
        <button type="button" className={classes.more} onClick={() => setWhole(true)}>
          show {bytes(value.length - from - textMax)} more
        </button>
      ) : null}
    </span>
  )
}

/** Marks what is redacted, and what somebody searches for. */
function Marked({ text, words }: { text: string; words: string }) {
  const wanted = words === '' ? undefined : new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi')
  return (
    <>
      {pieces(text, redacted).map(({ at, piece, isMatch }) =>
        isMatch ? (
          <mark key={at} className={classes.redacted} title="The gateway keeps this text from the log">
            {piece}
          </mark>
        ) : wanted === undefined ? (
          piece
        ) : (
          pieces(piece, wanted).map((part) =>
            part.isMatch ? <mark key={at + part.at}>{part.piece}</mark> : part.piece,
          )
        ),
      )}
    </>
  )
}

function pieces(text: string, pattern: RegExp): { at: number; piece: string; isMatch: boolean }[] {
  const found: { at: number; piece: string; isMatch: boolean }[] = []
  let from = 0
  for (const { index, 0: match } of text.matchAll(pattern)) {
    if (index > from) found.push({ at: from, piece: text.slice(from, index), isMatch: false })
    found.push({ at: index, piece: match, isMatch: true })
    from = index + match.length
  }
  if (from < text.length) found.push({ at: from, piece: text.slice(from), isMatch: false })
  return found
}
