import { ChevronDownIcon, ChevronRightIcon } from '@primer/octicons-react'
import { type ReactNode, useMemo, useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { Notice } from '../../parts/state.tsx'
import classes from './body-compare.module.css'
import { BodyLeaf, BodyNode } from './body-node.tsx'
import { bodyOf } from './body-tree.ts'
import { compare, isMoved, isWithin, sameHead } from './compare.ts'
import { addedInWords, countsInWords, groupsOf, removedInWords, unchanged } from './compare-words.ts'
import type { Part } from './compared-part.ts'
import { Notes } from './log-tabs.tsx'

type Note = Schema<'TranslationNote'>

/**
 * The body that the client sent beside the one that the channel got, member by member. What is equal is
 * folded.
 */
export function BodyCompare({ sent, got, notes }: { sent: string; got: unknown; notes: readonly Note[] }) {
  const compared = useMemo(() => {
    const body = bodyOf(sent)
    const dropped = new Set(notes.flatMap(({ path, action }) => (action === 'dropped' ? [path] : [])))
    return body.kind === 'json' ? compare(body.value, got, (path) => dropped.has(path)) : undefined
  }, [sent, got, notes])
  if (compared === undefined) {
    return (
      <Notice tone="info">
        The bodies have too many members to compare here. Read them one by one, or copy both.
      </Notice>
    )
  }
  const { parts, counts } = compared
  const [whole] = parts
  const isSame = parts.length === 1 && whole?.kind === 'same'
  const others = notes.filter((note) => !isAtRow(parts, note))
  return (
    <section className={classes.compare} aria-label="The request as sent and as the channel gets it">
      <p className={classes.counts}>
        {isSame ? 'The channel gets what the client sent: nothing differs.' : countsInWords(counts)}
      </p>
      <Notes notes={others} />
      {isSame ? null : (
        <div className={classes.rows}>
          <div className={classes.head} aria-hidden>
            <span>From the client</span>
            <span>To the channel</span>
          </div>
          <Parts parts={parts} notes={notes} depth={0} />
        </div>
      )}
    </section>
  )
}

/** A note at a member that differs appears beside it; the others appear above. */
function isAtRow(parts: readonly Part[], note: Note): boolean {
  return parts.some((part) =>
    part.kind === 'inside'
      ? isAtRow(part.parts, note)
      : (part.kind === 'removed' || part.kind === 'changed') && isWithin(note.path, part.path),
  )
}

const atOnce = 100
/**
 * What has more members begins folded, but for the members of the body itself: many at once would make the
 * page slow.
 */
const openMax = 20

function Parts({ parts, notes, depth }: { parts: readonly Part[]; notes: readonly Note[]; depth: number }) {
  const [most, setMost] = useState(atOnce)
  const groups = useMemo(() => groupsOf(parts), [parts])
  const left = groups.length - most
  return (
    <>
      {groups
        .slice(0, most)
        .map(({ key, same, part }) =>
          part === undefined ? (
            <Unchanged key={key} parts={same} depth={depth} />
          ) : part.kind === 'inside' ? (
            <Inside key={key} part={part} notes={notes} depth={depth} />
          ) : (
            <Row key={key} part={part} notes={notes} depth={depth} />
          ),
        )}
      {left > 0 ? (
        <Line depth={depth}>
          <button type="button" className={classes.more} onClick={() => setMost(most + atOnce)}>
            Show {Math.min(atOnce, left)} more of {left}
          </button>
        </Line>
      ) : null}
    </>
  )
}

function Inside({
  part: { name, parts },
  notes,
  depth,
}: {
  part: Part & { kind: 'inside' }
  notes: readonly Note[]
  depth: number
}) {
  const [isOpen, setOpen] = useState(depth === 0 || parts.length <= openMax)
  return (
    <>
      <Line depth={depth}>
        <Fold isOpen={isOpen} onToggle={() => setOpen(!isOpen)}>
          <span className={classes.name}>{name}</span> <span className="tg-quiet">differs inside</span>
        </Fold>
      </Line>
      {isOpen ? <Parts parts={parts} notes={notes} depth={depth + 1} /> : null}
    </>
  )
}

function Unchanged({ parts, depth }: { parts: readonly (Part & { kind: 'same' })[]; depth: number }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Line depth={depth}>
        <Fold isOpen={isOpen} onToggle={() => setOpen(!isOpen)}>
          <span className="tg-quiet">{unchanged(parts.reduce((sum, { members }) => sum + members, 0))}</span>
        </Fold>
      </Line>
      {isOpen ? (
        <Line depth={depth + 1}>
          {parts.slice(0, atOnce).map(({ path, name, value }) => (
            <BodyNode key={path} name={name} value={value} depth={3} />
          ))}
          {parts.length > atOnce ? (
            <span className="tg-quiet">and {parts.length - atOnce} more, which “From the client” has</span>
          ) : null}
        </Line>
      ) : null}
    </>
  )
}

function Row({
  part,
  notes,
  depth,
}: {
  part: Exclude<Part, { kind: 'inside' } | { kind: 'same' }>
  notes: readonly Note[]
  depth: number
}) {
  const own = notes.filter(({ path }) => isWithin(path, part.path))
  const { name } = part
  switch (part.kind) {
    case 'added':
      return (
        <Sides
          kind={isMoved(part) ? 'moved' : 'added'}
          depth={depth}
          right={
            <>
              <Tag kind={isMoved(part) ? 'moved' : 'added'}>{addedInWords(part)}</Tag>
              <Value name={name} value={part.value} />
            </>
          }
        />
      )
    case 'removed':
      return (
        <Sides
          kind={isMoved(part) ? 'moved' : 'removed'}
          depth={depth}
          left={
            <>
              <Tag kind={isMoved(part) ? 'moved' : 'removed'}>{removedInWords(part)}</Tag>
              <Value name={name} value={part.value} />
            </>
          }
          right={own.length === 0 ? undefined : <Why notes={own} of={part.path} />}
        />
      )
    case 'changed': {
      const head = sameHead(part.before, part.after)
      return (
        <Sides
          kind="changed"
          depth={depth}
          left={
            <>
              <Tag kind="changed">changed</Tag>
              <Value name={name} value={part.before} sameHead={head} />
            </>
          }
          right={
            <>
              <Value name={name} value={part.after} sameHead={head} />
              {own.length === 0 ? null : <Why notes={own} of={part.path} />}
            </>
          }
        />
      )
    }
  }
}

type Kind = 'added' | 'removed' | 'changed' | 'moved'

const signs: Readonly<Record<Kind, string>> = { added: '+', removed: '−', changed: '~', moved: '→' }

function Tag({ kind, children }: { kind: Kind; children: ReactNode }) {
  return (
    <span className={classes.tag}>
      <span aria-hidden>{signs[kind]} </span>
      {children}
    </span>
  )
}

/** Shorter than elsewhere: the columns are narrow. */
const textMax = 240

function Value({ name, value, sameHead }: { name: string; value: unknown; sameHead?: number }) {
  if (typeof value === 'object' && value !== null)
    return <BodyNode name={name} value={value} depth={3} textMax={textMax} />
  return (
    <div className={classes.leaf}>
      <span className={classes.name}>{name}: </span>
      <BodyLeaf value={value} textMax={textMax} {...(sameHead === undefined ? {} : { sameHead })} />
    </div>
  )
}

/** What the translation says about it. A note of a member inside has its path. */
function Why({ notes, of }: { notes: readonly Note[]; of: string }) {
  return (
    <div className="tg-quiet">
      {notes.map(({ path, action, reason }) => (
        <div key={`${path} ${action}`}>
          {path === of ? '' : `${path}: `}
          <strong>{action}</strong>: {reason}
        </div>
      ))}
    </div>
  )
}

function Sides({
  kind,
  depth,
  left,
  right,
}: {
  kind: Kind
  depth: number
  left?: ReactNode
  right?: ReactNode
}) {
  return (
    <div className={classes.row} data-kind={kind} style={indent(depth)}>
      <div className={classes.side} data-side="client" data-empty={left === undefined}>
        {left === undefined ? null : <span className={classes.whose}>From the client</span>}
        {left}
      </div>
      <div className={classes.side} data-side="channel" data-empty={right === undefined}>
        {right === undefined ? null : <span className={classes.whose}>To the channel</span>}
        {right}
      </div>
    </div>
  )
}

/** A line over both columns. */
function Line({ depth, children }: { depth: number; children: ReactNode }) {
  return (
    <div className={classes.line} style={indent(depth)}>
      {children}
    </div>
  )
}

function Fold({ isOpen, onToggle, children }: { isOpen: boolean; onToggle(): void; children: ReactNode }) {
  return (
    <button type="button" className={classes.fold} aria-expanded={isOpen} onClick={onToggle}>
      {isOpen ? <ChevronDownIcon size={12} aria-hidden /> : <ChevronRightIcon size={12} aria-hidden />}
      <span>{children}</span>
    </button>
  )
}

/** Both columns are indented, so that the line between them is straight. Deeper than this no one can read. */
function indent(depth: number) {
  return { '--depth': Math.min(depth, 8) } as Record<string, number>
}
