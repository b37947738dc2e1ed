import { SegmentedControl, TextInput } from '@mantine/core'
import { ChevronDownIcon, ChevronRightIcon } from '@primer/octicons-react'
import { useDeferredValue, useMemo, useState } from 'react'
import { bytes } from '../../format/numbers.ts'
import { Code } from '../../parts/code.tsx'
import { Copy } from '../../parts/copy.tsx'
import { bodyOf, contains, isPicture, redacted, summaryOf } from './body-tree.ts'
import classes from './body-view.module.css'

/** A body as a tree that folds, with search, or as it is. Everything in it is text: nothing of it runs. */
export function BodyView({ text, label }: { text: string; label: string }) {
  const body = useMemo(() => bodyOf(text), [text])
  const [view, setView] = useState<'tree' | 'raw'>(body.kind === 'json' ? 'tree' : 'raw')
  const [words, setWords] = useState('')
  const wanted = useDeferredValue(words)
  const pretty = useMemo(
    () => (body.kind === 'json' ? JSON.stringify(body.value, null, 2) : body.text),
    [body],
  )
  return (
    <div className={classes.body}>
      <div className={classes.tools}>
        {body.kind === 'json' ? (
          <SegmentedControl
            size="xs"
            aria-label={`How the ${label} is shown`}
            value={view}
            onChange={(value) => setView(value as 'tree' | 'raw')}
            data={[
              { value: 'tree', label: 'Tree' },
              { value: 'raw', label: 'Raw' },
            ]}
          />
        ) : null}
        {view === 'tree' ? (
          <TextInput
            size="xs"
            flex={1}
            aria-label={`Search the ${label}`}
            placeholder="Search in it"
            value={words}
            onChange={(event) => setWords(event.currentTarget.value)}
          />
        ) : null}
        <span className="tg-quiet">{bytes(new Blob([text]).size)}</span>
        <Copy text={text} what={`the ${label}`} />
      </div>
      {view === 'raw' || body.kind === 'text' ? (
        <Code text={pretty} what={`the ${label}`} />
      ) : contains(body.value, wanted) ? (
        <div className={classes.tree}>
          <Node value={body.value} words={wanted} depth={0} />
        </div>
      ) : (
        <div className="tg-quiet">Nothing in it has “{wanted}”.</div>
      )}
    </div>
  )
}

/** Deeper objects begin folded, unless somebody searches. */
const openDepth = 4
const itemsAtOnce = 100

function Node({
  name,
  value,
  words,
  depth,
}: {
  name?: string
  value: unknown
  words: string
  depth: number
}) {
  const isBranch = typeof value === 'object' && value !== null
  const [isOpen, setOpen] = useState(depth < openDepth)
  const [most, setMost] = useState(itemsAtOnce)
  if (!isBranch) {
    return (
      <div className={classes.leaf}>
        {name === undefined ? null : <span className={classes.name}>{name}: </span>}
        <Leaf value={value} words={words} />
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
            <Node key={key} name={key} value={inner} words={words} depth={depth + 1} />
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

const textAtOnce = 600

function Leaf({ value, words }: { value: unknown; words: string }) {
  const [isWhole, setWhole] = useState(false)
  if (typeof value !== 'string') return <span className={classes.plain}>{JSON.stringify(value)}</span>
  if (isPicture(value)) return <img className={classes.picture} src={value} alt="In the body" />
  const isCut = value.length > textAtOnce && !isWhole
  const shown = isCut ? value.slice(0, textAtOnce) : value
  return (
    <span className={classes.text}>
      <Marked text={shown} words={words} />
      {isCut ? (
        <button type="button" className={classes.more} onClick={() => setWhole(true)}>
          show {bytes(value.length - textAtOnce)} more
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
