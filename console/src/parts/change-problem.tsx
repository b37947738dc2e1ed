import { Button, Group, Stack, Text } from '@mantine/core'
import type { Editing } from '../api/editing.ts'
import { isChangedMeanwhile } from '../api/tagged.ts'
import { changesOf, membersOf } from './changes.ts'
import { ChangesTable } from './changes-table.tsx'
import { Problem } from './problem.tsx'
import { Notice } from './state.tsx'

/**
 * The error of a change. Where somebody else was quicker it says so, shows what differs, and lets the user go
 * on with what was typed. It is in all forms and dialogs whose changes go through `useEditing`.
 */
export function ChangeProblem<Data>({
  error,
  editing,
  doing,
  yours,
  onGoOn,
  onDrop,
}: {
  /** Of the last try; undefined or null: none. */
  error: unknown
  editing: Editing<Data> | undefined
  /** What failed, for other errors: "Save key". */
  doing?: string
  /**
   * What the user wants, as the API has it: where that is not what was read, it appears beside what differs.
   */
  yours?: unknown
  /** Keeps what was typed, upon the current state. Absent: the verb of the dialog does it. */
  onGoOn?: () => void
  /** Shows the current state instead of what was typed. */
  onDrop?: () => void
}) {
  if (error === undefined || error === null) return null
  if (editing?.now === undefined || !isChangedMeanwhile(error))
    return <Problem error={error} {...(doing === undefined ? {} : { doing })} />
  const changes = changesOf(editing.base, editing.now).filter(({ path }) => !byItself.has(path))
  const seen = new Map(membersOf(editing.base))
  const typed = yours === undefined ? [] : membersOf(yours).filter(([path, text]) => seen.get(path) !== text)
  return (
    <Notice tone="warning">
      <Stack gap={8}>
        <Text component="div" fw={600}>
          Somebody else has changed this since you opened it
        </Text>
        <div>
          {onGoOn === undefined
            ? 'Nothing was done. Look at what is different now, and press the button again to do it all the same.'
            : 'Nothing was saved. What you typed is still here.'}
        </div>
        {changes.length === 0 ? (
          <div>What is different now is not shown: it is a secret, for example.</div>
        ) : (
          <ChangesTable changes={changes} heads={['When you opened it', 'Now']} yours={new Map(typed)} />
        )}
        {onGoOn === undefined ? null : (
          <Group gap={8}>
            <Button variant="default" onClick={onGoOn}>
              Go on with mine
            </Button>
            {onDrop === undefined ? null : (
              <Button variant="default" onClick={onDrop}>
                Drop mine, show what is there
              </Button>
            )}
          </Group>
        )}
      </Stack>
    </Notice>
  )
}

/** Members that no user sets. */
const byItself: ReadonlySet<string> = new Set([
  'last_sign_in_at',
  'evaluated_at',
  'changed_at',
  'price_version.id',
  'price_version.created_at',
  'prices.renewed_at',
  'prices.version',
])
