import { Button, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { count } from '../../format/numbers.ts'
import { Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Rows } from '../../parts/rows.tsx'
import { Notice, State } from '../../parts/state.tsx'
import type { Tone } from '../../parts/tone.ts'
import classes from './import.module.css'
import { actionWords, type ImportRow, type Plan } from './import-query.ts'

const shownMax = 200
const kinds = ['models', 'channels', 'groups', 'tenants', 'keys'] as const
const actionTones: Readonly<Record<ImportRow['action'], Tone>> = {
  create: 'good',
  change: 'warning',
  skip: 'quiet',
  conflict: 'bad',
}
const levels: Readonly<Record<Plan['problems'][number]['level'], { words: string; tone: Tone }>> = {
  lost: { words: 'left out', tone: 'bad' },
  changed: { words: 'changed', tone: 'warning' },
  note: { words: 'note', tone: 'quiet' },
}

/** What an import would write, what is left out and why, and its confirmation. */
export function ImportPlan({
  plan,
  isWriting,
  error,
  onWrite,
  onBack,
  onLookAgain,
}: {
  plan: Plan
  isWriting: boolean
  error: unknown
  onWrite(): void
  onBack(): void
  onLookAgain(): void
}) {
  const [words, setWords] = useState('')
  const [action, setAction] = useState<string>('')
  const looked = words.trim().toLowerCase()
  const has = (...texts: string[]) => texts.some((text) => text.toLowerCase().includes(looked))
  const rows = plan.rows.filter(
    (row) => (action === '' || row.action === action) && has(row.name, row.reason, row.kind),
  )
  const order = Object.keys(levels)
  const problems = plan.problems
    .filter(({ where, what }) => has(where, what))
    .toSorted((one, other) => order.indexOf(one.level) - order.indexOf(other.level))
  const groups = [
    { title: 'Conflicts', rows: rows.filter((row) => row.action === 'conflict') },
    ...kinds.map((kind) => ({
      title: `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
      rows: rows.filter((row) => row.kind === kind && row.action !== 'conflict'),
    })),
  ].filter((group) => group.rows.length > 0)
  const { create, change, conflict } = plan.counts
  // What prevents the import stands before everything else.
  const isBlocked = groups[0]?.title === 'Conflicts'
  return (
    <>
      <Summary plan={plan} />
      <div className={classes.row}>
        <TextInput
          aria-label="Search the plan"
          placeholder="Search the plan"
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
        />
        <Select
          aria-label="Action"
          data={[
            { value: '', label: 'Every action' },
            ...Object.entries(actionWords).map(([value, label]) => ({ value, label })),
          ]}
          value={action}
          onChange={(next) => setAction(next ?? '')}
        />
      </div>
      {isBlocked && groups[0] !== undefined ? <PlanRows {...groups[0]} /> : null}
      {problems.length === 0 ? null : (
        <Section title={`Not carried over unchanged (${count(problems.length)})`}>
          <Rows
            label="Not carried over unchanged"
            rows={problems.slice(0, shownMax)}
            idOf={({ level, where, what }) => `${level} ${where} ${what}`}
            none="Everything is carried over."
            foot={restOf(problems.length)}
            columns={[
              {
                head: 'How',
                keeps: true,
                cell: ({ level }) => <State tone={levels[level].tone}>{levels[level].words}</State>,
              },
              { head: 'Where', cell: ({ where }) => where },
              { head: 'Why', cell: ({ what }) => what },
            ]}
          />
        </Section>
      )}
      {groups.slice(isBlocked ? 1 : 0).map((group) => (
        <PlanRows key={group.title} {...group} />
      ))}
      {rows.length + problems.length === 0 ? <p className="tg-quiet">Nothing of the plan matches.</p> : null}
      {error === null ? null : <Problem error={error} doing="The import" onAgain={onLookAgain} />}
      <div className={`${classes.foot} ${classes.row}`}>
        <Button disabled={plan.plan === null} loading={isWriting} onClick={onWrite}>
          {`Write ${count(create + change)} rows`}
        </Button>
        <Button variant="default" onClick={onBack}>
          Back to the file
        </Button>
        {conflict > 0 ? (
          <span>Resolve the conflicts, or go back and keep existing rows as they are.</span>
        ) : null}
      </div>
    </>
  )
}

function PlanRows({ title, rows }: { title: string; rows: readonly ImportRow[] }) {
  return (
    <Section title={`${title} (${count(rows.length)})`}>
      <Rows
        label={title}
        rows={rows.slice(0, shownMax)}
        idOf={({ kind, name }) => `${kind} ${name}`}
        none="None"
        foot={restOf(rows.length)}
        columns={[
          {
            head: 'Action',
            keeps: true,
            cell: (row) => <State tone={actionTones[row.action]}>{actionWords[row.action]}</State>,
          },
          {
            head: 'Name',
            cell: ({ kind, name, action }) => (action === 'conflict' ? `${kind}: ${name}` : name),
          },
          { head: 'Why, or what changes', cell: ({ reason }) => reason },
        ]}
      />
    </Section>
  )
}

function Summary({ plan }: { plan: Plan }) {
  const { create, change, skip, conflict } = plan.counts
  const lost = plan.problems.filter(({ level }) => level === 'lost').length
  const tone = conflict > 0 ? 'bad' : create + change === 0 ? 'quiet' : lost > 0 ? 'warning' : 'good'
  return (
    <Notice tone={tone}>
      {create + change === 0 && conflict === 0
        ? 'Everything in the file is here already. There is nothing to write.'
        : `${count(create)} to create, ${count(change)} to change, ${count(skip)} unchanged, ${count(conflict)} in conflict, ${count(lost)} left out.`}
      {plan.new_secrets === 0
        ? null
        : ` ${count(plan.new_secrets)} keys get a new secret, which is shown once after the import.`}
    </Notice>
  )
}

function restOf(all: number): string | undefined {
  return all > shownMax ? `${count(all - shownMax)} more: search to find them.` : undefined
}
