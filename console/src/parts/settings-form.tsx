import { Button, Group, SegmentedControl, Stack, Textarea } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useEffect, useRef, useState } from 'react'
import { ApiError } from '../api/client.ts'
import type { Editing } from '../api/editing.ts'
import { type IfMatch, isChangedMeanwhile } from '../api/tagged.ts'
import foot from './change-form.module.css'
import { ChangeProblem } from './change-problem.tsx'
import type { Field, JsonObject, Values } from './fields.ts'
import { useReportTyped } from './form-modal.tsx'
import { SettingsField } from './settings-field.tsx'
import classes from './settings-form.module.css'
import { fieldErrors, useSettings } from './use-settings.ts'

/** Settings that appear together under a heading. */
export interface FieldGroup {
  title: string
  about?: string
  fields: readonly Field[]
}

/**
 * Makes or changes a resource: fields for what is common, and JSON for everything that the API takes. `save`
 * gets the body of a new resource, or the merge patch to the existing one, with the header for it. The
 * errors of the answer land at their fields.
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
  /** Of the existing resource; absent: a new one is made. */
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
  const settings = useSettings({ fields, names, editing, preset, save })
  const { form, mode, json, jsonFault, error, failures } = settings
  const [isJsonTyped, setJsonTyped] = useState(false)
  useReportTyped(isJsonTyped || form.isDirty())
  const place = useRef<HTMLFormElement>(null)
  // A long form may hide the field that is wrong.
  useEffect(() => {
    if (failures === 0) return
    const wrong = place.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-wrong]')
    wrong?.scrollIntoView({ block: 'center' })
    wrong?.focus({ preventScroll: true })
  }, [failures])
  return (
    <form ref={place} onSubmit={settings.submit} noValidate>
      <Stack gap={16}>
        {isBrief ? null : (
          <SegmentedControl
            aria-label="How to write the settings"
            size="xs"
            value={mode}
            onChange={(next) => settings.show(next === 'json' ? 'json' : 'form')}
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
            onChange={(event) => {
              settings.setJson(event.currentTarget.value)
              setJsonTyped(true)
            }}
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
            yours={settings.yours()}
            onGoOn={() => settings.goOn(true)}
            onDrop={() => settings.goOn(false)}
          />
        )}
        <Group className={foot.foot ?? ''} justify="flex-end" gap={8}>
          {onCancel === undefined ? null : (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={settings.isBusy}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const wholeKinds: ReadonlySet<string> = new Set(['words', 'tags', 'pairs'])

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
          className={wholeKinds.has(field.kind) ? classes.whole : undefined}
          input={form.getInputProps(field.path, field.kind === 'switch' ? { type: 'checkbox' } : {})}
        />
      ))}
    </fieldset>
  )
}

/** Whether each part of the error is at its field already. */
function isAtFields(error: unknown, mode: 'form' | 'json', fields: readonly Field[]): boolean {
  if (mode === 'json' || isChangedMeanwhile(error)) return false
  const paths = Object.keys(fieldErrors(error, fields))
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
