import { Button, Group, SegmentedControl, Stack, Textarea } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../api/client.ts'
import type { Editing } from '../api/editing.ts'
import { type IfMatch, isChangedMeanwhile } from '../api/tagged.ts'
import { ChangeProblem } from './change-problem.tsx'
import {
  bodyOf,
  type Field,
  faultsOf,
  type JsonObject,
  mergePatch,
  patched,
  patchOf,
  readObject,
  rebased,
  settingsOf,
  type Values,
  valuesOf,
} from './fields.ts'
import { formErrors } from './form-errors.ts'
import { SettingsField } from './settings-field.tsx'
import classes from './settings-form.module.css'

/** Settings that stand together under a heading. */
export interface FieldGroup {
  title: string
  about?: string
  fields: readonly Field[]
}

/**
 * Makes or changes a resource: fields for what is common, and JSON for everything that the API takes. `save` gets the body of a
 * new resource, or the merge patch to the one that stands, with the header for it. The errors of the answer land at their fields.
 */
export function SettingsForm({
  groups,
  editing,
  preset,
  names,
  verb,
  save,
  isBrief = false,
  onCancel,
}: {
  groups: readonly FieldGroup[]
  /** Of what stands; absent: a new one is made. */
  editing?: Editing<unknown>
  /** What a new one begins with. */
  preset?: unknown
  /** All settings that the API takes, for the JSON. */
  names: readonly string[]
  verb: string
  save(body: JsonObject, header: IfMatch): Promise<void>
  /** Only the fields: everything else keeps its default, and has its place elsewhere. */
  isBrief?: boolean
  onCancel?(): void
}) {
  const fields = groups.flatMap((group) => group.fields)
  const [began] = useState(editing?.base ?? preset ?? {})
  const stands = editing?.base ?? began
  const before = valuesOf(fields, stands)
  const settings = settingsOf(names, stands)
  const form = useForm<Values>({ initialValues: before, validate: (values) => faultsOf(fields, values) })
  const [mode, setMode] = useState<'form' | 'json'>('form')
  const [json, setJson] = useState('')
  const [jsonFault, setJsonFault] = useState<string>()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const isNew = editing === undefined

  const show = (next: 'form' | 'json') => {
    if (next === mode) return
    if (next === 'json') {
      const values = form.getValues()
      setJson(
        JSON.stringify(
          isNew ? bodyOf(fields, values) : patched(settings, patchOf(fields, before, values)),
          null,
          2,
        ),
      )
    } else {
      try {
        const written = readObject(json)
        form.setValues(valuesOf(fields, written))
      } catch (fault) {
        setJsonFault(String(fault instanceof Error ? fault.message : fault))
        return
      }
    }
    setJsonFault(undefined)
    setError(undefined)
    setMode(next)
  }
  const send = async (body: JsonObject) => {
    setBusy(true)
    setError(undefined)
    try {
      await (editing === undefined ? save(body, {}) : editing.change((header) => save(body, header)))
    } catch (cause) {
      setError(cause)
      form.setErrors(fieldErrors(cause))
    } finally {
      setBusy(false)
    }
  }
  /** Begins anew from what stands now: with what the user has typed, or without it. */
  const goOn = (keeps: boolean) => {
    const now = valuesOf(fields, editing?.now)
    const nowSettings = settingsOf(names, editing?.now)
    if (mode === 'form') {
      form.setValues(keeps ? rebased(fields, { before, now, typed: form.getValues() }) : now)
    } else {
      try {
        const own = keeps ? mergePatch(settings, readObject(json)) : {}
        setJson(JSON.stringify(patched(nowSettings, own), null, 2))
      } catch (fault) {
        setJsonFault(String(fault instanceof Error ? fault.message : fault))
        return
      }
    }
    setError(undefined)
    editing?.goOn()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    if (mode === 'form') {
      if (form.validate().hasErrors) return
      const values = form.getValues()
      void send(isNew ? bodyOf(fields, values) : patchOf(fields, before, values))
      return
    }
    try {
      const written = readObject(json)
      setJsonFault(undefined)
      void send(isNew ? written : mergePatch(settings, written))
    } catch (fault) {
      setJsonFault(String(fault instanceof Error ? fault.message : fault))
    }
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap={16}>
        {isBrief ? null : (
          <SegmentedControl
            aria-label="How to write the settings"
            size="xs"
            value={mode}
            onChange={(next) => show(next === 'json' ? 'json' : 'form')}
            data={[
              { value: 'form', label: 'Form' },
              { value: 'json', label: 'JSON' },
            ]}
          />
        )}
        {mode === 'form' ? (
          groups.map((group) => <FormGroup key={group.title} group={group} form={form} />)
        ) : (
          <Textarea
            className={classes.json ?? ''}
            label="All settings, as the API has them"
            description="Take a setting out, or write null, for its default."
            value={json}
            onChange={(event) => setJson(event.currentTarget.value)}
            autosize
            minRows={12}
            maxRows={28}
            spellCheck={false}
            error={jsonFault ?? (error instanceof ApiError ? <Faults error={error} /> : undefined)}
          />
        )}
        {isAtFields(error, mode, fields) ? null : (
          <ChangeProblem
            error={error}
            editing={editing}
            doing={verb}
            yours={mode === 'form' ? patchOf(fields, before, form.getValues()) : undefined}
            onGoOn={() => goOn(true)}
            onDrop={() => goOn(false)}
          />
        )}
        <Group justify="flex-end" gap={8}>
          {onCancel === undefined ? null : (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={isBusy}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function FormGroup({
  group: { title, about, fields },
  form,
}: {
  group: FieldGroup
  form: Pick<UseFormReturnType<Values>, 'getInputProps'>
}) {
  return (
    <fieldset className={classes.group}>
      <legend>{title}</legend>
      {about === undefined ? null : <p className={classes.about}>{about}</p>}
      {fields.map((field) => (
        <SettingsField
          key={field.path}
          field={field}
          className={field.kind === 'words' || field.kind === 'tags' ? classes.whole : undefined}
          input={form.getInputProps(field.path, field.kind === 'switch' ? { type: 'checkbox' } : {})}
        />
      ))}
    </fieldset>
  )
}

/** Whether each part of the error stands at its field already. */
function isAtFields(error: unknown, mode: 'form' | 'json', fields: readonly Field[]): boolean {
  if (mode === 'json' || isChangedMeanwhile(error)) return false
  const paths = Object.keys(fieldErrors(error))
  const known = new Set(fields.map(({ path }) => path))
  return paths.length > 0 && paths.every((path) => known.has(path))
}

function Faults({ error }: { error: ApiError }) {
  if (error.fields.length === 0) return null
  return (
    <ul className={classes.faults}>
      {error.fields.map(({ pointer, detail }) => (
        <li key={pointer}>
          <code>{pointer}</code>: {detail}
        </li>
      ))}
    </ul>
  )
}

/** An error of one name in a list, such as `scopes.0`, stands at the field of the list. */
function fieldErrors(error: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(formErrors(error)).map(([path, detail]) => [path.replace(/\.\d+$/, ''), detail]),
  )
}
