import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, api, ask } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { duration } from '../../format/numbers.ts'
import { Code } from '../../parts/code.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Money, Tokens } from '../../parts/formatted-values.tsx'
import { Problem } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import classes from './playground.module.css'
import type { Run } from './run.ts'

/** What came, while it comes. */
export function AnswerView({ run, onAgain }: { run: Run; onAgain(): void }) {
  const { answer } = run
  return (
    <div className={classes.answer}>
      <div className={classes.facts} role="status">
        <RunState run={run} />
        {run.firstTextAt === undefined ? null : <Fact name="First token">{duration(run.firstTextAt)}</Fact>}
        {run.endedAt === undefined ? null : <Fact name="Total">{duration(run.endedAt)}</Fact>}
        <RowFacts run={run} />
      </div>
      {run.failure === undefined ? null : (
        <Problem error={run.failure} onAgain={onAgain} doing="The request" />
      )}
      {answer.reasoning === '' ? null : (
        <details className={classes.reasoning}>
          <summary>Reasoning</summary>
          <Long text={answer.reasoning} />
        </details>
      )}
      {answer.text === '' ? null : (
        <section className={classes.text} aria-label="Text of the answer">
          <Long text={answer.text} />
          {run.state === 'running' ? null : (
            <div className={classes.copy}>
              <Copy text={answer.text} what="the answer" />
            </div>
          )}
        </section>
      )}
      {answer.toolCalls.map(({ name, input }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls only ever come after the others
        <section key={index} aria-label={`Call of ${name}`}>
          <h3 className={classes.call}>Calls {name}</h3>
          <Code text={pretty(input)} what="the input of the call" />
        </section>
      ))}
      {answer.images.length === 0 ? null : (
        <div className={classes.pictures}>
          {answer.images.map((image, index) => (
            <img key={image.slice(-64)} src={image} alt={`Answer, number ${index + 1}`} />
          ))}
        </div>
      )}
      {answer.vectors === undefined ? null : (
        <p>
          {answer.vectors.count} {answer.vectors.count === 1 ? 'vector' : 'vectors'} of{' '}
          {answer.vectors.dimensions} numbers. The wire view below has them.
        </p>
      )}
      {isRefused(run) ? (
        <Code text={pretty(run.client.pieces.map(({ text }) => text).join(''))} what="the error" />
      ) : null}
    </div>
  )
}

function isRefused({ client }: Run): boolean {
  return client.status !== undefined && client.status >= 400
}

function RunState({ run }: { run: Run }) {
  const { status } = run.client
  if (run.state === 'running')
    return <State tone="info">{status === undefined ? 'waiting for the answer' : 'answer is coming'}</State>
  if (run.state === 'cancelled') return <State tone="quiet">cancelled</State>
  if (run.state === 'failed') return <State tone="bad">not complete</State>
  if (isRefused(run)) return <State tone="bad">{`${status}: ${run.answer.error ?? 'refused'}`}</State>
  if (run.answer.error !== undefined) return <State tone="bad">{run.answer.error}</State>
  return (
    <State tone="good">
      {status}
      {run.answer.finish ? ` · ${run.answer.finish}` : ''}
    </State>
  )
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <span>
      <span className="tg-quiet">{name}</span> <span className="tg-number">{children}</span>
    </span>
  )
}

/** Tokens and cost are in the row, which is written about a second after the end. */
function RowFacts({ run }: { run: Run }) {
  const mayLog = useMay()('log')
  const id = run.requestId
  const row = useQuery({
    queryKey: ['request', id],
    enabled: mayLog && id !== undefined && run.state !== 'running',
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/requests/{id}', { params: { path: { id: id ?? '' } }, signal })),
    retry: (failures, error) => failures < 40 && error instanceof ApiError && error.status === 404,
    retryDelay: (failures) => (failures < 10 ? 500 : 1_500),
  })
  if (id === undefined || !mayLog) return null
  return (
    <>
      {row.data === undefined ? (
        run.state !== 'running' && row.isFetching ? (
          <span className="tg-quiet">
            {run.state === 'cancelled'
              ? 'The row is written when the channel is done.'
              : 'Counting tokens and cost…'}
          </span>
        ) : null
      ) : (
        <>
          {row.data.tokens === null ? null : (
            <>
              <Fact name="In">
                <Tokens value={row.data.tokens.input} />
              </Fact>
              <Fact name="Out">
                <Tokens value={row.data.tokens.output} />
              </Fact>
            </>
          )}
          <Fact name="Cost">
            <Money nanoUsd={row.data.cost_nano_usd} />
          </Fact>
        </>
      )}
      <Link to={'/console/log/$id' as string} params={{ id } as never}>
        See its row
      </Link>
    </>
  )
}

const shownMax = 100_000

function Long({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > shownMax && !isWhole
  return (
    <>
      <div className={classes.prose}>{isLong ? text.slice(0, shownMax) : text}</div>
      {isLong ? (
        <Button variant="default" onClick={() => setWhole(true)}>
          Show {Math.round((text.length - shownMax) / 1_024)} KB more
        </Button>
      ) : null}
    </>
  )
}

export function pretty(text: string): string {
  if (text.length > shownMax) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
