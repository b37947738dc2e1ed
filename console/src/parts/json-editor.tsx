import { Button, Group, Stack, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/client.ts'
import { isChangedMeanwhile } from '../api/tagged.ts'
import { Problem } from './problem.tsx'
import { Notice } from './tone.tsx'

/**
 * All settings of a thing as the API takes them: nothing that the API can set is out of reach. `save` gets what was changed,
 * as a merge patch (RFC 7396).
 */
export function JsonEditor({
  value,
  save,
  why,
  reload,
}: {
  /** What stands, without what nobody can change. */
  value: Readonly<Record<string, unknown>>
  save(patch: Record<string, unknown>): Promise<unknown>
  /** Why nothing can be changed here; undefined: it can. */
  why: string | undefined
  /** Reads it again, where `save` sends an ETag and another person was faster. */
  reload?(): void
}) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2))
  const [wrong, setWrong] = useState<string | undefined>(undefined)
  const change = useMutation({ mutationFn: save })
  const submit = () => {
    try {
      const patch = patchOf(value, JSON.parse(text) as Record<string, unknown>)
      setWrong(undefined)
      change.mutate(patch)
    } catch (error) {
      setWrong(`This is not JSON: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const fields = change.error instanceof ApiError ? change.error.fields : []
  return (
    <Stack gap={8}>
      {why === undefined ? null : <span className="tg-quiet">{why}</span>}
      <Textarea
        aria-label="Settings as JSON"
        autosize
        minRows={6}
        maxRows={24}
        readOnly={why !== undefined}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={wrong}
        classNames={{ input: 'tg-mono' }}
        spellCheck={false}
      />
      {change.error === null ? null : isChangedMeanwhile(change.error) && reload !== undefined ? (
        <Notice
          tone="warning"
          action={
            <Button
              variant="default"
              onClick={() => {
                change.reset()
                reload()
              }}
            >
              Read it again
            </Button>
          }
        >
          It was changed since you read it, so nothing was saved. Reading it again drops your text.
        </Notice>
      ) : (
        <Problem error={change.error} />
      )}
      {fields.map(({ pointer, detail }) => (
        <span key={pointer}>
          <span className="tg-mono">{pointer}</span> {detail}
        </span>
      ))}
      {why === undefined ? (
        <Group gap={8}>
          <Button onClick={submit} loading={change.isPending}>
            Save the settings
          </Button>
          <Button variant="default" onClick={() => setText(JSON.stringify(value, null, 2))}>
            Undo my changes
          </Button>
        </Group>
      ) : null}
    </Stack>
  )
}

/** What differs, as a merge patch: what is gone becomes null. */
export function patchOf(before: unknown, after: unknown): Record<string, unknown> {
  const [old, next] = [recordOf(before), recordOf(after)]
  const patch: Record<string, unknown> = {}
  for (const name of new Set([...Object.keys(old), ...Object.keys(next)])) {
    if (!(name in next)) patch[name] = null
    else if (isRecord(old[name]) && isRecord(next[name])) {
      const inner = patchOf(old[name], next[name])
      if (Object.keys(inner).length > 0) patch[name] = inner
    } else if (JSON.stringify(old[name]) !== JSON.stringify(next[name])) patch[name] = next[name]
  }
  return patch
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}
