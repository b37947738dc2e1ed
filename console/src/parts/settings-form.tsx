import { Button, Group, SegmentedControl, Stack, Textarea } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { isChangedMeanwhile } from '../api/tagged.ts'
import {
  bodyOf,
  type Field,
  faultsOf,
  type JsonObject,
  mergePatch,
  patchOf,
  readObject,
  settingsOf,
  type Values,
  valuesOf,
} from './fields.ts'
import { formErrors } from './form-errors.ts'
import { Problem } from './problem.tsx'
import { SettingsField } from './settings-field.tsx'
import classes from './settings-form.module.css'
import { Notice } from './tone.tsx'

/** Settings that stand together under a heading. */
export interface FieldGroup {
  title: string
  about?: string
  fields: readonly Field[]
}

/**
 * Makes or changes a resource: fields for what is common, and JSON for everything that the API takes. `save` gets the body of a
 * new resource, or the merge patch to the one that stands. The errors of the answer land at their fields.
 */
export function SettingsForm({
  groups,
  resource,
  preset,
  names,
  verb,
  save,
  isBrief = false,
  onCancel,
  onReload,
}: {
  groups: readonly FieldGroup[]
  /** What stands; absent: a new one is made. */
  resource?: unknown
  /** What a new one begins with. */
  preset?: unknown
  /** All settings that the API takes, for the JSON. */
  names: readonly string[]
  verb: string
  save(body: JsonObject): Promise<void>
  /** Only the fields: everything else keeps its default, and has its place elsewhere. */
  isBrief?: boolean
  onCancel?(): void
  /** Reads the resource again, after somebody else has changed it. */
  onReload?(): void
}) {
  const fields = groups.flatMap((group) => group.fields)
  const [before] = useState(() => valuesOf(fields, resource ?? preset ?? {}))
  const [settings] = useState(() => settingsOf(names, resource ?? preset ?? {}))
  const form = useForm<Values>({ initialValues: before, validate: (values) => faultsOf(fields, values) })
  const [mode, setMode] = useState<'form' | 'json'>('form')
  const [json, setJson] = useState('')
  const [jsonFault, setJsonFault] = useState<string>()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const isNew = resource === undefined

  const show = (next: 'form' | 'json') => {
    if (next === mode) return
    if (next === 'json') {
      const values = form.getValues()
      setJson(
        JSON.stringify(
          isNew ? bodyOf(fields, values) : merged(settings, patchOf(fields, before, values)),
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
      await save(body)
    } catch (cause) {
      setError(cause)
      form.setErrors(fieldErrors(cause))
    } finally {
      setBusy(false)
    }
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
        <FormProblem
          error={error}
          verb={verb}
          isAtFields={mode === 'form'}
          onReload={onReload}
          fields={fields}
        />
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

/** What stands at no field: the answer as a whole, or that somebody else was quicker. */
function FormProblem({
  error,
  verb,
  isAtFields,
  fields,
  onReload,
}: {
  error: unknown
  verb: string
  isAtFields: boolean
  fields: readonly Field[]
  onReload: (() => void) | undefined
}) {
  if (error === undefined) return null
  if (isChangedMeanwhile(error)) {
    return (
      <Notice
        tone="warning"
        action={
          onReload === undefined ? undefined : (
            <Button variant="default" onClick={onReload}>
              Read it again
            </Button>
          )
        }
      >
        Somebody else has changed this since you opened it. Nothing was saved. Read it again, and then make
        your change.
      </Notice>
    )
  }
  const paths = Object.keys(fieldErrors(error))
  const known = new Set(fields.map(({ path }) => path))
  if (isAtFields && paths.length > 0 && paths.every((path) => known.has(path))) return null
  return <Problem error={error} doing={verb} />
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

/** A merge patch put upon what stands. */
function merged(settings: JsonObject, patch: JsonObject): JsonObject {
  const result: JsonObject = { ...settings }
  for (const [name, value] of Object.entries(patch)) {
    const former = result[name]
    result[name] = isMap(former) && isMap(value) ? merged(former, value) : value
  }
  return result
}

function isMap(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
