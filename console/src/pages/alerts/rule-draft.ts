import { useState } from 'react'
import type { Editing } from '../../api/editing.ts'
import type { Rule } from './alerts-query.ts'
import {
  conditionOf,
  type FieldValues,
  faultsOf,
  type Kind,
  kindsFor,
  numberFault,
  valuesOf,
} from './rule-fields.ts'
import { type Format, urlFault } from './webhook-format.ts'

/** What somebody has written in the form of a rule. */
export interface RuleDraft {
  name: string
  /** Null: it watches all tenants. */
  tenant: string | null
  kind: Kind
  values: FieldValues
  seconds: number | string
  /** Of the webhook; empty: it stays as it is. */
  url: string
  format: Format
  removesWebhook: boolean
  isEnabled: boolean
}

/** The draft of a rule, and what the form does with it. */
export function useRuleDraft(editing: Editing<Rule> | undefined, isMember: boolean) {
  const [draft, setDraft] = useState(() => draftOf(editing?.base))
  const change = (part: Partial<RuleDraft>) => setDraft((before) => ({ ...before, ...part }))
  const chooseKind = (kind: Kind, isOfTenant = isMember || draft.tenant !== null) => {
    const usual = valuesOf(kind)
    change({ kind, values: isOfTenant && usual.of === 'channel' ? { ...usual, of: 'model' } : usual })
  }
  return {
    draft,
    change,
    chooseKind,
    /** A rule of one tenant cannot watch what tenants share. */
    chooseTenant(tenant: string | null) {
      const { kind, values } = draft
      change({ tenant })
      if (tenant === null) return
      if (!kindsFor(true).some((one) => one.kind === kind)) chooseKind('error_rate', true)
      else if (values.of === 'channel' || values.of === 'group') chooseKind(kind, true)
    },
    /** What the user has typed stays, or goes; all else is as it is now. */
    takeNow(keeps: boolean) {
      if (editing?.now === undefined) return
      const { base, now } = editing
      const { name, seconds, values } = draft
      const was = fieldsValues(base)
      const own = keeps ? Object.entries(values).filter(([field, value]) => value !== was[field]) : []
      change({
        ...(!keeps || name === base.name ? { name: now.name } : {}),
        ...(!keeps || seconds === base.resolve_after_seconds ? { seconds: now.resolve_after_seconds } : {}),
        ...(own.length === 0 || now.kind === base.kind
          ? { kind: now.kind, values: { ...fieldsValues(now), ...Object.fromEntries(own) } }
          : {}),
        ...(keeps ? {} : { url: '', removesWebhook: false }),
      })
    },
  }
}

/** What of a draft both a new rule and a changed one send. */
export function bodyOf({ name, kind, values, seconds, url, format, removesWebhook }: RuleDraft) {
  return {
    name: name.trim(),
    condition: conditionOf(kind, values) as unknown as Rule['condition'],
    ...(typeof seconds === 'number' ? { resolve_after_seconds: seconds } : {}),
    ...(removesWebhook
      ? { webhook: null }
      : url.trim() === ''
        ? {}
        : { webhook: { url: url.trim(), format } }),
  }
}

/** What is wrong with a draft, by the path of its field in the API, before the API is asked. */
export function draftFaults({ name, kind, values, seconds, url, removesWebhook }: RuleDraft) {
  const faults: Record<string, string> = {}
  if (name.trim() === '') faults.name = 'Name is missing.'
  for (const [field, fault] of Object.entries(faultsOf(kind, values))) faults[`condition/${field}`] = fault
  const wrongSeconds = numberFault(seconds, { most: 86_400 })
  if (wrongSeconds !== undefined) faults.resolve_after_seconds = wrongSeconds
  const wrongUrl = removesWebhook ? undefined : urlFault(url)
  if (wrongUrl !== undefined) faults['webhook/url'] = wrongUrl
  return faults
}

function draftOf(rule: Rule | undefined): RuleDraft {
  return {
    name: rule?.name ?? '',
    tenant: rule?.tenant_id ?? null,
    kind: rule?.kind ?? 'error_rate',
    values: rule === undefined ? valuesOf('error_rate') : fieldsValues(rule),
    seconds: rule?.resolve_after_seconds ?? 300,
    url: '',
    format: rule?.webhook?.format ?? 'tollgate',
    removesWebhook: false,
    isEnabled: rule?.enabled ?? true,
  }
}

function fieldsValues({ kind, condition }: Rule): FieldValues {
  return valuesOf(kind, condition as Record<string, unknown>)
}
