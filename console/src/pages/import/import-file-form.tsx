import { Button, Checkbox, PasswordInput, Select, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { Problem } from '../../parts/problem.tsx'
import { Notice } from '../../parts/state.tsx'
import { FileDrop } from './file-drop.tsx'
import classes from './import.module.css'
import { bodyOf, draftOf, type ImportDraft, numberFault } from './import-draft.ts'
import { type Asked, fileFault, formatFor } from './import-query.ts'

/** The file of the other gateway, dropped, chosen or pasted, and how it is read. */
export function ImportFileForm({
  began,
  missing,
  isBusy,
  error,
  onLook,
}: {
  /** What was asked before. */
  began: Asked | undefined
  /** Variables of the file that need a value. */
  missing: readonly string[]
  isBusy: boolean
  error: unknown
  onLook(body: Asked): void
}) {
  const [draft, setDraft] = useState(() => draftOf(began))
  const [isTried, setTried] = useState(false)
  const [fault, setFault] = useState<string | undefined>(undefined)
  const change = (part: Partial<ImportDraft>) => setDraft((before) => ({ ...before, ...part }))
  const isEmpty = draft.text.trim() === ''
  const bodyFault =
    error instanceof ApiError ? error.fields.find(({ pointer }) => pointer === '#/file/text') : undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    const wrong = isEmpty ? undefined : fileFault(draft.name, new Blob([draft.text]).size, draft.text)
    setFault(wrong)
    const areSizesRight = [draft.maxOutput, draft.contextLength].every(
      (text) => numberFault(text) === undefined,
    )
    if (!isEmpty && wrong === undefined && draft.format !== null && areSizesRight)
      onLook(bodyOf(draft, draft.format))
  }
  return (
    <form className={classes.form} onSubmit={submit} noValidate>
      <FileDrop
        name={draft.name}
        text={draft.text}
        error={
          fault ?? (isTried && isEmpty ? 'Drop a file, choose one, or paste its text.' : bodyFault?.detail)
        }
        onFault={setFault}
        onText={(text, name) => {
          setFault(undefined)
          change({ text, name, format: formatFor(text) ?? draft.format })
        }}
      />
      <HowToRead draft={draft} isTried={isTried} onChange={change} />
      {missing.length === 0 ? null : <Variables names={missing} draft={draft} onChange={change} />}
      {error === null || bodyFault !== undefined ? null : <Problem error={error} doing="The plan" />}
      <div className={classes.row}>
        <Button type="submit" loading={isBusy}>
          Show the plan
        </Button>
        <span className="tg-quiet">Nothing is written yet.</span>
      </div>
    </form>
  )
}

interface PartProps {
  draft: ImportDraft
  onChange(part: Partial<ImportDraft>): void
}

function HowToRead({ draft, isTried, onChange }: PartProps & { isTried: boolean }) {
  return (
    <>
      <div className={classes.fields}>
        <Select
          label="From"
          placeholder="Choose the gateway"
          data={[
            { value: 'litellm', label: 'LiteLLM' },
            { value: 'new-api', label: 'new-api' },
          ]}
          value={draft.format}
          error={isTried && draft.format === null ? 'Choose where the file comes from.' : undefined}
          onChange={(format) => onChange({ format: format as ImportDraft['format'] })}
        />
        <TextInput
          label="Default max output"
          inputMode="numeric"
          placeholder="for models without one"
          value={draft.maxOutput}
          error={numberFault(draft.maxOutput)}
          onChange={(event) => onChange({ maxOutput: event.currentTarget.value })}
        />
        <TextInput
          label="Default context length"
          inputMode="numeric"
          placeholder="for models without one"
          value={draft.contextLength}
          error={numberFault(draft.contextLength)}
          onChange={(event) => onChange({ contextLength: event.currentTarget.value })}
        />
      </div>
      {draft.format === 'litellm' ? (
        <Textarea
          className={classes.text ?? ''}
          label="Keys of LiteLLM (optional)"
          description="The JSON of /key/list?return_full_object=true. LiteLLM stores only hashes, so each key gets a new secret."
          autosize
          minRows={2}
          maxRows={8}
          spellCheck={false}
          value={draft.keys}
          onChange={(event) => onChange({ keys: event.currentTarget.value })}
        />
      ) : null}
      <Checkbox
        label="Keep existing rows as they are"
        checked={draft.keepsExisting}
        onChange={(event) => onChange({ keepsExisting: event.currentTarget.checked })}
      />
      <Checkbox
        label="Use the library's price for models that have none"
        checked={draft.libraryPrices}
        onChange={(event) => onChange({ libraryPrices: event.currentTarget.checked })}
      />
    </>
  )
}

function Variables({ names, draft, onChange }: PartProps & { names: readonly string[] }) {
  return (
    <>
      <Notice tone="warning">
        The file takes these values from the environment of LiteLLM. Enter them, then look at the plan.
      </Notice>
      <div className={classes.fields}>
        {names.map((name) => (
          <PasswordInput
            key={name}
            label={name}
            autoComplete="off"
            value={draft.variables[name] ?? ''}
            onChange={(event) =>
              onChange({ variables: { ...draft.variables, [name]: event.currentTarget.value } })
            }
          />
        ))}
      </div>
    </>
  )
}
