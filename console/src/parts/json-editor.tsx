import { Button, Group, Stack, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/client.ts'
import { useEditing } from '../api/editing.ts'
import type { IfMatch, Tagged } from '../api/tagged.ts'
import { ChangeProblem } from './change-problem.tsx'
import { type JsonObject, mergePatch, patched, readObject } from './fields.ts'

/**
 * All settings of a thing as the API takes them: nothing that the API can set is out of reach. `save` gets
 * what was changed, as a merge patch (RFC 7396), and the header for it. What is typed stays when the page
 * reads the thing anew.
 */
export function JsonEditor<Data>({
  of,
  read,
  settingsOf,
  save,
  why,
}: {
  of: Tagged<Data>
  read(): Promise<Tagged<Data>>
  /** What can be changed of it. */
  settingsOf(data: Data): Readonly<Record<string, unknown>>
  save(patch: JsonObject, header: IfMatch): Promise<unknown>
  /** Why nothing can be changed here; undefined: it can. */
  why: string | undefined
}) {
  const [typed, setTyped] = useState<string | undefined>(undefined)
  const [wrong, setWrong] = useState<string | undefined>(undefined)
  const editing = useEditing(of, read, typed !== undefined)
  const stands = textOf(settingsOf(editing.base))
  const text = typed ?? stands
  const change = useMutation({
    mutationFn: (patch: JsonObject) => editing.change((header) => save(patch, header)),
    onSuccess: () => setTyped(undefined),
  })
  /** Undefined: it is not JSON, and the field says so. */
  const patchOfText = () => {
    try {
      setWrong(undefined)
      return mergePatch(readObject(stands), readObject(text))
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error))
      return undefined
    }
  }
  const submit = () => {
    const patch = patchOfText()
    if (patch !== undefined) change.mutate(patch)
  }
  const goOn = () => {
    const patch = patchOfText()
    if (patch === undefined || editing.now === undefined) return
    setTyped(textOf(patched(readObject(textOf(settingsOf(editing.now))), patch)))
    change.reset()
    editing.goOn()
  }
  const drop = () => {
    setTyped(undefined)
    setWrong(undefined)
    change.reset()
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
        onChange={(event) => setTyped(event.currentTarget.value)}
        error={wrong}
        classNames={{ input: 'tg-mono' }}
        spellCheck={false}
      />
      <ChangeProblem
        error={change.error}
        editing={editing}
        yours={change.variables}
        onGoOn={goOn}
        onDrop={drop}
      />
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
          <Button variant="default" onClick={drop}>
            Undo my changes
          </Button>
        </Group>
      ) : null}
    </Stack>
  )
}

const textOf = (value: unknown) => JSON.stringify(value, null, 2)
