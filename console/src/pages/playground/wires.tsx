import { Button, SegmentedControl } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useSession } from '../../api/session.ts'
import { bytes, duration } from '../../format/numbers.ts'
import { Copy } from '../../parts/copy.tsx'
import { Section } from '../../parts/page.tsx'
import { Notice, State } from '../../parts/state.tsx'
import { pretty } from './answer-view.tsx'
import classes from './playground.module.css'
import type { Run, Wire } from './run.ts'
import { EventReader, type ServerEvent } from './sse.ts'

/** What the client sent and got, beside what each channel got and sent. */
export function Wires({ run, version }: { run: Run; version: unknown }) {
  const [isRaw, setRaw] = useState(false)
  const isMember = useSession().tenant_id !== null
  return (
    <Section
      title="On the wire"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="How the wire is shown"
          value={isRaw ? 'raw' : 'pretty'}
          onChange={(value) => setRaw(value === 'raw')}
          data={[
            { value: 'pretty', label: 'Pretty' },
            { value: 'raw', label: 'Raw' },
          ]}
        />
      }
    >
      <div className={classes.wires}>
        <WireView wire={run.client} isRaw={isRaw} version={version} />
        <div className={classes.upstreams}>
          {run.upstreams.map((upstream) => (
            <WireView key={upstream.title} wire={upstream} isRaw={isRaw} version={version} />
          ))}
          {run.upstreams.length > 0 ? null : (
            <Notice tone="quiet">
              {isMember
                ? 'Which channel was called, and what it said, is shown to the operators of the gateway only.'
                : run.client.address === '/v1/images/generations'
                  ? 'A worker calls the channel for pictures, so that its wire is not shown here.'
                  : run.state === 'running'
                    ? 'No channel was called yet.'
                    : 'No channel was called.'}
            </Notice>
          )}
        </div>
      </div>
    </Section>
  )
}

function WireView({ wire, isRaw, version }: { wire: Wire; isRaw: boolean; version: unknown }) {
  const came = useMemo(() => {
    void version
    return wire.pieces.map(({ text }) => text).join('')
  }, [wire, version])
  return (
    <article className={classes.wire} aria-label={wire.title}>
      <header>
        <h3>{wire.title}</h3>
        {wire.status === undefined ? null : (
          <State tone={wire.status < 400 ? 'good' : 'bad'}>{wire.status}</State>
        )}
        {wire.error === undefined ? null : <State tone="bad">{wire.error}</State>}
      </header>
      <p className={classes.line}>
        <span className={classes.at}>{at(wire.sentAt)}</span> {wire.method} {wire.address}
      </p>
      <Block
        title="Request"
        text={wire.body === null ? '(a body that is no text)' : isRaw ? wire.body : pretty(wire.body)}
      />
      {wire.startedAt === undefined ? null : (
        <p className={classes.line}>
          <span className={classes.at}>{at(wire.startedAt)}</span> answer begins
          {wire.endedAt === undefined ? '' : `, ends at ${at(wire.endedAt)}`}
        </p>
      )}
      {wire.headers === undefined ? null : (
        <details className={classes.headers}>
          <summary>{Object.keys(wire.headers).length} headers of the answer</summary>
          <dl>
            {Object.entries(wire.headers).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      {came === '' ? null : isRaw || !/^(event|data|id|:|retry)/.test(came) ? (
        <Block title="Answer" text={isRaw ? came : pretty(came)} />
      ) : (
        <Events wire={wire} version={version} text={came} />
      )}
    </article>
  )
}

const shownMax = 64 * 1024

function Block({ title, text }: { title: string; text: string }) {
  const [most, setMost] = useState(shownMax)
  return (
    <section aria-label={title}>
      <h4 className={classes.blockHead}>
        {title} <span className="tg-quiet">{bytes(text.length)}</span>
        <Copy text={text} what={`the ${title.toLowerCase()}`} />
      </h4>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is focusable */}
      <pre className={classes.block} tabIndex={0}>
        {text.slice(0, most)}
      </pre>
      {text.length > most ? (
        <Button variant="default" onClick={() => setMost(most * 4)}>
          Show more of {bytes(text.length)}
        </Button>
      ) : null}
    </section>
  )
}

/** Server-sent events, one a line, with the moment at which each came. */
function Events({ wire, version, text }: { wire: Wire; version: unknown; text: string }) {
  const [most, setMost] = useState(100)
  const events = useMemo(() => {
    void version
    const reader = new EventReader()
    const read: { at: number; event: ServerEvent }[] = []
    for (const piece of wire.pieces) {
      for (const event of reader.add(piece.text)) read.push({ at: piece.at, event })
      if (read.length > most) break
    }
    return read
  }, [wire, version, most])
  return (
    <section aria-label="Events">
      <h4 className={classes.blockHead}>
        Events <span className="tg-quiet">{bytes(text.length)}</span>
        <Copy text={text} what="the events" />
      </h4>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is focusable */}
      <ol className={classes.events} tabIndex={0}>
        {events.slice(0, most).map(({ at: came, event }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: events only ever come after the others
          <li key={index}>
            <details>
              <summary>
                <span className={classes.at}>{at(came)}</span>{' '}
                {event.event === 'message' ? '' : <b>{event.event} </b>}
                {event.data.slice(0, 400)}
              </summary>
              <pre>{pretty(event.data)}</pre>
            </details>
          </li>
        ))}
      </ol>
      {events.length > most ? (
        <Button variant="default" onClick={() => setMost(most + 400)}>
          Show 400 more events
        </Button>
      ) : null}
    </section>
  )
}

function at(ms: number): string {
  return `+${duration(ms)}`
}
