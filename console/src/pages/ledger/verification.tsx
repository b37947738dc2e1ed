import { Button, Progress, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { count } from '../../format/numbers.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { Section } from '../../parts/page.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Notice, State } from '../../parts/state.tsx'
import classes from './ledger.module.css'
import { verificationWords } from './ledger-words.ts'

type Verification = Schema<'LedgerVerification'>

const key = ['ledger', 'verification']

/**
 * Recomputes the ledger. The gateway does it: it goes on when the page is left, and any page shows how far it
 * is.
 */
export function VerifyLedger() {
  const may = useMay()
  const queries = useQueryClient()
  const [since, setSince] = useState('')
  const last = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/ledger/verification', { signal })),
    refetchInterval: ({ state }) =>
      state.data === undefined ? false : state.data.verification?.state === 'running' ? 1_000 : 10_000,
  })
  const told = { onSuccess: (body: Schema<'LastLedgerVerification'>) => queries.setQueryData(key, body) }
  const start = useMutation({
    mutationFn: () => ask(api.POST('/admin/v1/ledger/verification', { body: since === '' ? {} : { since } })),
    ...told,
  })
  const cancel = useMutation({
    mutationFn: () => ask(api.POST('/admin/v1/ledger/verification/cancel')),
    ...told,
  })
  const problem = usePart('the verification', last)
  if (problem !== undefined) return problem
  const verification = last.data?.verification ?? null
  const isRunning = verification?.state === 'running'
  return (
    <Section
      title="Check every row and every entry"
      actions={
        !may('health', 'write') ? null : isRunning ? (
          <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel it
          </Button>
        ) : (
          <Button loading={start.isPending || last.isPending} onClick={() => start.mutate()}>
            Verify the ledger
          </Button>
        )
      }
    >
      <span className="tg-quiet">
        It reads the whole ledger and compares rows, entries, accounts, reservations and sums. It changes
        nothing, delays no request, and goes on when you leave this page.{' '}
        <Link to="/docs/$" params={{ _splat: 'reference/ledger-tools' }}>
          The tools of the ledger
        </Link>
      </span>
      {isRunning || !may('health', 'write') ? null : (
        <TextInput
          w={208}
          size="xs"
          type="month"
          label="From this month on"
          description="Empty: everything"
          value={since}
          onChange={(event) => setSince(event.currentTarget.value)}
        />
      )}
      {start.error === null ? null : <Problem error={start.error} doing="The start" />}
      {cancel.error === null ? null : <Problem error={cancel.error} doing="The end" />}
      {verification === null ? null : <Told of={verification} />}
    </Section>
  )
}

function Told({ of }: { of: Verification }) {
  const { state, progress, started_at, started_by, since, findings } = of
  const { tone, words } = verificationWords(of)
  return (
    <>
      <Notice tone={tone}>
        {words}
        <div className="tg-quiet">
          Begun by {started_by} at <Moment at={started_at} />
          {since === null ? '' : `, from ${since} on`}.
        </div>
      </Notice>
      {state === 'running' ? (
        <Progress
          className={classes.progress ?? ''}
          value={progress.of === 0 ? 0 : (progress.done / progress.of) * 100}
          aria-label="How far the verification is"
        />
      ) : null}
      {findings === null ? null : (
        <details open={of.holds === false}>
          <summary>All {count(findings.length)} rules</summary>
          <ul className={classes.rules}>
            {findings.map(({ rule, differences, samples }) => (
              <li key={rule}>
                <State tone={differences === 0 ? 'good' : 'bad'}>
                  {differences === 0 ? 'holds' : `${count(differences)} differ`}
                </State>{' '}
                {rule}
                {samples.map((sample) => (
                  <div key={sample} className="tg-mono">
                    {sample}
                  </div>
                ))}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
