import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Schema } from '../../api/client.ts'
import { count } from '../../format/numbers.ts'
import { Code } from '../../parts/code.tsx'
import { Section } from '../../parts/page.tsx'
import { Notice } from '../../parts/state.tsx'
import classes from './import.module.css'
import { placeOf } from './import-query.ts'

/** What an import has written, with links, and new secrets the only time that they are shown. */
export function ImportResult({
  result: { counts, rows, generated_keys: keys },
  onAgain,
}: {
  result: Schema<'ImportResult'>
  onAgain(): void
}) {
  const written = rows.filter(({ action }) => action === 'create' || action === 'change')
  return (
    <>
      <Notice tone="good">{`Imported: ${count(counts.create)} rows created, ${count(counts.change)} changed.`}</Notice>
      {keys.length === 0 ? null : (
        <Section title="New secrets">
          <Notice tone="warning">
            Copy these secrets now. They are not shown again: the gateway stores only their hashes.
          </Notice>
          <Code
            text={keys.map(({ tenant, key, secret }) => `${tenant}/${key} ${secret}`).join('\n')}
            what="the secrets"
          />
        </Section>
      )}
      <div className={classes.row}>
        {Object.entries(placeOf).map(([kind, to]) => {
          const number = written.filter((row) => row.kind === kind).length
          return number === 0 ? null : (
            <Button key={kind} variant="default" component={Link} to={to}>
              {`See ${kind} (${count(number)})`}
            </Button>
          )
        })}
        <Button variant="default" onClick={onAgain}>
          Import another file
        </Button>
      </div>
    </>
  )
}
