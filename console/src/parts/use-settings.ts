import { useForm } from '@mantine/form'
import { type FormEvent, useState } from 'react'
import type { Editing } from '../api/editing.ts'
import type { IfMatch } from '../api/tagged.ts'
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

interface Settings {
  fields: readonly Field[]
  /** All settings that the API takes, for the JSON. */
  names: readonly string[]
  /** Of the existing resource; absent: a new one is made. */
  editing: Editing<unknown> | undefined
  /** What a new one begins with. */
  preset: unknown
  save(body: JsonObject, header: IfMatch): Promise<void>
}

/** Settings while somebody writes them, in fields or as JSON: one of the two is the truth at a time. */
export function useSettings({ fields, names, editing, preset, save }: Settings) {
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
  /** How often something was wrong with what was sent. */
  const [failures, setFailures] = useState(0)
  const isNew = editing === undefined

  const write = (value: JsonObject) => setJson(JSON.stringify(value, null, 2))
  /** Undefined: the JSON has a fault, which is shown. */
  const read = (): JsonObject | undefined => {
    try {
      const written = readObject(json)
      setJsonFault(undefined)
      return written
    } catch (fault) {
      setJsonFault(String(fault instanceof Error ? fault.message : fault))
      return undefined
    }
  }
  const show = (next: 'form' | 'json') => {
    if (next === mode) return
    if (next === 'json') {
      const values = form.getValues()
      write(isNew ? bodyOf(fields, values) : patched(settings, patchOf(fields, before, values)))
      setJsonFault(undefined)
    } else {
      const written = read()
      if (written === undefined) return
      form.setValues(valuesOf(fields, written, before))
    }
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
      form.setErrors(fieldErrors(cause, fields))
      setFailures((before) => before + 1)
    } finally {
      setBusy(false)
    }
  }
  /** Begins anew from the current state: with what the user has typed, or without it. */
  const goOn = (keeps: boolean) => {
    if (mode === 'form') {
      const now = valuesOf(fields, editing?.now)
      form.setValues(keeps ? rebased(fields, { before, now, typed: form.getValues() }) : now)
    } else {
      const written = keeps ? read() : settings
      if (written === undefined) return
      write(patched(settingsOf(names, editing?.now), mergePatch(settings, written)))
    }
    setError(undefined)
    editing?.goOn()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    if (mode === 'form') {
      if (form.validate().hasErrors) {
        setFailures((before) => before + 1)
        return
      }
      const values = form.getValues()
      void send(isNew ? bodyOf(fields, values) : patchOf(fields, before, values))
      return
    }
    const written = read()
    if (written !== undefined) void send(isNew ? written : mergePatch(settings, written))
  }
  /** What the user wants, as the API has it. */
  const yours = () => (mode === 'form' ? patchOf(fields, before, form.getValues()) : undefined)
  return { form, mode, show, json, setJson, jsonFault, error, failures, isBusy, submit, goOn, yours }
}

/**
 * An error of one member of a list or a map, such as `scopes.0`, is at the field of the whole, with the name
 * that a map has for it.
 */
export function fieldErrors(error: unknown, fields: readonly Field[]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(formErrors(error)).map(([path, detail]) => {
      const field = fields.find((one) => path.startsWith(`${one.path}.`))
      if (field === undefined) return [path, detail]
      const member = path.slice(field.path.length + 1)
      return [field.path, /^\d+$/.test(member) ? detail : `${member}: ${detail}`]
    }),
  )
}
